"""What files ask to be filled in: fields of forms and marks in text, where they are seen."""

import io
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from pikepdf import Dictionary, Name, Pdf, Stream, String

from esign.pdf.fields import text_marks
from esign.pdf.fields.detect_fields import find_fields
from esign.pdf.inspection import DetectedField, DetectedFields, UnusableField
from esign.pdf.intake.inspect import UploadLimits, inspect_upload
from esign.pdf.worker.workers import Workers
from tests.manifest import rows
from tests.pdf.forms import A4, mark_page, turn_pages, with_form
from tests.pdf.made import blank, plain, write_pdf

LIMITS = UploadLimits(25 * 2**20, 500)
REQUIRED, READ_ONLY, MULTILINE, PASSWORD = 1 << 1, 1 << 0, 1 << 12, 1 << 13
RADIO, PUSH, COMBO, SEVERAL = 1 << 15, 1 << 16, 1 << 17, 1 << 21
WIDE, HIGH = A4


def detect_upload(upload: bytes) -> DetectedFields:
    return find_fields(upload, inspect_upload(upload, LIMITS).prepared)


def one(upload: bytes) -> DetectedField:
    fields = detect_upload(upload)
    assert fields.unused == () and len(fields.fields) == 1, fields
    return fields.fields[0]


def find_refusal(upload: bytes) -> UnusableField:
    fields = detect_upload(upload)
    assert fields.fields == () and len(fields.unused) == 1, fields
    return fields.unused[0]


def box(blank: DetectedField) -> tuple[float, float, float, float]:
    return blank.x, blank.y, blank.width, blank.height


# ---------- forms ----------


@pytest.mark.parametrize(
    ("entries", "type_", "options"),
    [
        ({"FT": "/Tx"}, "text", {}),
        ({"FT": "/Tx", "Ff": MULTILINE, "MaxLen": 80}, "text", {"multiline": True, "maxLength": 80}),
        ({"FT": "/Tx", "MaxLen": 5000}, "text", {}),
        ({"FT": "/Btn"}, "checkbox", {}),
        ({"FT": "/Btn", "Ff": RADIO}, "checkbox", {"group": "a", "maxChecked": 1}),
        (
            {"FT": "/Btn", "Ff": RADIO | REQUIRED},
            "checkbox",
            {"group": "a", "maxChecked": 1, "minChecked": 1},
        ),
        ({"FT": "/Ch", "Ff": COMBO, "Opt": ["Red", "Blue", "Red"]}, "dropdown", {"options": ["Red", "Blue"]}),
        ({"FT": "/Ch", "Opt": [["r", "Red"], ["b", "Blue"]]}, "dropdown", {"options": ["Red", "Blue"]}),
        ({"FT": "/Sig"}, "signature", {}),
    ],
)
def test_each_type_of_a_form_is_one_of_ours(
    entries: dict[str, Any], type_: str, options: dict[str, Any]
) -> None:
    made = one(with_form({"T": "a", **entries}))
    assert (made.type, made.options, made.marked, made.person) == (type_, options, False, None)
    assert box(made) == pytest.approx(
        (100 / WIDE * 100, 122 / HIGH * 100, 200 / WIDE * 100, 20 / HIGH * 100), abs=0.01
    )


@pytest.mark.parametrize(
    ("script", "type_"), [("AFNumber_Keystroke(2)", "number"), ("AFDate_FormatEx('d')", "date")]
)
def test_what_a_script_formats_is_a_number_or_a_date_to_choose(script: str, type_: str) -> None:
    action = Dictionary(S=Name.JavaScript, JS=String(script))
    made = one(with_form({"FT": "/Tx", "T": "a", "AA": Dictionary(K=action)}))
    assert made.type == type_
    assert type_ == "number" or made.options == {"autofill": False}


@pytest.mark.parametrize(("padding", "type_"), [(1, "number"), (2**24, "text")])
def test_a_script_in_a_stream_is_read_unless_it_is_packed_to_unfold_to_anything(
    padding: int, type_: str
) -> None:
    with Pdf.open(io.BytesIO(with_form({"FT": "/Tx", "T": "a"}))) as pdf:
        script = Stream(pdf, b"AFNumber_Keystroke(2);" + b" " * padding)
        pdf.pages[0].obj.Annots[0].AA = Dictionary(K=Dictionary(S=Name.JavaScript, JS=script))
        assert one(write_pdf(pdf)).type == type_


def test_the_name_is_the_key_and_the_hint_the_label() -> None:
    made = one(with_form({"FT": "/Tx", "T": "person.city", "TU": "City\nor town", "Ff": REQUIRED, "Q": 2}))
    assert (made.key, made.label, made.required, made.align) == ("person.city", "City or town", True, "right")
    assert one(with_form({"FT": "/Tx", "T": "Vor- und Nachname"})).key is None
    twice = detect_upload(with_form({"FT": "/Tx", "T": "a"}, {"FT": "/Tx", "T": "a", "Rect": (1, 1, 90, 20)}))
    assert [field.key for field in twice.fields] == ["a", None]
    assert one(with_form({"FT": "/Tx", "T": "a", "DA": String("/Helv 11 Tf 0 g")})).font_size == 11
    assert one(with_form({"FT": "/Tx", "T": "a", "DA": String("/Helv 0 Tf")})).font_size is None


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"FT": "/Tx", "F": 2}, "hidden"),
        ({"FT": "/Tx", "Ff": READ_ONLY}, "makes it read-only"),
        ({"FT": "/Tx", "V": "Ada"}, "already has a value"),
        ({"FT": "/Tx", "Ff": PASSWORD}, "password"),
        ({"FT": "/Btn", "V": "/Yes", "AS": "/Yes"}, "already has a value"),
        ({"FT": "/Ch"}, "It has no options"),
        ({"FT": "/Ch", "Ff": SEVERAL, "Opt": ["a", "b"]}, "Several options"),
        ({"FT": "/Tx", "Rect": (700, 100, 800, 120)}, "outside"),
        ({"FT": "/Tx", "Rect": (100, 100, 100, 100)}, "outside"),
    ],
)
def test_what_cannot_be_used_says_why(entries: dict[str, Any], reason: str) -> None:
    unused = find_refusal(with_form({"T": "a", **entries}))
    assert (unused.page, unused.name) == (1, "a") and reason in unused.reason


def test_buttons_that_run_scripts_are_no_fields() -> None:
    assert detect_upload(with_form({"FT": "/Btn", "Ff": PUSH, "T": "print"})) == DetectedFields((), ())


def test_a_form_that_goes_round_in_circles_ends() -> None:
    with Pdf.open(io.BytesIO(with_form({"FT": "/Tx", "T": "a"}))) as pdf:
        node = pdf.pages[0].obj.Annots[0]
        del node.FT
        node.Parent = node
        assert find_fields(write_pdf(pdf), plain()) == DetectedFields((), ())


def test_a_widget_that_the_form_does_not_list_is_a_field() -> None:
    with Pdf.open(io.BytesIO(with_form({"FT": "/Tx", "T": "a"}))) as pdf:
        del pdf.Root.AcroForm
        with pytest.warns(Warning, match="not reachable from /AcroForm"):
            upload = write_pdf(pdf)
    (field,) = find_fields(upload, plain()).fields
    assert (field.type, field.key) == ("text", "a")


# ---------- marks ----------


def test_a_mark_becomes_a_field_that_stands_on_its_line() -> None:
    made = one(mark_page((100, 400, "{{signature:2}}")))
    assert (made.type, made.person, made.marked, made.label, made.options) == ("signature", 2, True, None, {})
    assert (made.width, made.height) == (25, 6)
    assert made.x == pytest.approx(100 / WIDE * 100, abs=0.2)
    assert made.y + made.height == pytest.approx((HIGH - 400) / HIGH * 100, abs=0.5)


@pytest.mark.parametrize(
    ("text", "type_", "person", "label", "options"),
    [
        ("{{date}}", "date", 1, None, {}),
        ("{{ Initials : 3 }}", "initials", 3, None, {}),
        ("{{text:1:Purchase order}}", "text", 1, "Purchase order", {}),
        ("{{text::Colour}}", "text", 1, "Colour", {}),
        ("{{sign:1}}", "signature", 1, None, {}),
        ("{{choice:1:Yes|No}}", "radio", 1, None, {"options": ["Yes", "No"]}),
        ("{{list:2:Red|Blue|Red}}", "dropdown", 2, None, {"options": ["Red", "Blue"]}),
        ("{{checkbox:1}}", "checkbox", 1, None, {}),
    ],
)
def test_marks_name_type_person_and_label(
    text: str, type_: str, person: int, label: str | None, options: dict[str, Any]
) -> None:
    made = one(mark_page((100, 400, text)))
    assert (made.type, made.person, made.label, made.options) == (type_, person, label, options)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("{{client}}", "doesn’t exist"), ("{{radio:1}}", "no options"), ("{{1:signature}}", "doesn’t exist")],
)
def test_a_mark_that_means_nothing_is_named(text: str, reason: str) -> None:
    unused = find_refusal(mark_page((100, 400, text)))
    assert unused.name == text and reason in unused.reason


def test_a_text_that_only_looks_like_a_mark_is_none() -> None:
    assert detect_upload(
        mark_page((100, 400, "{ signature } {{}} {{"), (100, 300, "}} signature:1"))
    ) == DetectedFields((), ())


def test_a_field_at_the_edge_stays_on_the_page() -> None:
    for made in detect_upload(mark_page((560, 838, "{{signature}}"), (2, 1, "{{initials}}"))).fields:
        assert made.x >= 0 and made.x + made.width <= 100 and made.y >= 0 and made.y + made.height <= 100


def test_a_page_full_of_marks_gives_as_many_as_a_document_takes() -> None:
    content = b"BT /F1 2 Tf 2 TL 1 840 Td " + b"({{date}}{{date}}{{date}}) Tj T* " * 400 + b"ET"
    assert len(detect_upload(write_pdf(blank(content=content, size=A4))).fields) == 500


# ---------- pages as they are seen ----------

SEEN = [(0, None), (90, None), (180, None), (270, None), (0, (50, 100, 550, 800)), (90, (50, 100, 550, 800))]


@pytest.mark.parametrize(("rotate", "crop"), SEEN)
def test_places_are_those_that_one_sees(rotate: int, crop: tuple[float, ...] | None) -> None:
    rect = (120, 300, 320, 340)
    file = with_form({"FT": "/Tx", "T": "a", "Rect": rect}, rotate=rotate, crop=crop)
    made = one(file)
    seen = find_painted_place(rect, rotate, crop)
    assert box(made) == pytest.approx(seen, abs=0.1)


def find_painted_place(
    rect: tuple[float, ...], rotate: int, crop: tuple[float, ...] | None
) -> tuple[float, ...]:
    """Where a rectangle that is painted there is seen, in percent: the picture of the page is asked."""
    x0, y0, x1, y1 = rect
    pdf = turn_pages(blank(content=b"%f %f %f %f re f" % (x0, y0, x1 - x0, y1 - y0), size=A4), rotate, crop)
    document = pypdfium2.PdfDocument(write_pdf(pdf))
    image = document[0].render(scale=4).to_pil().convert("L").point([255] * 128 + [0] * 128)
    left, top, right, bottom = image.getbbox()
    document.close()
    width, height = image.size
    return left / width * 100, top / height * 100, (right - left) / width * 100, (bottom - top) / height * 100


@pytest.mark.parametrize(("rotate", "crop"), SEEN)
def test_a_mark_is_found_where_its_letters_are_seen(rotate: int, crop: tuple[float, ...] | None) -> None:
    file = mark_page((200, 400, "{{text}}"), rotate=rotate, crop=crop)
    document = pypdfium2.PdfDocument(file)
    page = document[0]
    text = page.get_textpage()
    place = text_marks.measure_mark(page, text, "{{text}}", 0, 8)
    image = page.render(scale=4).to_pil().convert("L").point([255] * 200 + [0] * 56)
    left, top, right, bottom = image.getbbox()
    width, height = image.size
    assert place == pytest.approx(
        (left / width * 100, top / height * 100, right / width * 100, bottom / height * 100), abs=0.3
    )
    text.close()
    document.close()


# ---------- in the worker, and files of the world ----------


async def test_the_worker_reads_them_and_a_form_comes_with_its_marks() -> None:
    workers = Workers(size=1)
    try:
        upload = with_form({"FT": "/Sig", "T": "s"})
        assert await workers.find_fields(upload, inspect_upload(upload, LIMITS).prepared) == detect_upload(
            upload
        )
        assert await workers.find_fields(b"%PDF-1.4 nothing", plain()) == DetectedFields((), ())
    finally:
        await workers.close()


@pytest.mark.corpus
def test_forms_of_the_corpus(corpus: Path) -> None:
    by_name = {row["file"]: (corpus / row["file"]).read_bytes() for row in rows(corpus)}

    def kinds(start: str) -> list[str]:
        [file] = [content for name, content in by_name.items() if name.startswith(start)]
        return [field.type for field in detect_upload(file).fields]

    assert kinds("16-") == ["text", "text", "checkbox", "dropdown"]
    assert kinds("17-") == ["text"] * 5 + ["signature"]
    assert kinds("18-") == ["dropdown"] * 2
    assert kinds("20-") == ["text", "text", "text", "checkbox", "checkbox", "dropdown", "dropdown"]
    assert kinds("24-") == ["text"] * 6, "only its owner's password restricts it"
