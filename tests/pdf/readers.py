"""Revisions that add only proof by one reader's view of the table of objects, and another page by another's."""

import io
from typing import Any

import pikepdf
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers
from pyhanko.sign.fields import SigFieldSpec, append_signature_field

from tests.pdf.attacks import Files, dictionary, false_page, numbers, rectangle, stream
from tests.pdf.others import a_stamper

# Ways to write the table after which some readers look for objects themselves, or that nobody needs.
LOST: dict[str, dict[str, Any]] = {
    "short lines": {"end": b"\n"},
    "long lines": {"end": b"   \n"},
    "of one object": {"size": 1},
    "signed offset": {"back": b"+%d"},
    "two bytes too early": {"shift": -2},
    "a comment behind its name": {"name": b"xref %x\n"},
    "a comment in front": {"name": b"%x\nxref\n"},
    "broken offset": {"back": b"%d.0"},
    "another one named": {"more": b"/XRefStm 5"},
}


def misread(file: bytes) -> Files:
    """Between the revisions lies a page that no table leads to, for those who look for objects themselves."""
    lying = b"\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % item for item in false_page(file).items())
    return {name: revision(file, lying, **how) for name, how in LOST.items()}


def revision(
    file: bytes,
    lying: bytes = b"\n",
    *,
    name: bytes = b"xref\n",
    end: bytes = b" \n",
    size: int = 901,
    shift: int = 0,
    back: bytes = b"%d",
    more: bytes = b"",
) -> bytes:
    """An empty store of validation data behind the file, with a table written in this way."""
    before = int(file.rpartition(b"startxref")[2].split()[0])
    root = numbers(file)["root"]
    with pikepdf.open(io.BytesIO(file)) as pdf:
        catalogue = pdf.Root.unparse(resolved=True).removesuffix(b">>") + b"/DSS 900 0 R>>"
    made = file + lying
    store = len(made)
    made += b"900 0 obj\n<</Type/DSS>>\nendobj\n"
    changed = len(made)
    made += b"%d 0 obj\n%s\nendobj\n" % (root, catalogue)
    table = len(made)
    made += name + b"0 1\n0000000000 65535 f" + end
    made += b"%d 1\n%010d 00000 n" % (root, changed) + end + b"900 1\n%010d 00000 n" % store + end
    made += b"trailer\n<</Root %d 0 R/Size %d/Prev " % (root, size) + back % before + more + b">>\n"
    return made + b"startxref\n%d\n%%%%EOF\n" % (table + shift)


def visibly_stamped(file: bytes, look: bool) -> bytes:
    """A time stamp over the document by nobody in particular, in a field that covers the page, with a look or none."""
    target = io.BytesIO(file)
    writer = IncrementalPdfFileWriter(target)
    append_signature_field(writer, SigFieldSpec("Stamp", box=(0, 0, 595, 842), on_page=-1))
    for held in writer.root["/AcroForm"]["/Fields"]:
        field = held.get_object()
        if field.get("/T") == "Stamp" and look:
            field[generic.pdf_name("/AP")] = dictionary(
                N=stream(writer, Subtype=generic.pdf_name("/Form"), BBox=rectangle(0, 0, 595, 842))
            )
    stamper = signers.PdfTimeStamper(a_stamper("Anybody"), field_name="Stamp")
    return bytes(stamper.timestamp_pdf(writer, "sha256").getvalue())
