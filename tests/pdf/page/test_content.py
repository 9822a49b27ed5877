"""What expressions say about plain content is what a parser says; what they cannot tell is left to the parser."""

import io

import pytest
from pikepdf import Pdf

from esign.pdf.page import content
from tests.bench.dense import make_dense_pdf

PLAIN = (
    b"/Span<</MCID 0>>BDC\nq 1 0 0 -1 56.69 775.7 cm/c0 cs 0 scn\nBT 0 Tr/f0 13.3 Tf 1 0 0 -1 0 0 Tm"
    b"[(\\000\\001\\000\\(\\000\\))70(\\000\\\\)<0102>-.5(a)+1. 2]TJ\nET\nQ\nEMC/Span<</MCID 1/Lang(en)>>BDC\n"
    b"q 0.5 g 1 2 3 4 re f* (text\x7f) ' (more \x7f\\(text\\)\x7f) Tj /q gs /Im1 Do Q EMC\nq\n(BT q) Tj BT\r\nET Q Q\n"
    b"%a comment (q [BT\nq% Q\rQ\n"
)
PIECES = (
    *(
        b"(",
        b")",
        b"\\",
        b"[",
        b"]",
        b"<",
        b">",
        b"<<",
        b">>",
        b"{",
        b"}",
        b"%",
        b"/",
        b"#",
        b"'",
        b'"',
        b"*",
    ),
    *(
        b"q",
        b"Q",
        b" q ",
        b" Q ",
        b"BT ",
        b"ET",
        b"BDC",
        b"EMC",
        b"BI ",
        b" ID ",
        b" EI ",
        b"q1",
        b"1q",
        b"/q",
    ),
    *(
        b"\n",
        b" ",
        b"\0",
        b"\x0b",
        b"\x0c",
        b"\x7f",
        b"\xff",
        b"-",
        b"+",
        b".",
        b",",
        b"_",
        b"--1",
        b"1-2",
        b"1.2.3",
    ),
    *(b"1", b"99999999999999999999", b"[99999999999999999999]TJ", b" 1 0 R ", b"[1 0 R]", b"true", b"null"),
    *(
        b"\\)",
        b"\\(",
        b"\\\\",
        b"()",
        b"(\\\\)",
        b"(\\))",
        b"[1 2(a)-3.5]TJ",
        b"[q]",
        b"<61>",
        b"<6 1>",
        b"[.]",
    ),
    *(b"<</MCID 3>>", b"<</MCID 3/Lang(en)>>", b"<</MCID>>", b"/MCID", b"endstream", b"EndOfPage"),
)


def test_plain_content_is_read_without_a_parser() -> None:
    assert content.list_plain_operators(PLAIN) == content._parse_operators(PLAIN)
    assert content.list_plain_operators(PLAIN) == (b"BDC q BT ET Q EMC BDC q Q EMC q BT ET Q Q q Q".split())


def test_a_page_of_text_is_plain_content() -> None:
    with Pdf.open(io.BytesIO(make_dense_pdf(1))) as pdf:
        for page in pdf.pages:
            text = page.obj.Contents.read_bytes()
            assert content.list_plain_operators(text) == content._parse_operators(text)


@pytest.mark.parametrize("piece", PIECES)
def test_expressions_and_parser_agree_about_content_with_anything_anywhere(piece: bytes) -> None:
    for place in range(len(PLAIN)):
        for before, after in ((60, 60), (3, 40), (20, 2)):
            text = PLAIN[max(0, place - before) : place] + piece + PLAIN[place : place + after]
            found = content.list_plain_operators(text)
            assert found is None or found == content._parse_operators(text), text


@pytest.mark.parametrize(
    "text",
    [
        *(
            b"q (open",
            b"q [1 2",
            b"q <</MCID 1",
            b"(closed) ) q",
            b"[1 % a comment\n] TJ",
            b"q {",
            b"[q] TJ",
            b"[[1]] TJ",
        ),
        *(b"BI /W 1 /H 1 ID q EI", b"/a#20b gs", b"1234567890123456789012 w", b"[1-2] TJ", b"<</A 1>> BDC"),
        b"1234567890123456789012 w /ANameThatIsLongerThanTheNumber gs",
    ],
)
def test_what_is_not_plain_is_left_to_the_parser(text: bytes) -> None:
    assert content.list_plain_operators(text) is None


@pytest.mark.parametrize(
    "piece", [b"(\\", b"[(\\", b"[(a", b"[1 ", b"<</MCID 1/Lang()", b"[<61", b"(\\(a", b"<<"]
)
def test_content_that_never_ends_is_looked_at_once(piece: bytes) -> None:
    """Two megabytes of it took minutes where each of its beginnings looked at all the rest."""
    assert content.list_plain_operators(piece * (2**21 // len(piece))) is None
