"""Time stamps over a document in the byte forms that other programs give them.

Modelled on files that EU DSS 6.4 and PDFBox 3.0.6 made of seals of this program on 2026-11-23: a widget of no size on
the first page (DSS, PDFBox), its own look (`/AP`) an empty form XObject with an empty `/BBox`, the look's dictionary
under a number of its own.
"""

import io
from collections.abc import Mapping
from typing import Any

from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers

from tests.pdf.attacks import dictionary, page_of, rectangle, stream
from tests.pdf.others import a_stamper
from tests.pdf.proofs import number

Sides = tuple[int, int, int, int]
NOWHERE: Sides = (0, 0, 0, 0)
# Where the field is listed besides in the form.
PLACES: Mapping[str, bool] = {"on the page": True, "in the form alone": False}
BLANK: Mapping[str, bytes] = {"empty": b"", "white space": b" \r\n", "a comment": b"% DSBlank\n"}


def stamped_by_others(file: bytes, look: bytes, on_page: bool, name: str, sides: Sides = NOWHERE) -> bytes:
    """The file with a time stamp in a field of its own, which has this content as its look."""
    target = io.BytesIO(file)
    writer = IncrementalPdfFileWriter(target)
    add_field(writer, name, look, on_page, sides)
    stamper = signers.PdfTimeStamper(a_stamper(), field_name=name)
    return bytes(stamper.timestamp_pdf(writer, "sha256").getvalue())


def add_field(writer: IncrementalPdfFileWriter, name: str, look: bytes, on_page: bool, sides: Sides) -> None:
    form = stream(
        writer,
        look,
        Type=generic.pdf_name("/XObject"),
        Subtype=generic.pdf_name("/Form"),
        BBox=rectangle(*sides),
    )
    page = writer.root["/Pages"]["/Kids"].raw_get(0)
    field = writer.add_object(
        dictionary(
            FT=generic.pdf_name("/Sig"),
            Type=generic.pdf_name("/Annot"),
            Subtype=generic.pdf_name("/Widget"),
            F=number(132),
            T=generic.pdf_string(name),
            P=page,
            Rect=rectangle(*sides),
            AP=writer.add_object(dictionary(N=form)),
        )
    )
    held: Any = writer.root["/AcroForm"]
    held["/Fields"] = generic.ArrayObject([*held["/Fields"], field])
    held["/SigFlags"] = number(3)
    reference = writer.root.raw_get("/AcroForm")
    if isinstance(reference, generic.IndirectObject):
        writer.mark_update(reference)
    else:
        writer.update_root()  # type: ignore[no-untyped-call]
    if on_page:
        shown = page_of(writer)
        shown["/Annots"] = generic.ArrayObject([*shown.get("/Annots", generic.ArrayObject()), field])
