"""How esign writes what it appends to a file: each object begins a line, as PDF/A asks for (ISO 19005-3, 6.1.9).

`packaging/pdfa` has veraPDF look at the same files. On 2026-11-23 (veraPDF 1.26.2) it found all of them to be PDF/A-3a;
before, each failed 6.1.9, because the sealed revision began behind `%%EOF` on its line.
"""

import io
import re

import pytest
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

from tests.conforming import certificates
from tests.pdf.local_seal import load_key
from tests.pdf.others import a_stamper, stamped_in_loop
from tests.pdf.proofs import a_list, with_proofs
from tests.pdf.sealing import a_pdf, sign_file
from tests.pki import NOW, a_seal, an_authority

ROOT = an_authority()
KEY = load_key(a_seal(ROOT).credential)
# Where ISO 19005-3, 6.1.9, wants a line to begin and to end. Streams hold no such words: they are compressed.
OBJECT = re.compile(rb"(?P<before>.?)(?P<head>\d+[ ]\d+[ ]obj)(?P<after>.?)", re.DOTALL)
END = re.compile(rb"(?P<before>.?)endobj(?P<after>.?)", re.DOTALL)
LINE = (b"\n", b"\r")


def faults(file: bytes) -> list[bytes]:
    """Return each object that shares a line with something else."""
    return [
        file[max(0, found.start() - 20) : found.end()]
        for shape in (OBJECT, END)
        for found in shape.finditer(file)
        if found["before"] not in LINE or found["after"] not in LINE
    ]


CERTIFICATES = dict(certificates())


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate_begins_each_object_on_a_line_of_its_own(name: str) -> None:
    file = CERTIFICATES[name]
    assert b"pdfaid:part" in file and faults(file) == []


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n", b"\n\n"])
def test_a_seal_begins_on_a_line_of_its_own_however_the_file_ends(end: bytes) -> None:
    """A file that ends with a line break gets no second one: nothing is added that is not needed."""
    file = a_pdf().rstrip() + end
    sealed = sign_file(file, KEY, NOW, "sealed")
    assert sealed.startswith(file) and sealed.endswith(b"%%EOF\n")
    assert re.match(rb"\d+ \d+ obj" if end else rb"\n\d+ \d+ obj", sealed[len(file) :])


def test_what_others_append_behind_a_seal_begins_on_a_line_of_its_own() -> None:
    sealed = sign_file(a_pdf().rstrip(), KEY, NOW, "sealed")
    for file in (with_proofs(sealed, a_list(ROOT, NOW)), stamped_in_loop(sealed, a_stamper())):
        assert not re.search(rb"%%EOF\d", file)


def test_the_library_alone_would_not_begin_a_line() -> None:
    """What shows that the writer has to: `IncrementalPdfFileWriter` appends to the last byte."""
    target = io.BytesIO(a_pdf().rstrip())
    writer = IncrementalPdfFileWriter(target)
    writer.update_root()  # type: ignore[no-untyped-call]
    writer.write_in_place()  # type: ignore[no-untyped-call]
    assert re.search(rb"%%EOF\d", target.getvalue())
