"""The parts of a sealed file, and how forgers put them together anew without touching what was hashed."""

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

RANGE = re.compile(rb"/ByteRange \[0 (\d+) (\d+) (\d+)\]")
FALSE_PAGE = b"9 9 400 400 re f"


@dataclass(frozen=True)
class Parts:
    """A file taken apart at its first signature: what is hashed before and behind the gap, and the gap."""

    before: bytes
    gap: bytes
    behind: bytes

    @property
    def cms(self) -> bytes:
        return bytes.fromhex(self.gap[1:-1].decode())


def parts(file: bytes) -> Parts:
    found = RANGE.search(file)
    assert found
    before, behind, length = (int(number) for number in found.groups())
    return Parts(file[:before], file[before:behind], file[behind : behind + length])


def literal(content: bytes) -> bytes:
    """A text string of PDF: half as long as a hexadecimal one, which leaves a forger the other half."""
    escaped = (
        content.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)").replace(b"\r", b"\\r")
    )
    return b"(" + escaped + b")"


def moved_gap(file: bytes) -> bytes:
    """The same bytes in the same order around the same length of gap, but the gap stands where the catalogue was.

    The table of the file, which is signed, now leads into the gap: to a catalogue, a page and a signature of the
    forger.
    """
    whole = parts(file)
    signed = whole.before + whole.behind
    places = {number: place for number, place in table(file).items() if place > len(whole.before) - 700}
    start, end = min(places.values()), min(places.values()) + len(whole.gap)
    catalogue, pages, stream, page, field, signature = sorted(places, key=lambda number: places[number])
    objects = {
        catalogue: b"<</Pages %d 0 R/AcroForm<</Fields[%d 0 R]/SigFlags 3>>>>" % (pages, field),
        pages: b"<</Type/Pages/Count 1/Kids[%d 0 R]/MediaBox[0 0 595 842]>>" % page,
        stream: b"<</Length %d>>stream\n%s\nendstream" % (len(FALSE_PAGE), FALSE_PAGE),
        page: b"<</Type/Page/Contents %d 0 R>>" % stream,
        field: b"<</FT/Sig/T(Seal)/V %d 0 R>>" % signature,
        signature: b"<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached"
        b"/ByteRange [0 %d %d %d]/Contents %s>>" % (start, end, len(signed) - start, literal(whole.cms)),
    }
    gap = bytearray(b" " * len(whole.gap))
    for number, body in objects.items():
        at = places[number] - start
        text = b"%d 0 obj%s\nendobj" % (number, body)
        later = [place - start for place in places.values() if place - start > at]
        assert at + len(text) <= min(later, default=len(gap)), number
        gap[at : at + len(text)] = text
    return signed[:start] + bytes(gap) + signed[start:]


def table(file: bytes) -> dict[int, int]:
    """Where the objects of the last revision begin, by its cross-reference table."""
    text = file[int(file.rpartition(b"startxref")[2].split()[0]) :].partition(b"trailer")[0]
    found: dict[int, int] = {}
    number = 0
    for line in text.splitlines()[1:]:
        words = line.split()
        if len(words) == 2:
            number = int(words[0])
        else:
            if words[2] == b"n":
                found[number] = int(words[0])
            number += 1
    return found


def append_update(change: Callable[[IncrementalPdfFileWriter], None], file: bytes) -> bytes:
    """The file with one more revision behind it."""
    target = io.BytesIO(file)
    writer = IncrementalPdfFileWriter(target)
    change(writer)
    writer.write_in_place()  # type: ignore[no-untyped-call]
    return target.getvalue()


def append_revision(
    file: bytes, objects: Mapping[int, bytes], root: int = 1, more: bytes = b"", prev: int = -1
) -> bytes:
    """A revision written by hand: whole objects by their numbers, and a table that leads to them."""
    before = int(file.rpartition(b"startxref")[2].split()[0]) if prev < 0 else prev
    made, places = file + b"\n", {}
    for number, body in objects.items():
        places[number] = len(made)
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(made)
    made += b"xref\n0 1\n0000000000 65535 f \n"
    for number in sorted(places):
        made += b"%d 1\n%010d 00000 n \n" % (number, places[number])
    size = max([*objects, *table(file)], default=100) + 1
    made += b"trailer\n<</Root %d 0 R/Size %d/Prev %d%s>>\n" % (root, size, before, more)
    return made + b"startxref\n%d\n%%%%EOF\n" % start
