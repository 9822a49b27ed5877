import io
from typing import Any

import pytest
from PIL import Image, ImageDraw

from esign.core.errors import Problem
from esign.pdf.drawing import signature_picture
from esign.pdf.drawing.signature_picture import reencode_signature


def a_drawing(
    mode: str = "RGBA", ground: Any = (0, 0, 0, 0), size: tuple[int, int] = (600, 200)
) -> Image.Image:
    image = Image.new(mode, size, ground)
    ImageDraw.Draw(image).line([(100, 150), (300, 50), (400, 120)], fill="black", width=6)
    return image


def file_of(image: Image.Image, format: str = "PNG", **how: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, format, **how)
    return target.getvalue()


def pixels(png: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(png))
    image.load()
    return image


@pytest.mark.parametrize(
    "file",
    [
        file_of(a_drawing()),
        file_of(a_drawing("RGB", "white"), "JPEG"),
        file_of(a_drawing(), "WEBP"),
        file_of(a_drawing("L", 255)),
        file_of(a_drawing("RGB", "white").convert("P")),
        file_of(a_drawing("CMYK", (0, 0, 0, 0)), "JPEG"),
    ],
    ids=["PNG", "JPEG", "WebP", "grey", "palette", "CMYK"],
)
def test_every_kind_taken_becomes_a_png_cut_to_its_ink(file: bytes) -> None:
    made = reencode_signature(file)
    image = pixels(made.png)
    assert (image.format, image.mode, image.size) == ("PNG", "RGBA", (made.width, made.height))
    assert 300 <= made.width <= 330
    assert 100 <= made.height <= 125


def test_transparency_stays() -> None:
    image = pixels(reencode_signature(file_of(a_drawing())).png)
    assert image.getchannel("A").getextrema() == (0, 255)


def test_nothing_of_the_senders_file_but_its_pixels_survives() -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    secret = file_of(
        a_drawing("RGB", "white"), "JPEG", exif=exif, comment=b"secret remark", icc_profile=b"profile"
    )
    assert b"secret" in secret
    image = pixels(reencode_signature(secret).png)
    assert image.info == {}
    assert not any(word in reencode_signature(secret).png for word in (b"secret", b"home", b"profile"))


def test_a_photo_is_turned_as_its_camera_meant_it() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    made = reencode_signature(file_of(a_drawing("RGB", "white"), "JPEG", exif=exif))
    assert made.height > made.width


def test_large_pictures_are_bounded_and_keep_their_ratio() -> None:
    image = Image.new("RGB", (4000, 3000), "white")
    ImageDraw.Draw(image).rectangle([100, 100, 3900, 2900], outline="black", width=40)
    made = reencode_signature(file_of(image))
    assert made.width <= 1200
    assert made.height <= 400
    assert made.width / made.height == pytest.approx(3801 / 2801, rel=0.02)


@pytest.mark.parametrize(
    "image",
    [
        Image.new("RGBA", (300, 100), (0, 0, 0, 0)),
        Image.new("RGB", (300, 100), "white"),
        Image.new("RGBA", (300, 100), (255, 255, 255, 255)),
        a_drawing().point(lambda level: 255 if level else 0).convert("RGBA").resize((1, 1)),
    ],
    ids=["transparent", "white", "opaque white", "one pixel of nothing"],
)
def test_a_blank_picture_is_refused(image: Image.Image) -> None:
    with pytest.raises(Problem, match="The picture is blank") as problem:
        reencode_signature(file_of(image))
    assert problem.value.code == "invalid_request"


def test_white_ink_counts_as_nothing() -> None:
    image = Image.new("RGBA", (300, 100), (0, 0, 0, 0))
    ImageDraw.Draw(image).line([(10, 10), (290, 90)], fill="white", width=6)
    with pytest.raises(Problem, match="The picture is blank"):
        reencode_signature(file_of(image))


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"not an image",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        file_of(a_drawing("RGB", "white"), "GIF"),
        file_of(a_drawing("RGB", "white"), "BMP"),
        file_of(a_drawing("RGB", "white"), "TIFF"),
        file_of(a_drawing())[:200],
        b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
    ],
    ids=["empty", "text", "SVG", "GIF", "BMP", "TIFF", "cut off", "header only"],
)
def test_anything_else_is_refused_with_a_sentence(file: bytes) -> None:
    with pytest.raises(Problem) as problem:
        reencode_signature(file)
    assert problem.value.code == "invalid_request"
    assert problem.value.message.endswith(".")


@pytest.mark.parametrize("side", [10_000, 20_000])
def test_a_picture_of_too_many_pixels_is_refused_before_it_is_unpacked(side: int) -> None:
    bomb = file_of(Image.new("1", (side, side), 1))
    assert len(bomb) < 200_000
    with pytest.raises(Problem, match="too many pixels"):
        reencode_signature(bomb)
    assert side * side > signature_picture.MAX_PIXELS
