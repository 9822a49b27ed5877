"""Logos as organisations send them."""

import io
from typing import Any

from PIL import Image, ImageDraw

TEAL = (15, 107, 120)


def draw_logo(width: int = 900, height: int = 220, ground: Any = (0, 0, 0, 0)) -> Image.Image:
    """A disc and, where there is room, three bars, with empty edges around."""
    image = Image.new("RGBA", (width, height), ground)
    pen = ImageDraw.Draw(image)
    pen.ellipse([10, 10, min(width, height) - 10, height - 10], fill=TEAL)
    for n in range(3) if width > 2 * height else ():
        pen.rectangle([height + 20, 40 + n * 60, width - 60, 70 + n * 60], fill=(27, 35, 48))
    return image


def file_of(image: Image.Image, format: str = "PNG", **how: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, format, **how)
    return target.getvalue()


def a_logo(width: int = 900, height: int = 220) -> bytes:
    return file_of(draw_logo(width, height))
