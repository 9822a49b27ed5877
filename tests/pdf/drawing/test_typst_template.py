import io
import json
from typing import Any

import pikepdf
import pytest

from esign.core.document import text_fit
from esign.core.document.document import FieldType
from esign.core.language import LANGUAGES
from esign.pdf.drawing import overlay, typst_template
from esign.pdf.drawing.typst_template import TextOverflow
from esign.pdf.seal_order import DrawnField, SealFailed, Typesetting
from tests.pdf.sealing import SCRIPTS, a_field, a_recipient, every_type, image_of, text_of, the_facts, words
from tests.pki import NOW

A4 = (595.0, 842.0)


def draw_box(*fields: DrawnField, size: tuple[float, float] = A4) -> bytes:
    return overlay.draw_overlay(fields, [size], Typesetting(NOW))[0]


def pages_of(pdf: bytes) -> int:
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        return len(opened.pages)


# ---------- the certificate ----------


@pytest.mark.parametrize("script", SCRIPTS)
def test_names_and_titles_in_each_script_can_be_copied_out_of_the_certificate(script: str) -> None:
    name = SCRIPTS[script]
    facts = the_facts(a_recipient(name))
    facts["document"]["title"] = f"{name} 2027"
    text = words(text_of(typst_template.draw_template(facts, "certificate", NOW)))
    assert words(name) in text


def test_the_certificate_says_who_what_and_by_which_hashes() -> None:
    text = text_of(typst_template.draw_template(the_facts(), "certificate", NOW))
    assert "12121212 12121212" in text
    assert "34343434 34343434" in text
    for said in (
        "Supply agreement 2027",
        "amelie@example.org",
        "203.0.113.7",
        "2026-11-20 10:21:01 +01:00",
        "abababab",
    ):
        assert said in text


def test_one_recipient_fits_on_one_page() -> None:
    assert pages_of(typst_template.draw_template(the_facts(), "certificate", NOW)) == 1


def test_fifty_recipients_are_all_there() -> None:
    people = [a_recipient(f"Person Number {n}") for n in range(50)]
    text = text_of(typst_template.draw_template(the_facts(*people), "certificate", NOW))
    assert all(f"Person Number {n}" in text for n in range(50))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_every_word(lang: str) -> None:
    def shape(words: Any) -> Any:
        return {key: shape(value) for key, value in words.items()} if isinstance(words, dict) else None

    assert shape(typst_template.load_labels(lang)) == shape(typst_template.load_labels("en"))
    assert typst_template.draw_template(the_facts(lang=lang), "certificate", NOW).startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("lang", "chosen"), [("de-AT", "de"), ("pt-BR", "pt"), ("ko", "en"), ("", "en"), ("../labels/de", "en")]
)
def test_a_language_without_words_of_its_own_takes_the_nearest(lang: str, chosen: str) -> None:
    assert typst_template.load_labels(lang)["lang"] == chosen
    text = text_of(typst_template.draw_template(the_facts(lang=lang), "certificate", NOW))
    assert typst_template.load_labels(chosen)["title"] in text


def test_the_code_links_to_the_address_where_the_document_is_verified() -> None:
    with pikepdf.open(io.BytesIO(typst_template.draw_template(the_facts(), "certificate", NOW))) as pdf:
        links = [str(note.A.URI) for note in pdf.pages[0].obj.get("/Annots", [])]
    assert links == ["https://sign.example.org/verify/doc_1"]


def test_a_character_without_a_font_stops_the_certificate_instead_of_printing_a_box() -> None:
    with pytest.raises(SealFailed, match=r"certificate page can’t be drawn.*山"):
        typst_template.draw_template(the_facts(a_recipient("山")), "certificate", NOW)


def test_the_same_facts_give_the_same_file() -> None:
    assert typst_template.draw_template(the_facts(), "certificate", NOW) == typst_template.draw_template(
        the_facts(), "certificate", NOW
    )


def test_the_certificate_of_test_mode_says_that_it_has_no_effect() -> None:
    assert "TEST – no legal effect" in text_of(
        typst_template.draw_template(the_facts(mode="test"), "certificate", NOW)
    )


# ---------- values ----------


def test_the_sample_holds_every_type_of_the_contract() -> None:
    assert {field.type for field in every_type()} == {str(kind) for kind in FieldType}


def test_the_values_of_every_type_stand_on_the_page() -> None:
    text = text_of(draw_box(*every_type()))
    for value in (
        "20 Nov 2026",
        "Jo Li",
        "jo@example.com",
        "Ring twice.",
        "Then wait.",
        "1250.50",
        "By card",
        "In cash",
    ):
        assert value in text


@pytest.mark.parametrize("field", every_type(), ids=lambda field: field.type)
def test_each_type_leaves_ink_in_its_box_and_nowhere_else(field: DrawnField) -> None:
    image = image_of(draw_box(field)).convert("L")
    left, top = field.x * 5.95, field.y * 8.42
    right, bottom = left + field.width * 5.95, top + field.height * 8.42
    ink = image.point(lambda level: 255 if level < 250 else 0).getbbox()
    assert ink is not None
    assert left - 2 <= ink[0] and top - 2 <= ink[1] and ink[2] <= right + 2 and ink[3] <= bottom + 2


@pytest.mark.parametrize(
    ("format", "shown"),
    [
        ("YYYY-MM-DD", "2026-03-07"),
        ("DD/MM/YYYY", "07/03/2026"),
        ("MM/DD/YYYY", "03/07/2026"),
        ("D MMM YYYY", "7 Mar 2026"),
    ],
)
def test_a_date_is_written_as_its_field_asks(format: str, shown: str) -> None:
    assert text_of(draw_box(a_field("date", "2026-03-07", options={"format": format}))).strip() == shown


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_value_in_each_script_can_be_copied_out_of_the_page(script: str) -> None:
    assert words(text_of(draw_box(a_field("text", SCRIPTS[script])))) == words(SCRIPTS[script])


def test_a_box_not_ticked_is_an_empty_frame() -> None:
    ticked, empty = (
        image_of(draw_box(a_field("checkbox", value)), scale=3).convert("L") for value in (True, False)
    )
    dark = [sum(1 for level in image.tobytes() if level < 128) for image in (ticked, empty)]
    assert dark[0] > dark[1] > 0


def test_a_choice_not_made_shows_its_options_unmarked() -> None:
    options: dict[str, Any] = {"options": {"options": ["Yes", "No"]}}
    assert text_of(draw_box(a_field("radio", None, **options))).split() == ["Yes", "No"]
    assert image_of(draw_box(a_field("radio", None, **options))) != image_of(
        draw_box(a_field("radio", "No", **options))
    )


@pytest.mark.parametrize(
    "value",
    [
        '#eval("1") *b* $x^2$ <a> \\u{41} @ref // no',
        "= Heading",
        "- item",
        "`raw`",
        "\\",
        '"))) #panic("out of the string")',
        '\\"))) #panic("out of the string")',
        '\\\\")',
    ],
)
def test_values_are_never_markup(value: str) -> None:
    assert words(text_of(draw_box(a_field("text", value, width=90)))) == words(value)


def test_many_facts_are_drawn_as_few_are() -> None:
    facts = {"text": 'Ada "\\" #panic()', "hand": "a", "cjk": {}, "numbers": text_fit.NUMBERS}
    padded = facts | {"padding": "x" * typst_template.LARGE}
    few, many = (
        typst_template.compile_template("letters", each, (), format="svg") for each in (facts, padded)
    )
    assert few == many
    assert typst_template.compile_template("letters", facts | {"text": "Bo"}, (), format="svg") != few


def test_alignment_moves_a_value_to_the_side_asked_for() -> None:
    def left_of(align: str) -> int:
        ink = (
            image_of(draw_box(a_field("text", "x", align=align)))
            .convert("L")
            .point(lambda level: 255 if level < 200 else 0)
        )
        box = ink.getbbox()
        assert box
        return int(box[0])

    assert left_of("left") < left_of("center") < left_of("right")


def test_fields_without_a_value_leave_their_page_out() -> None:
    pdf, numbers = overlay.draw_overlay([a_field("text", "x", page=3)], [A4] * 4, Typesetting(NOW))
    assert numbers == [3]
    assert pages_of(pdf) == 1


# ---------- what does not fit ----------


def test_a_text_that_does_not_fit_is_reported_by_its_field() -> None:
    tight: dict[str, Any] = {"width": 5, "height": 1}
    fits, too_long = (
        a_field("text", "ok", id="fld_a"),
        a_field("text", "far too long for this " * 9, id="fld_b", **tight),
    )
    with pytest.raises(TextOverflow) as overflow:
        draw_box(fits, too_long)
    assert overflow.value.fields == ("fld_b",)
    assert overlay.find_unfit_texts([fits, too_long], [A4], NOW) == ("fld_b",)
    assert overlay.find_unfit_texts([fits], [A4], NOW) == ()


@pytest.mark.parametrize(
    "field",
    [
        a_field("name", "Wolfeschlegelsteinhausenbergerdorff von Hohenlohe " * 4, width=8, height=1),
        a_field("email", "a" * 64 + "@" + "b" * 60 + ".example.com", width=8, height=1),
        a_field("dropdown", "a choice that says a lot " * 8, width=8, height=1),
        a_field(
            "radio",
            "n" * 200,
            width=10,
            height=4,
            options={"options": [f"Option {n}" for n in range(49)] + ["n" * 200]},
        ),
        a_field("date", "2026-03-07", width=1, height=0.3),
        a_field("signature", kind="typed", text="A very long name indeed " * 8, hand="b", width=4, height=1),
    ],
    ids=lambda field: field.type,
)
def test_what_cannot_be_said_shorter_shrinks_until_it_fits_and_is_never_cut(field: DrawnField) -> None:
    pdf = draw_box(field)
    assert "…" not in text_of(pdf)
    assert words(field.text or str(field.value).replace("2026-03-07", "")) in words(text_of(pdf))


@pytest.mark.parametrize(
    "size", [(60, 9.4), (3, 3), (150, 150), (3370, 2384), (14_400, 14_400), (14_400, 288)]
)
def test_fields_of_the_default_sizes_fit_on_pages_of_any_size(size: tuple[float, float]) -> None:
    defaults = {"name": 25, "email": 25, "text": 25, "date": 15, "number": 15, "dropdown": 25}
    values = {"date": "2026-03-07", "number": "12.50", "email": "jo@example.com"}
    fields = [
        a_field(kind, values.get(kind, "Jo Li"), width=width, height=3, y=10 * row)
        for row, (kind, width) in enumerate(defaults.items())
    ]
    assert overlay.find_unfit_texts(fields, [size], NOW) == ()


def test_a_typed_signature_needs_no_hand() -> None:
    bare = {"kind": "typed", "text": "Jo Li", "hand": None}
    assert "Jo Li" in text_of(draw_box(a_field("signature", **bare)))
    facts = the_facts(a_recipient("Ana", signature=bare, ip=None, device=None))
    assert "Jo Li" in text_of(typst_template.draw_template(facts, "certificate", NOW))


def test_json_facts_survive_as_they_are() -> None:
    facts = json.loads(json.dumps(the_facts()))
    assert typst_template.draw_template(facts, "certificate", NOW) == typst_template.draw_template(
        the_facts(), "certificate", NOW
    )
