import hashlib
import io

import pytest
from PIL import Image, ImageDraw

from esign.core.errors import Problem
from esign.pdf.drawing.logo import BLANK, LEAST, MOST, NEITHER, redraw_logo
from esign.pdf.inspection import NARROW_LOGO
from tests.logos import TEAL, a_logo, draw_logo, file_of


def open_picture(png: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(png))
    image.load()
    return image


@pytest.mark.parametrize(
    "file",
    [
        a_logo(),
        file_of(draw_logo(ground="white").convert("RGB"), "JPEG", quality=95),
        file_of(draw_logo(ground="white").convert("P")),
        file_of(draw_logo(ground="white").convert("CMYK"), "JPEG", quality=95),
    ],
    ids=["clear PNG", "JPEG", "palette", "CMYK"],
)
def test_a_logo_becomes_a_small_opaque_png_cut_to_its_edges(file: bytes) -> None:
    made = redraw_logo(file)
    image = open_picture(made.png)
    assert (image.format, image.size) == ("PNG", (made.width, made.height))
    assert made.width == pytest.approx(640, abs=3) and made.height == pytest.approx(155, abs=3)
    assert image.mode == "RGB" and image.getpixel((0, 0)) == pytest.approx((255, 255, 255), abs=4)
    assert image.getpixel((80, 80)) == pytest.approx(TEAL, abs=12)


def test_a_small_logo_is_not_made_larger() -> None:
    made = redraw_logo(file_of(draw_logo().resize((90, 22))))
    assert made.height <= 22


def test_nothing_of_the_senders_file_but_its_pixels_survives() -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    image = draw_logo(ground="white").convert("RGB")
    secret = file_of(image, "JPEG", exif=exif, comment=b"secret remark", icc_profile=b"profile")
    assert b"secret" in secret
    made = redraw_logo(secret).png
    assert open_picture(made).info == {} and not any(
        word in made for word in (b"secret", b"home", b"profile")
    )


@pytest.mark.parametrize("size", [(640, 160), (300, 300)])
def test_what_cannot_be_packed_well_is_still_small(size: tuple[int, int]) -> None:
    noise = Image.frombytes("RGB", size, hashlib.shake_128(b"noise").digest(size[0] * size[1] * 3))
    made = redraw_logo(file_of(noise))
    assert len(made.png) <= MOST and made.width / made.height == pytest.approx(size[0] / size[1], rel=0.02)


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>",
        file_of(draw_logo(), "WEBP"),
        file_of(draw_logo().convert("P"), "GIF"),
        b"%PDF-1.7",
    ],
    ids=["nothing", "SVG", "SVG as XML", "WebP", "GIF", "PDF"],
)
def test_everything_else_is_refused_with_what_to_do(file: bytes) -> None:
    with pytest.raises(Problem) as problem:
        redraw_logo(file)
    assert (problem.value.code, problem.value.message) == ("invalid_request", NEITHER)


def test_a_damaged_picture_and_one_of_too_many_pixels_are_refused() -> None:
    for file, said in (
        (a_logo()[:300], "damaged"),
        (file_of(Image.new("1", (10_000, 10_000))), "too many pixels"),
    ):
        with pytest.raises(Problem, match=said):
            redraw_logo(file)


def test_what_is_not_seen_on_white_is_refused() -> None:
    white = Image.new("RGBA", (400, 100), (0, 0, 0, 0))
    ImageDraw.Draw(white).rectangle([20, 20, 380, 80], fill="white")
    for image in (white, Image.new("RGB", (400, 100), "white")):
        with pytest.raises(Problem) as problem:
            redraw_logo(file_of(image))
        assert problem.value.message == BLANK


@pytest.mark.parametrize("size", [(15, 15), (4000, 60), (12, 400)])
def test_what_could_not_be_read_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(Problem) as problem:
        redraw_logo(file_of(Image.new("RGB", size, TEAL)))
    assert problem.value.message == NARROW_LOGO.format(pixels=LEAST)
