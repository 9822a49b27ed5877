"""What a field replaces is taken off the pages, and nothing else moves."""

import pypdfium2
import pytest
import typst

from esign.pdf.fields.blank_fields import blank_fields
from esign.pdf.fields.detect_fields import find_fields
from esign.pdf.inspection import UploadLimits
from esign.pdf.intake.inspect import inspect_upload
from tests.pdf.forms import A4, mark_page, turn_pages, with_form
from tests.pdf.made import blank, write_pdf

LIMITS = UploadLimits(25 * 2**20, 500)
COMBO = 1 << 17

TYPESET = """
Office flow: {{signature:1}} and then Ünder.

AV{{text:2:Room number}}Wo {{tick:1}}

#rotate(10deg)[x {{date:1}} y]

{{radio:1:Ja|Nein}} *bold {{sign:2}} x* {{date:7}} {{stamp}}
"""


def read_text(file: bytes) -> str:
    document = pypdfium2.PdfDocument(file)
    try:
        return " ".join(" ".join(page.get_textpage().get_text_range() for page in document).split())
    finally:
        document.close()


def take_off(upload: bytes, people: int = 2) -> tuple[bytes, bytes]:
    """The file before and after."""
    prepared = inspect_upload(upload, LIMITS).prepared
    return prepared, blank_fields(upload, prepared, LIMITS, people)


def test_marks_disappear_and_all_else_stays() -> None:
    before, after = take_off(typst.compile(TYPESET.encode()))
    assert "{{signature:1}}" in read_text(before)
    assert read_text(after) == "Office flow: and then Ünder. AV Wo x y bold x {{date:7}} {{stamp}}", (
        "a mark that becomes no field stays"
    )
    assert find_places(after, "nder") == pytest.approx(find_places(before, "nder"), abs=0.01)
    assert find_places(after, "Wo") == pytest.approx(find_places(before, "Wo"), abs=0.01)


def find_places(file: bytes, word: str) -> tuple[float, ...]:
    document = pypdfium2.PdfDocument(file)
    try:
        text = document[0].get_textpage()
        found = text.search(word).get_next()
        assert found is not None
        return tuple(text.get_charbox(found[0]))
    finally:
        document.close()


@pytest.mark.parametrize(
    "content",
    [
        b"BT /F1 12 Tf 60 700 Td (Sign: {{signature:1}}) Tj ET",
        b"BT /F1 12 Tf 60 700 Td [(Sign: {{sig) -3 (nature) 20 (:1}})] TJ ET",
        b"BT /F1 12 Tf 60 700 Td (Sign: {{signa) Tj (ture:1}}) Tj ET",
        b"BT /F1 12 Tf 14 TL 60 700 Td (Sign:) Tj ({{signature:1}}) ' ET",
        b'BT /F1 12 Tf 14 TL 60 700 Td (Sign:) Tj 1 2 ({{signature:1}}) " ET',
    ],
)
def test_every_operator_that_shows_text_is_understood(content: bytes) -> None:
    _, after = take_off(write_pdf(blank(content=content, size=A4)))
    assert read_text(after) == "Sign:"


def test_a_page_on_which_something_would_move_stays_as_it_was() -> None:
    moving = mark_page((60, 700, "Sign {{signature:1}} here"))  # Helvetica without widths
    before, after = take_off(moving)
    assert after == before
    both = write_pdf(blank(2, b"BT /F1 12 Tf 60 700 Td ({{date:1}}) Tj ET", A4))
    assert read_text(take_off(both)[1]) == ""


def test_a_file_without_marks_is_the_same() -> None:
    before, after = take_off(mark_page((60, 700, "Nothing {{date:3}}")))
    assert after == before


@pytest.mark.parametrize("rotate", [0, 90])
def test_a_dropdown_keeps_its_value_as_a_default_and_the_page_is_blank_there(rotate: int) -> None:
    form = {"FT": "/Ch", "T": "c", "Ff": COMBO, "Opt": [["r", "Red"], ["b", "Blue"]], "V": "b"}
    upload = with_form(
        form, {"FT": "/Tx", "T": "t", "V": "Typed", "Rect": (100, 500, 300, 520)}, rotate=rotate
    )
    before, after = take_off(upload)
    [field] = find_fields(upload, before).fields
    assert (field.type, field.options) == ("dropdown", {"options": ["Red", "Blue"], "value": "Blue"})
    assert "Typed" in read_text(before)
    assert read_text(after) == "Typed"


def test_a_value_that_is_no_option_is_part_of_the_page() -> None:
    upload = with_form({"FT": "/Ch", "T": "c", "Ff": COMBO, "Opt": ["Red"], "V": "Green"})
    before, after = take_off(upload)
    found = find_fields(upload, before)
    assert found.fields == () and "already has a value" in found.unused[0].reason
    assert after == before


def test_turned_pages_are_read_as_well() -> None:
    upload = write_pdf(
        turn_pages(blank(content=b"BT /F1 12 Tf 60 700 Td ({{date:1}}) Tj ET", size=A4), 90, None)
    )
    assert read_text(take_off(upload)[1]) == ""
