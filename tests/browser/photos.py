"""Pictures of signatures as people take them, and files that are none."""

import io
from typing import Any

from PIL import Image, ImageDraw, ImageFilter

ORIENTATION = 0x0112


def signature(size: tuple[int, int], ink: str = "#1d2c6b") -> Image.Image:
    """A flourish on paper that lies in the shade on one side, as a photograph has it."""
    width, height = size
    shade = Image.linear_gradient("L").rotate(90).resize(size).point(lambda level: 150 + level * 90 // 255)
    photo = Image.merge("RGB", [shade, shade.point(lambda v: v - 6), shade.point(lambda v: v - 18)])
    pen, thick = ImageDraw.Draw(photo), max(3, width // 120)
    points = [(0.3, 0.55), (0.36, 0.4), (0.38, 0.6), (0.46, 0.45), (0.48, 0.58), (0.6, 0.44), (0.7, 0.56)]
    pen.line([(x * width, y * height) for x, y in points], fill=ink, width=thick, joint="curve")
    return photo.filter(ImageFilter.GaussianBlur(thick / 8)) if width < 2000 else photo


def jpeg(photo: Image.Image, orientation: int = 1, **more: Any) -> bytes:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    exif[0x010E] = "taken at home"
    out = io.BytesIO()
    photo.save(out, "JPEG", quality=88, exif=exif, **more)
    return out.getvalue()


def png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def file(name: str, kind: str, content: bytes) -> Any:
    """As Playwright puts it into a control."""
    return {"name": name, "mimeType": kind, "buffer": content}


def unusable() -> dict[str, tuple[Any, str]]:
    """File and sentence, by what is wrong with it."""
    heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(400)
    return {
        "text": (
            file("notes.jpg", "image/jpeg", b"My signature: Jonas"),
            "We can’t read this picture",
        ),
        "empty file": (file("a.png", "image/png", b""), "We can’t read this picture"),
        "HEIC": (file("IMG_1.HEIC", "image/heic", heic), "can’t read HEIC pictures"),
        "white": (
            file("a.png", "image/png", png(Image.new("RGB", (800, 500), "white"))),
            "We can’t see anything",
        ),
        "clear": (
            file("a.png", "image/png", png(Image.new("RGBA", (800, 500), (0, 0, 0, 0)))),
            "We can’t see anything",
        ),
        "dark": (file("a.jpg", "image/jpeg", jpeg(noise())), "can’t tell the ink from the paper"),
        "giant": (
            file("a.png", "image/png", png(Image.new("1", (20_000, 20_000), 1))),
            "This picture is too large",
        ),
    }


def noise() -> Image.Image:
    """No signature at all: dark and light everywhere."""
    return Image.effect_noise((600, 400), 200).convert("RGB")
