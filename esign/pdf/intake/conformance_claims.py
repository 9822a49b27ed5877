"""Remove claims of conformance: PDF/A, PDF/UA, PDF/X and others. They are untrue once values and pages are added."""

import re

from pikepdf import Dictionary, Name, Pdf, Stream

SPACES = (
    "{http://www.aiim.org/pdfa/ns/id/}",
    "{http://www.aiim.org/pdfua/ns/id/}",
    "{http://www.aiim.org/pdfe/ns/id/}",
    "{http://www.npes.org/pdfx/ns/id/}",
    "{http://www.npes.org/pdfvt/ns/id/}",
    "{http://ns.adobe.com/pdfx/1.3/}GTS_PDFX",
)
# Metadata without any of these hold no claim. Reading them as XML takes 0.3 ms, and is left to those that have one,
# or that may write one in another way: by references to characters, or in an encoding that is not like ASCII.
SUSPECT = re.compile(rb"aiim\.org|npes\.org|GTS_PDFX|&|\0|<\?xml\s")
ENTRIES = ("/GTS_PDFXVersion", "/GTS_PDFXConformance", "/ISO_PDFEVersion")


def drop_claims(pdf: Pdf) -> bool:
    """Remove the claims and return whether there were any. Other metadata stay byte for byte."""
    return any([_drop_from_metadata(pdf), _drop_from_information(pdf)])


def _drop_from_metadata(pdf: Pdf) -> bool:
    if Name.Metadata not in pdf.Root:
        return False
    stored = pdf.Root.Metadata
    if isinstance(stored, Stream) and not SUSPECT.search(stored.read_bytes()):
        return False
    metadata = pdf.open_metadata(set_pikepdf_as_editor=False, update_docinfo=False)
    claims = {key for key in metadata if key.startswith(SPACES)}  # one may stand there more than once
    if claims:
        with metadata:
            for key in claims:
                del metadata[key]
    return bool(claims)


def _drop_from_information(pdf: Pdf) -> bool:
    found = pdf.trailer.get(Name.Info)
    if not isinstance(found, Dictionary):
        return False
    claims = [key for key in ENTRIES if key in found]
    for key in claims:
        del found[key]
    return bool(claims)
