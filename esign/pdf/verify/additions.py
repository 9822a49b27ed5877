"""What stands behind a signature that does not cover the whole file, and whether readers still show what was signed.

Three looks, each enough to refuse: the strict grammar of proof (`proof_tail`), the objects of the pages by qpdf
(`second`), and the pages as pdfium draws and reads them (`page_compare`).
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
    """`alike`: readers show the same pages with and without what was added; None: that was not found out.

    `assumed`: pyHanko takes for proof what the strict grammar does not, and the signature allows more than proof. So
    it is with writers of proof that nobody has tried here. The seals of esign allow nothing but proof (DocMDP 1).
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
    """Judge what stands behind a signature; None where nothing does, or where it does not cover a whole revision."""
    if not fits or embedded.coverage is not SignatureCoverageLevel.ENTIRE_REVISION:
        return None
    embedded.reader.stream.seek(0)
    file = embedded.reader.stream.read()
    _, _, behind, length = (int(number) for number in embedded.byte_range)
    signed = behind + length
    tail = proof_tail.judge_tail(file, signed)
    if tail.fault is None:
        alike = _look_alike(file[:signed], file) if qpdf_crosscheck.agrees(file, signed) else False
        return Additions(tail, alike, False)
    # What is no proof by the grammar is never valid, whatever it looks like.
    assumed = (
        status.modification_level is ModificationLevel.LTA_UPDATES
        and embedded.docmdp_level is not MDPPerm.NO_CHANGES
        and qpdf_crosscheck.agrees(file, signed)
    )
    return Additions(tail, None, assumed)


def _look_alike(signed: bytes, whole: bytes) -> bool | None:
    try:
        return page_compare.look_alike(signed, whole, read_processor_seconds() + seconds_left())
    except pypdfium2.PdfiumError:
        return False


def seconds_left() -> float:
    """Return how many seconds of processor time drawing may take: a worker ends when its own are used up."""
    limit, _ = resource.getrlimit(resource.RLIMIT_CPU)
    if limit == resource.RLIM_INFINITY:
        return LONGEST
    return min(LONGEST, limit - read_processor_seconds() - RESERVE)
