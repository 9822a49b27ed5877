"""Overlays land where they are seen, and the page below them looks as before."""

import io

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Pdf

from esign.pdf.drawing.stamp_pages import append_pages, stamp_overlays
from esign.pdf.page import page_properties as pages
from tests.pdf.made import SQUARE, blank, write_pdf
from tests.pdf.marks import SCALE, assert_marked, mark, overlay, picture, stamp_pages

BOXES = {
    "plain": ([0, 0, 300, 200], None),
    "offset": ([100, 50, 400, 250], None),
    "negative": ([-150, -100, 150, 100], None),
    "cropped": ([-20, -20, 400, 400], [10, 30, 250, 180]),
    "crop over the edge": ([0, 0, 300, 200], [40, 40, 900, 900]),
    "corners swapped": ([300, 200, 0, 0], [250, 180, 10, 30]),
    "no media box": (None, None),
    "empty crop box": ([0, 0, 300, 200], [5, 5, 5, 5]),
}


@pytest.mark.parametrize("rotate", [0, 90, 180, 270, -90, 450, 45])
@pytest.mark.parametrize("boxes", BOXES)
def test_a_mark_is_seen_where_it_was_drawn(boxes: str, rotate: int) -> None:
    media, crop = BOXES[boxes]
    pdf = blank(content=b"0 0 0 rg -500 -500 600 620 re f")
    page = pdf.pages[0]
    for key, box in (("/MediaBox", media), ("/CropBox", crop)):
        if box:
            page.obj[key] = Array(box)
        elif key in page.obj:
            del page.obj[key]
    page.obj.Rotate = rotate
    seen = pages.read_visible_area(page)
    before = write_pdf(pdf)
    assert picture(before).size == pytest.approx((seen.width * SCALE, seen.height * SCALE), abs=1)
    after = stamp_pages(before, overlay(seen.width, seen.height, 31, 17))
    assert_marked(before, after, 31, 17)


def test_the_boxes_and_the_rotation_may_be_inherited() -> None:
    pdf = blank(content=b"0 0 0 rg -500 -500 600 620 re f")
    page, tree = pdf.pages[0], pdf.Root.Pages
    del page.obj.MediaBox
    tree.MediaBox, tree.CropBox, tree.Rotate = Array([0, 0, 400, 300]), Array([50, 20, 350, 290]), 90
    before = write_pdf(pdf)
    assert_marked(before, stamp_pages(before, overlay(270, 300, 40, 60)), 40, 60)


def test_a_user_unit_scales_the_overlay_with_its_page() -> None:
    pdf = blank()
    pdf.pages[0].obj.UserUnit = 2
    before = write_pdf(pdf)
    assert_marked(before, stamp_pages(before, overlay(300, 200, 40, 60)), 40, 60)


def test_an_overlay_of_another_size_covers_the_whole_page() -> None:
    before = write_pdf(blank())
    assert_marked(before, stamp_pages(before, overlay(600, 400, 80, 40, size=40)), 40, 20)


IMAGE = b"q 40 0 0 40 200 20 cm BI /W 2 /H 2 /BPC 8 /CS /G ID \x00Q q EI Q\n"

CONTENTS = {
    "balanced": b"q 2 0 0 2 0 0 cm " + SQUARE + b"Q",
    "empty": b"",
    "saved and never restored": b"q 0.5 0 0 0.5 30 40 cm q 0 0.5 0.5 0 0 0 cm " + SQUARE,
    "restored more often than saved": b"Q 0.5 0 0 0.5 10 0 cm Q Q "
    + SQUARE
    + b"q Q Q 1 0 0 1 40 0 cm "
    + SQUARE,
    "both": b"Q 0.5 0 0 0.5 10 0 cm Q " + SQUARE + b"q q 2 0 0 2 0 0 cm",
    "an inline image that looks like operators": IMAGE + b"0.5 0 0 0.5 0 0 cm " + SQUARE,
    "an inline image among surplus restores": b"0.5 0 0 0.5 0 0 cm Q " + IMAGE + SQUARE,
    "an open text object": b"BT /F1 20 Tf 20 150 Td (Hello) Tj",
    "open text within open state": b"q BT /F1 20 Tf 20 150 Td (Hello) Tj q",
    "open marked content": b"/Span BMC /P <</MCID 0>> BDC " + SQUARE,
    "a string that does not end": SQUARE + b"(and then",
    "a dictionary that does not end": SQUARE + b"/P <</MCID",
    "an array that does not end": SQUARE + b"[ 1 2",
    "a hexadecimal string that does not end": SQUARE + b"<0012",
    "an inline image that does not end": SQUARE + b"BI /W 1 /H 1 /BPC 8 /CS /G ID \x00",
    "a comment at the end": b"0.5 0 0 0.5 0 0 cm " + SQUARE + b"% no more",
    "an open path with a clip": b"10 10 120 90 re W n " + SQUARE + b"0 0 m 50 50 l",
    "stray brackets": b"] >> } " + SQUARE,
    "garbage": b"\x00\x01\xff 12..3 -- foo " * 30 + SQUARE,
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_the_page_looks_as_before_whatever_its_content_leaves_behind(kind: str) -> None:
    before = write_pdf(blank(content=CONTENTS[kind]))
    assert_marked(before, stamp_pages(before, overlay(300, 200, 150, 100)), 150, 100)


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_page_may_be_stamped_twice(kind: str) -> None:
    before = stamp_pages(write_pdf(blank(content=CONTENTS[kind])), write_pdf(blank(content=b"")))
    assert_marked(before, stamp_pages(before, overlay(300, 200, 150, 100)), 150, 100)


def test_content_in_pieces_is_read_as_one() -> None:
    pdf = blank()
    pieces = (b"q 0.5 0 0 0.5 0 0 cm", SQUARE, b"Q", b"Q Q", b"0.2 0 0 0.2 0 0 cm", SQUARE)
    pdf.pages[0].obj.Contents = Array([pdf.make_stream(piece) for piece in pieces])
    before = write_pdf(pdf)
    assert_marked(before, stamp_pages(before, overlay(300, 200, 150, 100)), 150, 100)


HALF = b"0.5 0 0 0.5 0 0 cm q "

CUTS = {
    "in a comment": (HALF + b"%", b"Q\n", SQUARE),
    "in a comment that takes a whole stream": (HALF + b"% q", b"Q Q", b"Q\n" + SQUARE),
    "in a comment behind a carriage return": (HALF + b"\r% (", b"Q\r" + SQUARE),
    "in a comment, with an empty stream": (HALF + b"%", b"", b"Q\n" + SQUARE),
    "in a comment before open text": (HALF + b"%", b"Q BT\nBT", b"ET " + SQUARE),
    "at the end of a word": (HALF + b"Q q", b"Q " + SQUARE),
    "in a string": (HALF + b"/F1 12 Tf BT (50%", b"Q) Tj ET\n", SQUARE),
    "in the data of an inline image": (HALF + b"BI /W 2 /H 2 /BPC 8 /CS /G ID q", b" Q EI Q ", SQUARE),
    "before the data of an inline image": (HALF + b"BI /W 2 /H 2 /BPC 8 /CS /G ID ", b"qQ Q EI Q\n", SQUARE),
    "in the dictionary of an inline image": (
        HALF + b"BI /W 2 ",
        b"/H 2 /BPC 8 /CS /G ID qQ Q EI Q\n",
        SQUARE,
    ),
    "in a comment that a string seems to hold": (HALF + b"% (", b"Q)\n", SQUARE),
}


@pytest.mark.parametrize("kind", CUTS)
def test_content_that_is_cut_oddly_is_read_alike_by_all(kind: str) -> None:
    pdf = blank()
    pdf.pages[0].obj.Contents = Array([pdf.make_stream(piece) for piece in CUTS[kind]])
    before = write_pdf(pdf)
    after = stamp_pages(before, overlay(300, 200, 150, 100))
    assert_marked(before, after, 150, 100)
    with Pdf.open(io.BytesIO(after)) as stamped:
        pieces = [stream.read_bytes() for stream in stamped.pages[0].obj.Contents]
        assert len({tuple(read_nesting(between.join(pieces))) for between in (b" ", b"\n", b"")}) == 1


def read_nesting(content: bytes) -> list[str]:
    with pikepdf.new() as scratch:
        found = pikepdf.parse_content_stream(scratch.make_stream(content), "q Q BT ET")
    return [str(each.operator) for each in found]


@pytest.mark.parametrize("contents", [Array(), Dictionary(), None])
def test_a_page_without_content_can_be_stamped(contents: Array | Dictionary | None) -> None:
    pdf = blank()
    del pdf.pages[0].obj.Contents
    if contents is not None:
        pdf.pages[0].obj.Contents = contents
    before = write_pdf(pdf)
    assert_marked(before, stamp_pages(before, overlay(300, 200, 150, 100)), 150, 100)


def test_content_that_cannot_be_decoded_can_be_stamped() -> None:
    pdf = blank()
    pdf.pages[0].obj.Contents = pdf.make_stream(b"not deflated", Filter=Name.FlateDecode)
    before = write_pdf(pdf)
    assert_marked(before, stamp_pages(before, overlay(300, 200, 150, 100)), 150, 100)


def test_pages_that_share_their_resources_get_no_mark_of_another() -> None:
    pdf = blank(pages=2)
    shared = pdf.make_indirect(Dictionary(XObject=pdf.make_indirect(Dictionary())))
    for page in pdf.pages:
        page.obj.Resources = shared
    after = stamp_pages(write_pdf(pdf), overlay(300, 200, 150, 100), (2,))
    with Pdf.open(io.BytesIO(after)) as again:
        assert not list(again.pages[0].obj.Resources.XObject.keys())
        assert len(again.pages[1].obj.Resources.XObject.keys()) == 1
    assert mark(picture(after, 0)) is None
    assert mark(picture(after, 1)) is not None


def test_each_page_gets_the_overlay_meant_for_it() -> None:
    drawing = pikepdf.new()
    for right in (10, 200):
        drawing.pages.extend(Pdf.open(io.BytesIO(overlay(300, 200, right, 10))).pages)
    with Pdf.open(io.BytesIO(write_pdf(blank(pages=3)))) as pdf:
        stamp_overlays(pdf, {1: (write_pdf(drawing), 1), 3: (write_pdf(drawing), 0)})
        after = write_pdf(pdf)
    assert mark(picture(after, 0)) == pytest.approx((400, 20, 440, 60), abs=1)
    assert mark(picture(after, 1)) is None
    assert mark(picture(after, 2)) == pytest.approx((20, 20, 60, 60), abs=1)


def test_an_added_page_inherits_nothing() -> None:
    pdf = blank()
    tree = pdf.Root.Pages
    tree.Rotate, tree.CropBox = 90, Array([0, 0, 10, 10])
    assert append_pages(pdf, write_pdf(blank(pages=2, size=(595.28, 841.89)))) == 2
    after = write_pdf(pdf)
    assert len(Pdf.open(io.BytesIO(after)).pages) == 3
    for number in (1, 2):
        assert picture(after, number).size == pytest.approx((595.28 * SCALE, 841.89 * SCALE), abs=1)
