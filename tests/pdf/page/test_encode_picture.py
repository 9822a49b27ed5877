"""The picture of a page is encoded as suits what is on it, and looks like what was drawn."""

import io

import pytest
from PIL import Image, ImageChops, ImageDraw

from esign.pdf.page.encode_picture import GREYS, encode_picture

SIZE = (301, 200)  # an odd width: the last byte of a row holds one pixel


def draw_text(colour: tuple[int, int, int] = (0, 0, 0)) -> Image.Image:
    """A white page with a few words, whose edges are grey."""
    page = Image.new("RGB", SIZE, "white")
    ImageDraw.Draw(page).text((20, 60), "Read and signed", fill=colour, font_size=28)
    return page


def draw_noise(kind: str) -> Image.Image:
    noise = [Image.effect_noise(SIZE, 90) for _ in range(3)]
    return Image.merge("RGB", noise if kind == "colour" else [noise[0]] * 3)


def decode(picture: Image.Image) -> tuple[str, Image.Image]:
    found = Image.open(io.BytesIO(encode_picture(picture)))
    return str(found.format), found.convert("RGB")


def difference(one: Image.Image, other: Image.Image) -> int:
    return max(level for low, level in ImageChops.difference(one, other).getextrema())  # type: ignore[misc]


def test_a_page_of_black_text_is_a_png_of_a_few_greys() -> None:
    page = draw_text()
    kind, shown = decode(page)
    assert kind == "PNG" and shown.size == page.size
    assert difference(page, shown) <= 255 / (GREYS - 1) / 2 + 1
    assert shown.getextrema() == ((0, 255),) * 3
    assert len(shown.getcolors() or ()) <= GREYS


def test_black_as_printers_mix_it_counts_as_grey() -> None:
    assert decode(draw_text((35, 31, 32)))[0] == "PNG"


@pytest.mark.parametrize("colour", [(255, 0, 0), (0, 0, 120), (40, 31, 20)])
def test_a_page_with_colour_keeps_it(colour: tuple[int, int, int]) -> None:
    page = draw_text(colour)
    kind, shown = decode(page)
    assert kind == "WEBP"
    assert difference(page, shown) <= 5


def test_one_dot_of_colour_is_colour() -> None:
    page = draw_text()
    page.putpixel((300, 199), (0, 0, 255))
    assert decode(page)[1].getpixel((300, 199)) == (0, 0, 255)


@pytest.mark.parametrize("kind", ["grey", "colour"])
def test_a_photograph_is_a_jpeg(kind: str) -> None:
    assert decode(draw_noise(kind))[0] == "JPEG"


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (1, 50), (8000, 1)])
def test_any_size_is_encoded(size: tuple[int, int]) -> None:
    for colour in ("white", "black", "red"):
        page = Image.new("RGB", size, colour)
        shown = decode(page)[1]
        assert shown.size == size and difference(page, shown) <= 5
