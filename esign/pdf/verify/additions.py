"""Judge what was added behind a signature that does not cover the whole file, and whether readers still show
what was signed.

There are three checks, each of which can refuse: the strict grammar of proof (`proof_tail`), the objects of the
pages as qpdf reads them (`qpdf_crosscheck`), and the pages as PDFium draws and reads them (`page_compare`).
"""

import resource
from dataclasses import dataclass

import pypdfium2
from pyhanko.sign.diff_analysis import ModificationLevel
from pyhanko.sign.fields import MDPPerm
from pyhanko.sign.validation import EmbeddedPdfSignature, PdfSignatureStatus, SignatureCoverageLevel

from esign.pdf.verify import page_compare, proof_tail, qpdf_crosscheck
from esign.pdf.verify.proof_tail import ProofTail
from esign.system.clock import read_processor_seconds

RESERVE = 1.0  # seconds of processor time that the rest of a verification needs
LONGEST = 10.0  # seconds of processor time for drawing, where nothing else limits it


@dataclass(frozen=True, slots=True)
class Additions:
    """The judgement on what was added behind a signature.

    `alike` is true if readers show the same pages with and without the additions, and None if that was not
    found out. `assumed` is true if pyHanko counts the additions as proof, the strict grammar does not, and the
    signature allows more than proof: this is how proof by untested writers appears. The seals of esign allow
    nothing but proof (DocMDP 1).
    """

    tail: ProofTail
    alike: bool | None
    assumed: bool

    @property
    def is_proof(self) -> bool:
        return self.tail.fault is None


def judge_additions(
    embedded: EmbeddedPdfSignature, status: PdfSignatureStatus, fits: bool
) -> Additions | None:
    """Judge what was added behind a signature.

    Return None if nothing was added or if the signature does not cover a whole revision.
    """
    if not fits or embedded.coverage is not SignatureCoverageLevel.ENTIRE_REVISION:
        return None
    embedded.reader.stream.seek(0)
    file = embedded.reader.stream.read()
    _, _, behind, length = (int(number) for number in embedded.byte_range)
    signed = behind + length
    tail = proof_tail.judge_tail(file, signed)
    if tail.fault is None:
        alike = (
            _look_alike(file[:signed], file) if qpdf_crosscheck.is_confirmed_by_qpdf(file, signed) else False
        )
        return Additions(tail, alike, False)
    # What the grammar does not accept as proof is never valid, so the slow comparison of pages is skipped.
    assumed = (
        status.modification_level is ModificationLevel.LTA_UPDATES
        and embedded.docmdp_level is not MDPPerm.NO_CHANGES
        and qpdf_crosscheck.is_confirmed_by_qpdf(file, signed)
    )
    return Additions(tail, None, assumed)


def _look_alike(signed: bytes, whole: bytes) -> bool | None:
    try:
        return page_compare.is_look_identical(signed, whole, read_processor_seconds() + count_seconds_left())
    except pypdfium2.PdfiumError:
        return False


def count_seconds_left() -> float:
    """Return how many seconds of processor time drawing may take. A worker is ended when its own limit is used up."""
    limit, _ = resource.getrlimit(resource.RLIMIT_CPU)
    if limit == resource.RLIM_INFINITY:
        return LONGEST
    return min(LONGEST, limit - read_processor_seconds() - RESERVE)
