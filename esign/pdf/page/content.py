"""Make it possible to paint over a page, whatever state its own content leaves behind.

A page may end with open `q`, `BT` or marked content, restore more often than it saved, or stop in the middle of
a string. All of that affects what is appended. A plain `q … Q` around the content is not enough: a surplus `Q`,
which readers ignore otherwise, would then undo the page's own scaling.
"""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pikepdf
from pikepdf import Array, Dictionary, Name, Object, Page, Pdf, Stream, Token, TokenFilter, TokenType

from esign.core.errors import Problem
from esign.pdf.inspection import TOO_COMPLEX
from esign.pdf.page import page_properties as pages
from esign.pdf.page.inline_images import WHITESPACE, WORD, has_doubtful_images

CLOSERS = {b"q": b"Q", b"BT": b"ET", b"BMC": b"EMC", b"BDC": b"EMC"}
WATCHED = "q Q BT ET BMC BDC EMC EndOfPage"

# Plain content, which most pages have, is read by expressions: 0.3 ms for a page of text against 0.8 with a parser.
# They match only what leaves no doubt where a token ends. Each string, each array of numbers and strings and each
# comment becomes `()`; beside these, plain content holds words, names, numbers, and the properties of tagged text.
# `_OTHER` is all but parentheses and DEL: `re` makes a table of three ranges, three times as fast as two ranges.
_OTHER = rb"[\x00-'*-~\x80-\xff]"
_STRING = (
    rb"\(%b*+"  # up to the first parenthesis
    rb"(?:(?:\x7f|(?<=[^\\]\\)[()])%b*+)*+"  # one behind a single backslash belongs to the text
    rb"\)(?:(?<!\\\))|(?<=[^\\]\\\\\)))"  # one behind none or two ends it
) % (_OTHER, _OTHER)
_NUMBER = rb"[-+]?(?:[0-9]{1,15}+(?:\.[0-9]*+)?+|\.[0-9]++)(?![0-9.+-])"
_ITEM = rb"(?:%b|%b|<[0-9A-Fa-f]*+>|[\t\n\f\r ]++)" % (_STRING, _NUMBER)
TEXTS = re.compile(
    rb"\[%b*+\]|%b|%%[^\r\n]*+|([\[(](?s:.)*+)" % (_ITEM, _STRING)
)  # the group: all from one that does not end
_TAG = rb"<</MCID [0-9]{1,9}+ ?+(?:/Lang ?+\(\) )?+>>"
PLAIN = re.compile(rb"(?:[-+*'\"/_.,A-Za-z0-9\t\n\f\r ]++|\(\)|%b)*+" % _TAG)
# A word of plain content made of the letters of an operator of interest. What stands before is looked at second, as the
# search then runs from one such letter to the next.
_WORD = rb"-+*'\"_.,A-Za-z0-9"
OPERATOR = re.compile(rb"[qQBEI](?<![%b/].)[TMDI]?[CI]?(?![%b])" % (_WORD, _WORD))
DEPTHS = frozenset({b"q", b"Q", b"BT", b"ET", b"BMC", b"BDC", b"EMC"})
IMAGES = frozenset({b"BI", b"ID", b"EI"})
ZEROS = bytes.maketrans(b"123456789", b"000000000")


@dataclass(frozen=True, slots=True)
class ContentEnding:
    """The state that content leaves behind: how many `Q` had nothing to restore, and the operators that close
    the rest.
    """

    surplus: int
    closing: bytes


def enclose_content(pdf: Pdf, page: Page) -> None:
    """Rewrite the page's content so that it looks the same and ends in the graphics state in which it began."""
    streams = _list_streams(page)
    if not streams:
        page.obj.Contents = Array()
        return
    contents = _read_contents(streams)
    if contents is not None and _is_ambiguous(contents):
        contents = [b" ".join(contents)]
        streams = [pdf.make_stream(contents[0])]
        page.obj.Contents = streams[0]
    ending = None if contents is None else _find_ending(b"\n".join(contents))
    if ending is None:
        _wrap_content(pdf, page, streams)
        return
    if ending.surplus:
        streams = [pdf.make_stream(page.get_filtered_contents(_WithoutSurplus()))]
    before, after = pdf.make_stream(b"q\n"), pdf.make_stream(b"\n" + ending.closing + b"Q\n")
    page.obj.Contents = Array([before, *streams, after])


def append_content(pdf: Pdf, page: Page, operators: bytes) -> None:
    """Append operators to the content of a page that has been enclosed."""
    page.obj.Contents = Array([*_list_streams(page), pdf.make_stream(operators)])


def _list_streams(page: Page) -> list[Object]:
    contents = page.obj.get("/Contents")
    if isinstance(contents, Stream):
        return [contents]
    return [item for item in contents if isinstance(item, Stream)] if isinstance(contents, Array) else []


def _read_contents(streams: list[Object]) -> list[bytes] | None:
    """Return the decoded content of each stream that is not empty, or None if one cannot be decoded.

    Raises `invalid_file` if the content is too complex.
    """
    try:
        return [content for content in (stream.read_bytes() for stream in streams) if content]
    except (pikepdf.PikepdfError, ValueError, TypeError) as error:
        _refuse_complex(error)
        return None


def _is_ambiguous(contents: Sequence[bytes]) -> bool:
    """Return whether readers may differ on a comment, word or inline image that stands at the end of a stream.

    The streams count as one that was cut between two tokens (ISO 32000-2, 7.8.2). PDFium and Poppler read on in a
    comment behind the cut, and other readers may put nothing between the streams. One stream joined by spaces, as
    PDFium reads them, leaves no doubt. No stream may be empty.
    """
    if len(contents) > 1 and any(WORD.search(content) for content in contents):
        return True  # its data may be cut, and what is put between the pieces is a part of the picture
    return any(
        b"%" in before[max(before.rfind(b"\n"), before.rfind(b"\r")) + 1 :]
        or not (before[-1] in WHITESPACE or behind[0] in WHITESPACE)
        for before, behind in pairwise(contents)
    )


def _find_ending(content: bytes) -> ContentEnding | None:
    """Return the state that the content leaves behind, or None if it cannot be parsed to its end.

    Raises `invalid_file` if the content is too complex.
    """
    operators = list_plain_operators(content)
    if operators is None:
        operators = _parse_operators(content)
    return None if operators is None else _unwind_operators(operators)


def list_plain_operators(content: bytes) -> list[bytes] | None:
    """Return the operators that change how deep the content is nested, or None if only a parser can tell."""
    pieces = TEXTS.split(content)
    bare = b" () ".join(pieces[::2])
    if any(pieces[1::2]) or not PLAIN.fullmatch(bare):
        return None
    if b"0" * 16 in bare.translate(ZEROS):  # an integer the parser may not hold
        return None
    words = OPERATOR.findall(bare)
    if not IMAGES.isdisjoint(words):
        return None
    return [word for word in words if word in DEPTHS]


def _parse_operators(content: bytes) -> list[bytes] | None:
    """Return the same operators of any content, or None if it cannot be parsed to its end.

    A marker operator is appended to the content: if it is not found as the last operator, the content swallows
    what follows. Content in which readers may differ on an inline image counts as such too.
    """
    try:
        if has_doubtful_images(content):
            return None
        with pikepdf.new() as scratch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = pikepdf.parse_content_stream(scratch.make_stream(content + b"\nEndOfPage\n"), WATCHED)
            operators = [bytes(each.operator) for each in found]
            complaints = scratch.get_warnings()
    except (pikepdf.PikepdfError, ValueError, TypeError) as error:
        _refuse_complex(error)
        return None
    if complaints or operators[-1:] != [b"EndOfPage"]:
        return None
    return [operator for operator in operators if operator in DEPTHS]


def _refuse_complex(error: Exception) -> None:
    """Raise `invalid_file` if a limit of the parser was exceeded."""
    if "limit exceeded" in str(error):
        raise Problem("invalid_file", TOO_COMPLEX) from error


def _unwind_operators(operators: Sequence[bytes]) -> ContentEnding:
    surplus, open_ = 0, list[bytes]()
    for operator in operators:
        if operator in CLOSERS:
            open_.append(CLOSERS[operator])
        elif open_ and open_[-1] == operator:
            open_.pop()
        elif operator in open_:
            del open_[len(open_) - 1 - open_[::-1].index(operator)]
        elif operator == b"Q":
            surplus += 1
    return ContentEnding(surplus, b"".join(closer + b"\n" for closer in reversed(open_)))


class _WithoutSurplus(TokenFilter):
    """Drops each `Q` that has no `q` to restore, as readers do; every other byte stays."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def handle_token(self, token: Token = None) -> Token | list[Token] | None:  # type: ignore[assignment]
        if token.type_ == TokenType.word and token.raw_value in (b"q", b"Q"):
            if token.raw_value == b"Q" and not self._depth:
                return None
            self._depth += 1 if token.raw_value == b"q" else -1
        return token


def _wrap_content(pdf: Pdf, page: Page, streams: list[Object]) -> None:
    """Turn the content into a form XObject, so that whatever is wrong with it ends with its stream."""
    form = _join_streams(pdf, streams)
    if form is None:
        page.obj.Contents = Array([pdf.make_stream(b"q\n"), *streams, pdf.make_stream(b"\nQ\n")])
        return
    form.Type, form.Subtype, form.BBox = (
        Name.XObject,
        Name.Form,
        pages.build_box(pages.read_visible_area(page)),
    )
    form.Resources = pages.give_own_resources(page)
    page.obj.Resources = Dictionary()
    forms = pages.give_own_resources(page).XObject
    page.obj.Contents = Array([pdf.make_stream(b"q %s Do Q\n" % pages.place_form(forms, form))])


def _join_streams(pdf: Pdf, streams: list[Object]) -> Object | None:
    """Return one stream with all content, or None if there are several streams and one cannot be decoded.

    A single stream that cannot be decoded keeps its bytes and filters.
    """
    try:
        return pdf.make_stream(b" ".join(stream.read_bytes() for stream in streams))  # as PDFium reads them
    except pikepdf.PikepdfError:
        if len(streams) > 1:
            return None
        kept = {key: streams[0][key] for key in ("/Filter", "/DecodeParms") if key in streams[0]}
        return pdf.make_stream(streams[0].read_raw_bytes(), kept)
