"""Judge the time stamps over the whole document, and how far back trusted ones prove that a signature existed.

The newest is judged as of now, each older one as of the time that the next newer one proves. So a chain of time
stamps outlives its certificates (ETSI EN 319 102-1, 5.6).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from pyhanko.sign.validation import EmbeddedPdfSignature, SignatureCoverageLevel, validate_pdf_timestamp
from pyhanko_certvalidator.path import ValidationPath

from esign.pdf.report import DocumentTimestamp
from esign.pdf.verify import revocation, signature_gap
from esign.pdf.verify.certificate_evidence import BROKEN, GAVE_UP, Evidence
from esign.pdf.verify.certificate_names import write_moment, write_name


@dataclass(frozen=True, slots=True)
class JudgedStamp:
    """The judgement on one document time stamp.

    `revision` is the revision in which it was added, and which it covers. `whole` says that it is unharmed,
    whoever made it. `judged` is false if the program could not check it. `padded` and `burdened` are explained
    in `signature_gap`.
    """

    field: str
    revision: int
    whole: bool
    proves: datetime | None
    told: DocumentTimestamp
    path: ValidationPath | None = None
    judged: bool = True
    padded: bool = False
    burdened: bool = False


def judge_stamps(
    embedded: Iterable[EmbeddedPdfSignature], evidence: Evidence, now: datetime
) -> list[JudgedStamp]:
    """Judge the document time stamps and return them, the oldest first."""
    stamps: list[JudgedStamp] = []
    for stamp in sorted(embedded, key=lambda stamp: stamp.signed_revision, reverse=True):
        stamps.append(_judge_stamp(stamp, evidence, find_proven_time(stamps, stamp.signed_revision) or now))
    return stamps[::-1]


def find_proven_time(stamps: Iterable[JudgedStamp], revision: int) -> datetime | None:
    """Return the earliest time at which, by the trusted time stamps behind it, that revision existed, or None."""
    return min((s.proves for s in stamps if s.proves is not None and s.revision > revision), default=None)


def _judge_stamp(embedded: EmbeddedPdfSignature, evidence: Evidence, at: datetime) -> JudgedStamp:
    try:
        status = validate_pdf_timestamp(embedded, evidence.at(at), skip_diff=True)
        covers = embedded.coverage is not None and embedded.coverage >= SignatureCoverageLevel.ENTIRE_REVISION
        whole = bool(status.intact and status.valid and covers and signature_gap.is_in_gap(embedded))
        revoked = revocation.find_status(status.validation_path, at, evidence).state == "revoked"
        trusted = whole and status.trusted and not revoked
        told: DocumentTimestamp = {
            "fieldName": str(embedded.field_name),
            "valid": whole,
            "trusted": trusted,
            "time": write_moment(status.timestamp),
            "authority": write_name(status.signing_cert.subject),
        }
        proves = status.timestamp if trusted else None
        return JudgedStamp(
            str(embedded.field_name),
            embedded.signed_revision,
            whole,
            proves,
            told,
            status.validation_path,
            padded=signature_gap.carries_more(embedded),
            burdened=signature_gap.is_burdened(embedded),
        )
    except GAVE_UP:
        return replace(build_broken_stamp(str(embedded.field_name), embedded.signed_revision), judged=False)
    except BROKEN:
        return build_broken_stamp(str(embedded.field_name), embedded.signed_revision)


def build_broken_stamp(field: str, revision: int = 0) -> JudgedStamp:
    told: DocumentTimestamp = {
        "fieldName": field,
        "valid": False,
        "trusted": False,
        "time": None,
        "authority": "",
    }
    return JudgedStamp(field, revision, False, None, told)
