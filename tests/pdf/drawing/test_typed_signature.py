"""A typed signature before it is sealed, next to the sealed one."""

import io
from typing import Any

import pypdfium2
import pytest
from PIL import Image, ImageChops

from esign.core.document.document import FieldType
from esign.core.document.field_types import FIELD_TYPES
from esign.core.document.text_fit import NUMBERS
from esign.pdf.drawing import overlay
from esign.pdf.drawing.typed_signature import draw_letters
from esign.pdf.seal_order import DrawnField, Typesetting

NOW = 1_795_000_000_000
NAMES = [("Jonas Weber", "a"), ("Łukasz Žižka", "b"), ("Ольга", "c"), ("محمد علي", None), ("अनुराधा", None)]


@pytest.mark.parametrize(("text", "hand"), NAMES)
def test_it_is_as_wide_as_the_seal_draws_it_at_its_largest(text: str, hand: str | None) -> None:
    drawn = draw_letters(text, hand, "en")
    assert drawn.svg.startswith(b"<svg") and drawn.missing == ()
    width, height = 500.0, 200.0
    field = DrawnField("f", "signature", 1, 0, 0, 100, 100, kind="typed", text=text, hand=hand)
    pdf, _ = overlay.draw_overlay([field], [(width, height)], Typesetting(NOW))
    left, _, right, bottom = draw_sealed_page(pdf).getbbox() or (0, 0, 0, 0)
    face = hand or "plain"
    around = NUMBERS["hand" if hand else "plain"] * (NUMBERS[f"before_{face}"] + NUMBERS[f"after_{face}"]) * 4
    assert right - left <= drawn.width * 4 <= right - left + around + 60
    assert bottom / 4 <= height * 0.97


LONG = "María del Carmen Fernández-Villaverde y Ortiz de Zárate, Countess of Montalbán and Alcalá"
ONE_WORD = "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwarengewissenhaftschaferswessenschafe"
ARABIC = "محمد عبد الله بن عبد الرحمن بن إبراهيم الأنصاري القرطبي الأندلسي"


@pytest.mark.parametrize("hand", ["a", "b", "c", None])
@pytest.mark.parametrize("text", [LONG, ONE_WORD, ARABIC])
def test_a_long_name_can_still_be_read_in_a_field_of_the_default_size(text: str, hand: str | None) -> None:
    kind = FIELD_TYPES[FieldType.SIGNATURE]
    field = DrawnField(
        "f", "signature", 1, 10, 10, kind.width, kind.height, kind="typed", text=text, hand=hand
    )
    pdf, _ = overlay.draw_overlay([field], [(595, 842)], Typesetting(NOW))
    assert find_height(pdf) >= 8


def test_a_name_is_broken_between_words_into_lines_of_about_the_same_length() -> None:
    field = DrawnField("f", "signature", 1, 0, 0, 100, 100, kind="typed", text=LONG, hand="c")
    pdf, _ = overlay.draw_overlay([field], [(500.0, 200.0)], Typesetting(NOW))
    assert [line.strip() for line in read_text(pdf).splitlines()] == [
        "María del Carmen Fernández-Villaverde",
        "y Ortiz de Zárate, Countess of",
        "Montalbán and Alcalá",
    ]


def open_page(pdf: bytes) -> Any:
    document: Any = pypdfium2.PdfDocument(io.BytesIO(pdf))
    return document[0].get_textpage()


def read_text(pdf: bytes) -> str:
    text: str = open_page(pdf).get_text_range()
    return text


def find_height(pdf: bytes) -> float:
    """The height in points of the first letter's line, from what reaches up to what reaches down."""
    _, bottom, _, top = open_page(pdf).get_charbox(0, loose=True)
    return float(top - bottom)


def draw_sealed_page(pdf: bytes) -> Image.Image:
    """What is not white, at four dots a point."""
    document: Any = pypdfium2.PdfDocument(io.BytesIO(pdf))
    page = document[0].render(scale=4).to_pil().convert("L")
    document.close()
    return ImageChops.invert(page)


def test_letters_without_a_font_are_named_and_nothing_is_drawn() -> None:
    drawn = draw_letters("Ada 𐀀 કિ", None, None)
    assert (drawn.svg, drawn.width) == (b"", 0)
    assert set(drawn.missing) == {"𐀀", "ક", "િ"}


def test_a_hand_without_the_letters_gives_way_to_the_plain_face() -> None:
    assert draw_letters("Ελένη", "a", "el") == draw_letters("Ελένη", None, "el")


def test_what_looks_like_markup_is_only_letters() -> None:
    drawn = draw_letters('<script>#panic()"</script> $x$', None, "en")
    assert b"<script" not in drawn.svg
