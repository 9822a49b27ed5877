"""Tell whether all readers skip the inline images of a page's content alike (ISO 32000-2, 8.9.7).

Their data may hold anything, operators too, and nothing but `EI` ends them. qpdf takes the first `EI` behind which
content looks like content. PDFium takes as many bytes as the image has by its dictionary and its filter, or, where
that dictionary is none, goes on with what stands there. Where the two differ, one reader executes what the other takes
for data, and what is painted over such a page may not be seen.
"""

import re
import zlib
from collections.abc import Mapping, Sequence

import pikepdf
from pikepdf import Token, TokenFilter, TokenType

WHITESPACE = b"\0\t\n\f\r "  # ISO 32000-2, 7.2.3
# What stands before is looked at second, as the search then runs from one such letter to the next.
WORD = re.compile(rb"(?:BI|ID|EI)(?<![^\0\t\n\f\r ()<>\[\]{}/%]..)(?![^\0\t\n\f\r ()<>\[\]{}/%])")

# The short names of the entries (table 91), of colour spaces with their number of components, and of a filter.
LONG_NAMES = {b"/Width": b"/W", b"/Height": b"/H", b"/BitsPerComponent": b"/BPC"}
LONG_NAMES |= {b"/ColorSpace": b"/CS", b"/ImageMask": b"/IM", b"/Filter": b"/F"}
COMPONENTS = {b"/G": 1, b"/DeviceGray": 1, b"/RGB": 3, b"/DeviceRGB": 3, b"/CMYK": 4, b"/DeviceCMYK": 4}
INDEXED, FLATE = (b"/I", b"/Indexed"), (b"/Fl", b"/FlateDecode")
MOST = 2**24  # bytes of a picture; Adobe's implementation limit is 4 kB

VALUES = {
    TokenType.name_,
    TokenType.integer,
    TokenType.real,
    TokenType.string,
    TokenType.bool,
    TokenType.null,
}
OPENING = {TokenType.array_open, TokenType.dict_open}
CLOSING = {TokenType.array_close, TokenType.dict_close}


def has_doubtful_images(content: bytes) -> bool:
    """Return whether readers may differ on where an inline image of the content begins or ends.

    Those of filters other than Flate are in doubt too: how many bytes a filter takes is known by decoding alone.
    """
    if not WORD.search(content):
        return False
    images = _ImageReader()
    with pikepdf.new() as scratch:
        page = scratch.add_blank_page(page_size=(9, 9))
        page.obj.Contents = scratch.make_stream(content)
        page.get_filtered_contents(images)
    return images.is_doubtful or images.is_within


class _ImageReader(TokenFilter):
    """Follows the tokens of content, and notes whether one stands where it should not."""

    def __init__(self) -> None:
        super().__init__()
        self.is_doubtful = self.is_within = False
        self._entries: list[Token] = []
        self._data: bytes | None = None

    def handle_token(self, token: Token = None) -> None:  # type: ignore[assignment]
        word = token.raw_value if token.type_ == TokenType.word else None
        if self._data is not None:
            self.is_doubtful |= word != b"EI" or not is_whole(self._entries, self._data)
            self._data, self.is_within = None, False
        elif token.type_ == TokenType.inline_image:
            self.is_doubtful |= not self.is_within
            self._data = token.raw_value
        elif word == b"BI":
            self.is_doubtful |= self.is_within
            self._entries, self.is_within = [], True
        elif word in (b"ID", b"EI"):
            self.is_doubtful |= not self.is_within or word == b"EI"
        elif self.is_within and token.type_ != TokenType.space:
            self._entries.append(token)


def is_whole(entries: Sequence[Token], data: bytes) -> bool:
    """Return whether the data of an image with these entries ends where its `EI` stands."""
    found = read_entries(entries)
    used = None if found is None else measure_data(found, data)
    return used is not None and used <= len(data) and not data[used:].strip(WHITESPACE)


def read_entries(tokens: Sequence[Token]) -> Mapping[bytes, tuple[bytes, ...]] | None:
    """Return the tokens of each value by the short name of its entry, or None if they make no dictionary."""
    found: dict[bytes, tuple[bytes, ...]] = {}
    name: bytes | None = None
    value, depth = list[bytes](), 0
    for token in tokens:
        depth += (token.type_ in OPENING) - (token.type_ in CLOSING)
        if depth < 0 or token.type_ not in VALUES | OPENING | CLOSING:
            return None
        if name is None:
            if token.type_ != TokenType.name_:
                return None
            name = LONG_NAMES.get(token.raw_value, token.raw_value)
            continue
        value.append(token.raw_value)
        if not depth:
            if name in found:
                return None
            found[name] = tuple(value)
            name, value = None, []
    return found if name is None else None


def measure_data(entries: Mapping[bytes, tuple[bytes, ...]], data: bytes) -> int | None:
    """Return how many bytes of the data a reader takes for the image, or None if that is not certain."""
    match entries.get(b"/F", ()):
        case ():
            return compute_size(entries)
        case (name,) | (b"[", name, b"]") if name in FLATE:
            return measure_flate(data)
    return None


def compute_size(entries: Mapping[bytes, tuple[bytes, ...]]) -> int | None:
    """Return the bytes of an image without a filter, or None if that is not certain."""
    sides = [parse_count(entries.get(name, ())) for name in (b"/W", b"/H")]
    is_mask = entries.get(b"/IM", (b"false",))
    match entries.get(b"/CS"):
        case None if is_mask == (b"true",):
            bits: int | None = 1
        case (name,) if name in COMPONENTS and is_mask == (b"false",):
            depth = parse_count(entries.get(b"/BPC", ()))
            bits = None if depth is None else depth * COMPONENTS[name]
        case (b"[", name, *_) if name in INDEXED and is_mask == (b"false",):
            bits = parse_count(entries.get(b"/BPC", ()))
        case _:
            return None
    if sides[0] is None or sides[1] is None or bits is None or bits > 64:
        return None
    size = (sides[0] * bits + 7) // 8 * sides[1]
    return size if size <= MOST else None


def parse_count(value: tuple[bytes, ...]) -> int | None:
    """Return a number written in up to eight digits, or None for anything else."""
    return int(value[0]) if len(value) == 1 and value[0].isdigit() and len(value[0]) <= 8 else None


def measure_flate(data: bytes) -> int | None:
    """Return how many bytes the compressed data takes, or None if it is damaged, has no end or becomes too large."""
    unpacker = zlib.decompressobj()
    try:
        unpacker.decompress(data, MOST)
    except zlib.error:
        return None
    return len(data) - len(unpacker.unused_data) if unpacker.eof else None
