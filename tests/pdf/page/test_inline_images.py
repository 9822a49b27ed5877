"""Inline images: which ones every reader skips alike, and that what is painted over the others is seen all the same."""

import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esign.pdf.page.content import _parse_operators
from esign.pdf.page.inline_images import has_doubtful_images
from tests.pdf.made import SQUARE, blank, write_pdf
from tests.pdf.marks import assert_marked, overlay, stamp_pages

FOUR = b"/W 2 /H 2 /BPC 8 /CS /G"
FLATE = zlib.compress(bytes(range(100)))
WHOLE = {
    "none": b"q (ID) Tj % EI\n/BI gs Q",
    "four bytes": b"BI %b ID abcd EI" % FOUR,
    "operators in the data": b"BI %b ID qQ Q EI" % FOUR,
    "long names": b"BI /Width 2/Height 2/BitsPerComponent 8/ColorSpace/DeviceRGB ID abcdabcdabcd\nEI",
    "four colours": b"BI /W 1 /H 2 /BPC 4 /CS /CMYK /I true /Intent /Perceptual ID abcd EI",
    "a mask": b"BI /W 9 /H 2 /IM true /D [1 0] ID abcd EI",
    "a palette": b"BI /W 2 /H 2 /BPC 8 /CS [/I /RGB 1 <000000ffffff>] ID abcd EI",
    "two": b"BI %b ID abcd EI q BI %b ID abcd EI Q" % (FOUR, FOUR),
    "Flate": b"BI /W 10 /H 10 /BPC 8 /CS /G /F /Fl ID %b EI" % FLATE,
    "Flate in an array": b"BI /W 10 /H 10 /BPC 8 /CS /G /F [/FlateDecode] /DP [null] ID %b\r\nEI" % FLATE,
    "no space behind a bracket": b"BI /W 9 /H 2 /IM true/D[1 0]ID abcd EI",
}
DOUBTFUL = {
    "data without an image": b"ID Q EI",
    "data twice": b"ID ID Q EI EI",
    "data behind an image": b"BI %b ID abcd EI ID Q EI" % FOUR,
    "an end alone": b"EI Q",
    "an image that never begins its data": b"BI %b Q" % FOUR,
    "an image within its dictionary": b"BI BI %b ID Q EI" % FOUR,
    "an operator in its dictionary": b"BI 5 w ID Q EI",
    "a comment in its dictionary": b"BI %b %% ID\nID qQ Q EI" % FOUR,
    "a number for a name": b"BI 5 ID Q EI",
    "a name without a value": b"BI %b /D ID qQ Q EI" % FOUR,
    "an array that does not end": b"BI %b /D [ 1 ID qQ Q EI" % FOUR,
    "a bracket too many": b"BI %b /D 1 ] ID qQ Q EI" % FOUR,
    "a width twice": b"BI %b /Width 3 ID qQ Q EI" % FOUR,
    "no sides": b"BI /BPC 8 /CS /G ID Q EI",
    "sides that are none": b"BI /W 2.0 /H -2 /BPC 8 /CS /G ID qQ Q EI",
    "no colours": b"BI /W 2 /H 2 /BPC 8 ID qQ Q EI",
    "other colours": b"BI /W 2 /H 2 /BPC 8 /CS /Own ID qQ Q EI",
    "colours of a mask": b"BI %b /IM true ID qQ Q EI" % FOUR,
    "less data than it says": b"BI /W 1000 /H 1000 /BPC 8 /CS /G ID abcd EI Q",
    "less by an end": b"BI /W 4 /H 4 /BPC 8 /CS /G ID ab EI Q EI",
    "more data than it says": b"BI %b ID abcdefgh Q EI" % FOUR,
    "an end in the data": b"BI /W 4 /H 2 /BPC 8 /CS /G ID  EI EI  EI",
    "a size beyond everything": b"BI /W 99999999 /H 99999999 /BPC 8 /CS /CMYK ID Q EI",
    "Flate that is cut": b"BI /W 10 /H 10 /BPC 8 /CS /G /F /Fl ID %b EI" % FLATE[:-20],
    "Flate that is none": b"BI %b /F /Fl ID abcd EI" % FOUR,
    "more behind Flate": b"BI /W 10 /H 10 /BPC 8 /CS /G /F /Fl ID %b Q EI" % FLATE,
    "another filter": b"BI %b /F /A85 ID abcd EI" % FOUR,
    "two filters": b"BI %b /F [/AHx /Fl] ID 00> EI" % FOUR,
    "an end without data": b"BI %b ID EI" % FOUR,
}
HIDE = b"\n0 0 1 1 re W n\n"  # what would hide the mark, if a `Q` of the page undid the `q` before it
PIECES = [*WHOLE.values(), *DOUBTFUL.values(), b"q", b"Q", b"BT", b"ET", b"BI", b"ID", b"EI", HIDE, SQUARE]


@pytest.mark.parametrize("name", WHOLE)
def test_an_image_that_ends_where_it_says_is_no_hindrance(name: str) -> None:
    assert not has_doubtful_images(WHOLE[name])
    assert _parse_operators(WHOLE[name] + b" BT") is not None


@pytest.mark.parametrize("name", DOUBTFUL)
def test_content_in_which_readers_differ_counts_as_unreadable(name: str) -> None:
    assert has_doubtful_images(DOUBTFUL[name])
    assert _parse_operators(b"q " + DOUBTFUL[name] + b" Q") is None


@pytest.mark.parametrize("name", [*WHOLE, *DOUBTFUL])
def test_a_mark_is_seen_over_any_image_and_the_page_looks_as_before(name: str) -> None:
    for before, behind in ((b"", HIDE), (SQUARE + b"Q ", HIDE + b"q ")):
        page = write_pdf(blank(content=before + (WHOLE | DOUBTFUL)[name] + behind))
        assert_marked(page, stamp_pages(page, overlay(300, 200, 150, 100)), 150, 100)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8))
def test_a_mark_is_seen_over_content_put_together_of_anything(pieces: list[bytes]) -> None:
    page = write_pdf(blank(content=b" ".join(pieces)))
    assert_marked(page, stamp_pages(page, overlay(300, 200, 150, 100)), 150, 100)
