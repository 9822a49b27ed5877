"""Write what is appended to a file, without copying the file: copying would take as long as hashing it."""

import hashlib
import io

from pyhanko.pdf_utils.generic import IndirectObject
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter


class TailStream(io.BytesIO):
    """A stream of the appended bytes whose positions are those in the whole file, `start` bytes of which come
    before it.
    """

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start = start

    def tell(self) -> int:
        return self.start + super().tell()

    def seek(self, place: int, whence: int = io.SEEK_SET, /) -> int:
        return self.start + super().seek(place - self.start if whence == io.SEEK_SET else place, whence)


class TailWriter(IncrementalPdfFileWriter):
    """Writes a revision into a `TailStream`, and leaves the metadata as they were when the pages were assembled."""

    def _update_meta(self) -> None:
        pass

    def _write_header(self, stream: TailStream) -> None:
        """Write a line break if the file ends without one. pyHanko's own method would copy the file here.

        Typst ends a file without a line break. An object behind `%%EOF` on the same line breaks PDF/A (ISO
        19005-3, 6.1.9).
        """
        self.input_stream.seek(-1, io.SEEK_END)
        if self.input_stream.read(1) not in (b"\n", b"\r"):
            stream.write(b"\n")

    def find_page_for_modification(self, page_ix: int) -> tuple[IndirectObject, None]:
        """Return the last page, whatever page is asked for.

        It is one of ours; pyHanko would read all pages on the way.
        """
        return _find_last_page(self.root.raw_get("/Pages")), None


def _find_last_page(branch: IndirectObject) -> IndirectObject:
    node = branch.get_object()  # type: ignore[no-untyped-call]  # pyHanko leaves it without types
    return _find_last_page(node["/Kids"].raw_get(-1)) if "/Kids" in node else branch


def hash_parts(name: str, *parts: bytes) -> bytes:
    """Return the digest of the concatenated parts, with the hash function of that name."""
    found = hashlib.new(name)
    for part in parts:
        found.update(part)
    return found.digest()
