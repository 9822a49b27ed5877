"""Every type of field on pages of every shape: in its box, as it was seen, and to be copied out again.

One seal for all of them: each page has its boxes, its rotation and its unit, and is held against the same values drawn
on a plain page of the size that is seen.
"""

import base64
import io
import itertools
import os
import subprocess
from pathlib import Path
from typing import Any

import pikepdf
import pypdfium2
import pytest
from pikepdf import Array
from PIL import Image, ImageChops, ImageStat

from esign.pdf.drawing import overlay
from esign.pdf.drawing.signature_picture import reencode_signature
from esign.pdf.page import page_properties as pages
from esign.pdf.seal_order import DrawnField, Typesetting
from esign.pdf.worker.workers import Workers
from tests.pdf.local_seal import seal_document
from tests.pdf.sealing import (
    SCRIPTS,
    a_field,
    a_pdf,
    a_picture,
    an_order,
    every_type,
    save_pdf,
    text_of,
    words,
)
from tests.pki import NOW, a_seal, an_authority

CREDENTIAL = a_seal(an_authority()).credential
SCALE = 2
BOXES: dict[str, tuple[list[float], list[float] | None]] = {
    "plain": ([0, 0, 300, 400], None),
    "offset": ([100, 50, 400, 450], None),
    "negative": ([-150, -100, 150, 300], None),
    "cropped": ([-20, -20, 400, 500], [10, 30, 310, 430]),
    "crop over the edge": ([0, 0, 300, 400], [40, 20, 900, 900]),
    "corners swapped": ([400, 500, 0, 0], [350, 480, 10, 30]),
}
SHAPES = list(itertools.product(BOXES, (0, 90, 180, 270), (1, 2.5)))
VALUES = (
    "20 Nov 2026",
    "Jo Li",
    "jo@example.com",
    "Ring twice.",
    "Then wait.",
    "1250.50",
    "By card",
    "In cash",
)


def shape_pages() -> bytes:
    with pikepdf.open(io.BytesIO(a_pdf(*[{}] * len(SHAPES), words=""))) as pdf:
        for page, (boxes, rotate, unit) in zip(pdf.pages, SHAPES, strict=True):
            media, crop = BOXES[boxes]
            page.obj.MediaBox, page.obj.Rotate, page.obj.UserUnit = Array(media), rotate, unit
            if crop:
                page.obj.CropBox = Array(crop)
        return save_pdf(pdf)


def fields_of(number: int) -> list[DrawnField]:
    return [
        *every_type(number),
        a_field("checkbox", False, id="fld_empty", page=number, x=60, width=5, height=4),
    ]


@pytest.fixture(scope="module")
def prepared() -> bytes:
    return shape_pages()


@pytest.fixture(scope="module")
def sealed(prepared: bytes) -> bytes:
    fields = [field for number in range(1, len(SHAPES) + 1) for field in fields_of(number)]
    return seal_document(an_order(prepared, *fields), CREDENTIAL).sealed


def pictures(pdf: bytes, count: int) -> list[Image.Image]:
    document = pypdfium2.PdfDocument(pdf)
    try:
        return [document[n].render(scale=SCALE).to_pil().convert("L") for n in range(count)]
    finally:
        document.close()


def box(field: DrawnField, image: Image.Image, rim: int = 0) -> tuple[int, int, int, int]:
    """In pixels, with the rim that a line on its edge may reach into."""
    across, down = image.width / 100, image.height / 100
    return (
        int(field.x * across) - rim,
        int(field.y * down) - rim,
        round((field.x + field.width) * across) + rim,
        round((field.y + field.height) * down) + rim,
    )


def test_every_type_is_drawn_in_its_box_as_on_a_plain_page(prepared: bytes, sealed: bytes) -> None:
    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        sizes = [pages.read_visible_area(page) for page in pdf.pages]
    plain, numbers = overlay.draw_overlay(
        [field for number in range(1, len(sizes) + 1) for field in fields_of(number)],
        [(size.width, size.height) for size in sizes],
        Typesetting(NOW),
    )
    assert numbers == list(range(1, len(sizes) + 1))
    wrong = []
    for shape, was, now in zip(
        SHAPES, pictures(plain, len(sizes)), pictures(sealed, len(sizes)), strict=True
    ):
        assert was.size == now.size, shape
        for field in fields_of(1):
            place = box(field, now)
            off = ImageStat.Stat(ImageChops.difference(was.crop(place), now.crop(place))).mean[0]
            ink = 255 - ImageStat.Stat(now.crop(place)).mean[0]
            if not (ink > 1 and off < 0.2 * ink):
                wrong.append((shape, field.id, round(off, 2), round(ink, 2)))
    assert wrong == []


def test_nothing_is_drawn_outside_the_boxes(sealed: bytes) -> None:
    for shape, page in zip(SHAPES, pictures(sealed, len(SHAPES)), strict=True):
        for field in fields_of(1):
            page.paste(255, box(field, page, rim=2))
        assert ImageChops.invert(page).point(lambda level: 255 if level > 40 else 0).getbbox() is None, shape


def test_the_values_are_text_on_each_page_however_it_lies(sealed: bytes) -> None:
    document = pypdfium2.PdfDocument(sealed)
    for number, shape in enumerate(SHAPES):
        text = words(document[number].get_textpage().get_text_bounded())
        assert [value for value in VALUES if words(value) not in text] == [], shape
    document.close()


@pytest.fixture(scope="module")
def scripts() -> bytes:
    """A page for each script, each turned another way; the same name filled in, and typed as a signature."""
    turns = itertools.cycle((0, 90, 180, 270))
    prepared = a_pdf(*[{"Rotate": next(turns)} for _ in SCRIPTS], words="")
    fields: list[DrawnField] = []
    for number, name in enumerate(SCRIPTS.values(), 1):
        typed: dict[str, Any] = {"kind": "typed", "text": name, "hand": None}
        fields += [
            a_field("text", name, id=f"fld_t{number}", page=number, width=60),
            a_field("signature", id=f"fld_s{number}", page=number, y=40, width=60, **typed),
        ]
    return seal_document(an_order(prepared, *fields), CREDENTIAL).sealed


def test_text_of_every_script_is_copied_back_out_of_the_sealed_file(scripts: bytes) -> None:
    for number, (script, name) in enumerate(SCRIPTS.items(), 1):
        assert words(text_of(scripts, number)) == words(name) * 2, script


def images_of(pdf: bytes, folder: Path) -> list[list[str]]:
    """Rows of poppler's table: page, number, kind, width, height, colour …, resolution across and down."""
    (folder / "sealed.pdf").write_bytes(pdf)
    table = subprocess.run(
        ["pdfimages", "-list", folder / "sealed.pdf"], capture_output=True, text=True, check=True
    ).stdout
    return [line.split() for line in table.splitlines()[2:]]


def test_a_drawn_signature_keeps_every_dot_and_its_clear_ground(tmp_path: Path) -> None:
    """The largest picture that is kept, in a box of the usual size: 25 by 6 percent of A4."""
    small, large = io.BytesIO(base64.b64decode(a_picture()["base64"])), io.BytesIO()
    Image.open(small).resize((1200, 400)).save(large, "PNG")
    encoded = base64.b64encode(large.getvalue()).decode()
    picture = {"type": "png", "width": 1200, "height": 400, "base64": encoded}
    field = a_field("signature", kind="drawn", picture=picture, width=25, height=6)
    dark = saved_on_grey()
    sealed = seal_document(an_order(dark, field), CREDENTIAL).sealed
    rows = [row for row in images_of(sealed, tmp_path) if row[0] == "1"]
    assert {row[2] for row in rows} == {"image", "smask"}
    assert all(row[3:5] == ["1200", "400"] and min(int(row[12]), int(row[13])) >= 300 for row in rows)
    ground = pictures(sealed, 1)[0]
    assert ground.getpixel(box(field, ground)[:2]) == pytest.approx(128, abs=2), "the page is seen through it"


async def test_a_photo_of_a_signature_can_stand_in_many_places(workers: Workers, tmp_path: Path) -> None:
    """Every dot of another colour, as large as pictures are kept: nothing that a worker is given is larger."""
    photo = io.BytesIO()
    Image.frombytes("RGB", (1200, 400), os.urandom(1200 * 400 * 3)).save(photo, "PNG")
    kept = reencode_signature(photo.getvalue())
    encoded = base64.b64encode(kept.png).decode()
    picture = {"type": "png", "width": kept.width, "height": kept.height, "base64": encoded}
    places = [
        a_field("signature", kind="uploaded", picture=picture, y=7 * n, id=f"fld_{n}") for n in range(14)
    ]
    made = await workers.seal(an_order(a_pdf(), *places), CREDENTIAL)
    drawn = [row for row in images_of(made.sealed, tmp_path) if row[0] == "1" and row[2] == "image"]
    assert len(drawn) == len(places) and len(made.sealed) < 2 * len(kept.png), "the file holds it once"


def saved_on_grey() -> bytes:
    with pikepdf.open(io.BytesIO(a_pdf())) as pdf:
        pdf.pages[0].obj.Contents = pdf.make_stream(b"0.5 g 0 0 595 842 re f")
        return save_pdf(pdf)


def test_a_typed_signature_is_letters_and_no_picture(scripts: bytes, tmp_path: Path) -> None:
    assert [row for row in images_of(scripts, tmp_path) if int(row[0]) <= len(SCRIPTS)] == []
