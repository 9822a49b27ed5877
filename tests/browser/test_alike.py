"""The comparison of pictures itself: what it lets pass, and what it must not."""

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

import esign
from tests.browser import alike

FONTS = Path(esign.__file__).parent / "pdf" / "fonts"
PAGE = (1344, 1900)  # dots
PART = (1100, 300)  # of the page, with the words at AT
AT = (300, 120)
WORDS = ("Maria Delgado", "maria.delgado@brightwater.example", "9 Mar 2027", "1234.50")


def write_words(
    words: str, font: str = "NotoSans-Regular", size: float = 27, at: tuple[float, float] = AT
) -> alike.Ink:
    bare = Image.new("RGB", PART, "white")
    page = bare.copy()
    ImageDraw.Draw(page).text(at, words, "#14181f", ImageFont.truetype(FONTS / f"{font}.ttf", size))
    return alike.ink(bare, page)


def holds(one: alike.Ink, other: alike.Ink) -> bool:
    return alike.likeness(one, other, PAGE).holds


@pytest.mark.parametrize("words", WORDS)
def test_the_same_letters_at_the_same_place_are_alike(words: str) -> None:
    assert holds(write_words(words), write_words(words))
    assert holds(write_words(words), write_words(words, at=(AT[0] + 1, AT[1] + 1)))


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("font", ["NotoSans-Bold", "NotoSansMono-Regular", "EsignHandA", "EsignHandC"])
def test_another_font_is_seen(words: str, font: str) -> None:
    assert not holds(write_words(words), write_words(words, font))
    assert not holds(write_words(words, font), write_words(words))


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("size", [27 * 0.95, 27 * 1.05])
def test_another_size_is_seen(words: str, size: float) -> None:
    assert not holds(write_words(words), write_words(words, size=size))


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("moved", [(-13.44, 0), (13.44, 0), (0, -19), (0, 19)])
def test_another_place_is_seen(words: str, moved: tuple[float, float]) -> None:
    assert not holds(write_words(words), write_words(words, at=(AT[0] + moved[0], AT[1] + moved[1])))


def test_nothing_is_like_nothing_else() -> None:
    empty = alike.ink(Image.new("RGB", PART), Image.new("RGB", PART))
    assert not holds(empty, write_words("Maria"))
    assert not holds(write_words("Maria"), empty)
    assert not holds(empty, empty)
