"""Lets something be painted over a page whatever state its own content leaves behind.

A page may end with open `q`, `BT` or marked content, restore more often than it saved, or stop in the middle of a
string: all of that leaks into what is appended. A plain `q … Q` around it is not enough, because a surplus `Q` that
readers ignore would then undo the page's own scaling.
"""

import warnings
from dataclasses import dataclass

import pikepdf
from pikepdf import Array, Dictionary, Name, Object, Page, Pdf, Stream, Token, TokenFilter, TokenType

from esign.core.errors import Problem
from esign.pdf.inspection import TOO_COMPLEX
from esign.pdf.page import page as pages

CLOSERS = {"q": b"Q", "BT": b"ET", "BMC": b"EMC", "BDC": b"EMC"}
WATCHED = "q Q BT ET BMC BDC EMC EndOfPage"


@dataclass(frozen=True, slots=True)
class Ending:
    """What content leaves behind: how many `Q` had nothing to restore, and what closes the rest."""

    surplus: int
    closing: bytes


def enclose(pdf: Pdf, page: Page) -> None:
    """Rewrite the page's content so that it ends in the graphics state it began with, looking the same."""
    streams = _streams(page)
    if not streams:
        page.obj.Contents = Array()
        return
    ending = _ending(streams)
    if ending is None:
        _wrap(pdf, page, streams)
        return
    if ending.surplus:
        streams = [pdf.make_stream(page.get_filtered_contents(_WithoutSurplus()))]
    before, after = pdf.make_stream(b"q\n"), pdf.make_stream(b"\n" + ending.closing + b"Q\n")
    page.obj.Contents = Array([before, *streams, after])


def append(pdf: Pdf, page: Page, operators: bytes) -> None:
    """Paint over a page that has been enclosed."""
    page.obj.Contents = Array([*_streams(page), pdf.make_stream(operators)])


def _streams(page: Page) -> list[Object]:
    contents = page.obj.get("/Contents")
    if isinstance(contents, Stream):
        return [contents]
    return [item for item in contents if isinstance(item, Stream)] if isinstance(contents, Array) else []


def _ending(streams: list[Object]) -> Ending | None:
    """None where the content cannot be read to its end: an operator of ours behind it is no longer seen as one."""
    try:
        content = b"\n".join(stream.read_bytes() for stream in streams)
        with pikepdf.new() as scratch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = pikepdf.parse_content_stream(scratch.make_stream(content + b"\nEndOfPage\n"), WATCHED)
            operators = [str(each.operator) for each in found]
            complaints = scratch.get_warnings()
    except (pikepdf.PikepdfError, ValueError, TypeError) as error:
        if "limit exceeded" in str(error):
            raise Problem("invalid_file", TOO_COMPLEX) from error
        return None
    return None if complaints or operators[-1:] != ["EndOfPage"] else _unwound(operators)


def _unwound(operators: list[str]) -> Ending:
    surplus, open_ = 0, list[bytes]()
    for operator in operators:
        if operator in CLOSERS:
            open_.append(CLOSERS[operator])
        elif open_ and open_[-1] == operator.encode():
            open_.pop()
        elif operator.encode() in open_:
            last = len(open_) - 1 - open_[::-1].index(operator.encode())
            del open_[last]
        elif operator == "Q":
            surplus += 1
    return Ending(surplus, b"".join(closer + b"\n" for closer in reversed(open_)))


class _WithoutSurplus(TokenFilter):
    """Drops each `Q` that has no `q` to go back to, as readers do; every other byte stays."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def handle_token(self, token: Token = None) -> Token | list[Token] | None:  # type: ignore[assignment]
        if token.type_ == TokenType.word and token.raw_value in (b"q", b"Q"):
            if token.raw_value == b"Q" and not self._depth:
                return None
            self._depth += 1 if token.raw_value == b"q" else -1
        return token


def _wrap(pdf: Pdf, page: Page, streams: list[Object]) -> None:
    """Make the content a form XObject: whatever is wrong with it ends with its stream."""
    form = _form(pdf, streams)
    if form is None:
        page.obj.Contents = Array([pdf.make_stream(b"q\n"), *streams, pdf.make_stream(b"\nQ\n")])
        return
    form.Type, form.Subtype, form.BBox = Name.XObject, Name.Form, pages.box(pages.view(page))
    form.Resources = pages.own_resources(page)
    page.obj.Resources = Dictionary()
    forms = pages.own_resources(page).XObject
    page.obj.Contents = Array([pdf.make_stream(b"q %s Do Q\n" % pages.place(forms, form))])


def _form(pdf: Pdf, streams: list[Object]) -> Object | None:
    """One stream with the content of all; bytes that cannot be decoded stay as they are, unless there are several."""
    try:
        return pdf.make_stream(b"\n".join(stream.read_bytes() for stream in streams))
    except pikepdf.PikepdfError:
        if len(streams) > 1:
            return None
        kept = {key: streams[0][key] for key in ("/Filter", "/DecodeParms") if key in streams[0]}
        return pdf.make_stream(streams[0].read_raw_bytes(), kept)
