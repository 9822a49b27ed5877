"""What readers see: sharper pictures, values in their places as they will be sealed, the text of a page."""

import io
from dataclasses import replace

import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name
from PIL import Image, ImageChops

from esign.core.document.document import PageGeometry
from esign.core.errors import Problem
from esign.pdf.drawing import filled_page, overlay, typst_template
from esign.pdf.page import page_text, render
from esign.pdf.seal.assemble import assemble_file
from esign.pdf.seal_order import Typesetting
from tests.pdf.made import blank, write_pdf
from tests.pdf.sealing import SCRIPTS, a_field, a_pdf, an_order, every_type
from tests.pki import NOW

A4 = PageGeometry(595, 842, 0)
POSTER = PageGeometry(4000, 3000, 0)


def open_picture(webp: bytes) -> Image.Image:
    return Image.open(io.BytesIO(webp))


# ---------- pictures ----------


@pytest.mark.parametrize("size", [2, 3])
def test_a_sharper_picture_has_so_many_times_the_dots(size: int) -> None:
    first = open_picture(render.render_page(a_pdf(), 1, A4, 1))
    fine = open_picture(render.render_page(a_pdf(), 1, A4, size))
    assert fine.size == pytest.approx((first.width * size, first.height * size), abs=size)
    assert darkest(fine.reduce(size)) < 128  # the line is on it


def test_a_sharper_picture_of_a_poster_stays_small_enough_for_a_phone() -> None:
    poster = write_pdf(blank(size=(4000, 3000)))
    fine = open_picture(render.render_page(poster, 1, POSTER, 3))
    assert fine.width * fine.height <= 12_010_000
    assert fine.width > open_picture(render.render_page(poster, 1, POSTER, 1)).width


def test_a_page_that_is_not_as_it_was_is_not_drawn() -> None:
    with pytest.raises(Problem):
        render.render_page(a_pdf(), 1, replace(A4, width=600), 2)


@pytest.mark.parametrize(
    ("size", "pixels"),
    [
        ((612, 792), (935, 1210)),
        ((30, 30), (800, 800)),
        ((60, 3), (800, 40)),
        ((14_400, 14_400), (2000, 2000)),
        ((14_400, 288), (8000, 160)),
    ],
)
def test_a_picture_is_readable_and_not_too_large(size: tuple[float, float], pixels: tuple[int, int]) -> None:
    picture = render.render_page(write_pdf(blank(content=b"", size=size)), 1, PageGeometry(*size, 0), 1)
    assert open_picture(picture).size == pytest.approx(pixels, abs=1)


def test_each_page_has_its_own_picture() -> None:
    pdf = blank(pages=3)
    pdf.pages[1].obj.Contents = pdf.make_stream(b"1 0 0 rg 0 0 300 200 re f")
    file, page = write_pdf(pdf), PageGeometry(300, 200, 0)
    seen = [open_picture(render.render_page(file, n, page, 1)).convert("RGB") for n in (1, 2, 3)]
    assert [one.getpixel((100, 400)) for one in seen] == [(0, 0, 255), (255, 0, 0), (0, 0, 255)]


def test_a_photograph_is_compressed_as_one() -> None:
    pdf = blank(content=b"300 0 0 200 0 0 cm /I Do", size=(300, 200))
    noise = bytes((x * x * 7 + x * 13) % 256 for x in range(300 * 200 * 3))
    image = pdf.make_stream(noise, Subtype=Name.Image, Width=300, Height=200, BitsPerComponent=8)
    image.ColorSpace = Name.DeviceRGB
    pdf.pages[0].obj.Resources = Dictionary(XObject=Dictionary(I=image))
    page = PageGeometry(300, 200, 0)
    photograph = render.render_page(write_pdf(pdf), 1, page, 1)
    drawing = render.render_page(write_pdf(blank()), 1, page, 1)
    assert open_picture(photograph).format == "JPEG"
    assert open_picture(drawing).format == "WEBP"


# ---------- filled in ----------


@pytest.mark.parametrize("size", [1, 2])
def test_what_is_filled_in_looks_as_it_will_be_sealed(size: int) -> None:
    fields, pdf = every_type(), a_pdf()
    page = open_picture(render.render_page(pdf, 1, A4, size)).convert("RGBA")
    over = open_picture(filled_page.draw_filled_page(fields, A4, size, Typesetting(NOW)))
    assert over.size == page.size and over.mode == "RGBA"
    shown = Image.alpha_composite(page, over).convert("L")
    order = an_order(pdf, *fields)
    sealed = assemble_file(order, typst_template.draw_template(order.certificate, "certificate", NOW), None)
    wanted = open_picture(render.render_page(sealed.pdf, 1, A4, size)).convert("L")
    assert differs(shown, wanted, 4 * size) < 24
    assert differs(ImageChops.offset(shown, shown.width // 100, 0), wanted, 4 * size) > 80


def differs(one: Image.Image, other: Image.Image, block: int) -> int:
    """The greatest difference between blocks of so many dots."""
    return 255 - darkest(ImageChops.invert(ImageChops.difference(one.reduce(block), other.reduce(block))))


def darkest(image: Image.Image) -> int:
    grey = image.convert("L").getextrema()[0]
    assert isinstance(grey, int)
    return grey


def test_only_the_page_s_own_place_counts() -> None:
    first = filled_page.draw_filled_page([a_field("text", "Oak", page=1)], A4, 1, Typesetting(NOW))
    assert filled_page.draw_filled_page([a_field("text", "Oak", page=7)], A4, 1, Typesetting(NOW)) == first


# ---------- text ----------


def lines(pdf: bytes, number: int = 1) -> list[str]:
    return [paragraph.text for paragraph in page_text.read_paragraphs(pdf, number)]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_the_text_of_a_page_is_read_whatever_way_it_lies(rotation: int) -> None:
    [paragraph] = page_text.read_paragraphs(a_pdf({"Rotate": rotation}), 1)
    assert paragraph.text == "A line of the contract"
    from_above = {0: 93, 90: 10, 180: 7, 270: 70}[rotation]
    assert paragraph.top == pytest.approx(from_above, abs=9)


def test_lines_that_follow_closely_are_one_paragraph_and_items_of_a_list_are_their_own() -> None:
    rows = ("The first line", "and the second.", "1. An item", "that goes on", "2. Another")
    content = "BT /F1 12 Tf 14 TL 20 180 Td " + " ".join(f"({row}) Tj T*" for row in rows)
    content += " 0 -30 Td (Far below) Tj ET"
    assert lines(write_pdf(blank(content=content.encode()))) == [
        "The first line and the second.",
        "1. An item that goes on",
        "2. Another",
        "Far below",
    ]


def test_what_the_page_does_not_show_is_not_read() -> None:
    pdf = a_pdf(
        {"CropBox": [0, 0, 595, 842]}, {"CropBox": [0, 200, 595, 842]}, {"CropBox": [200, 0, 595, 842]}
    )
    assert [lines(pdf, n) for n in (1, 2)] == [["A line of the contract"], []]
    assert lines(pdf, 3) == []


def test_a_picture_has_no_text() -> None:
    assert page_text.read_paragraphs(write_pdf(blank()), 1) == ()


@pytest.mark.parametrize("script", ["Latin", "Greek", "Arabic", "Hebrew"])
def test_each_script_is_read_in_the_order_of_speaking(script: str) -> None:
    drawn = filled_pdf(SCRIPTS[script])
    assert lines(drawn) == [SCRIPTS[script]]


def filled_pdf(words: str) -> bytes:
    """A page on which the words are set as the seal sets them."""
    field = a_field("text", words, width=80)
    return overlay.draw_overlay([field], [(595, 842)], Typesetting(NOW))[0]


def test_a_page_of_endless_text_ends() -> None:
    pdf = blank(content=b"BT /F1 1 Tf 1 TL 5 190 Td " + b"(xxxxxxxxxxxxxxxxxxx) Tj " * 20_000 + b"ET")
    pdf.pages[0].obj.MediaBox = Array([0, 0, 14_000, 200])
    assert sum(map(len, lines(write_pdf(pdf)))) <= page_text.MOST + 1000


def test_a_damaged_page_is_refused() -> None:
    with pytest.raises((Problem, pypdfium2.PdfiumError)):
        page_text.read_paragraphs(b"%PDF-1.7\n", 1)
