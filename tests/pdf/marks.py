"""Overlays that show where they land."""

import io
from math import ceil, floor

import pypdfium2
import pytest
from pikepdf import Pdf
from PIL import Image, ImageChops

from esign.pdf.drawing.stamp_pages import stamp_overlays
from tests.pdf.made import blank, write_pdf

SCALE = 2


def picture(file: bytes, page: int = 0) -> Image.Image:
    document = pypdfium2.PdfDocument(file)
    drawn: Image.Image = document[page].render(scale=SCALE, may_draw_forms=False).to_pil().convert("RGB")
    document.close()
    return drawn


def overlay(width: float, height: float, right: float, down: float, size: float = 20) -> bytes:
    """A page of that size with a magenta square, its top left corner seen there."""
    mark = b"1 0 1 rg %f %f %f %f re f" % (right, height - down - size, size, size)
    return write_pdf(blank(content=mark, size=(width, height)))


def mark(image: Image.Image) -> tuple[int, int, int, int] | None:
    """The box around what is magenta, in pixels."""
    red, green, blue = image.split()
    return ImageChops.multiply(ImageChops.multiply(red, blue), ImageChops.invert(green)).getbbox()


def stamp_pages(file: bytes, drawing: bytes, numbers: tuple[int, ...] = (1,)) -> bytes:
    with Pdf.open(io.BytesIO(file)) as pdf:
        stamp_overlays(pdf, dict.fromkeys(numbers, (drawing, 0)))
        return write_pdf(pdf)


def assert_marked(before: bytes, after: bytes, right: float, down: float, size: float = 20) -> None:
    """A magenta square there, within a pixel; everything else as it was."""
    was, now = picture(before), picture(after)
    changed = ImageChops.difference(was, now).getbbox()
    corners = (right * SCALE, down * SCALE), ((right + size) * SCALE, (down + size) * SCALE)
    expected = (*map(floor, corners[0]), *map(ceil, corners[1]))
    assert changed == pytest.approx(expected, abs=1)
    middle = int((right + size / 2) * SCALE), int((down + size / 2) * SCALE)
    assert now.getpixel(middle) == (255, 0, 255)
