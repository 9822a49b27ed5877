"""Why a signature is not judged valid, in plain words: what speaks against it, and what leaves it undecided."""

import io
import re
from typing import Literal

from asn1crypto import x509
from pyhanko.pdf_utils.generic import DictionaryObject
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.diff_analysis import ModificationLevel
from pyhanko.sign.fields import enumerate_sig_fields
from pyhanko.sign.validation import (
    EmbeddedPdfSignature,
    PdfSignatureStatus,
    SignatureCoverageLevel,
    validate_pdf_timestamp,
)
from pyhanko_certvalidator import ValidationContext

from esign.core.instant import Instant, to_datetime
from esign.pdf.verification import ADDED, CHANGED, MISMATCH, OUTSIDE

Coverage = Literal["entire_file", "entire_revision", "contiguous", "unclear"]
Modification = Literal["none", "lta_updates", "form_filling", "annotations", "other"]

COVERAGE: dict[SignatureCoverageLevel | None, Coverage] = {
    SignatureCoverageLevel.ENTIRE_FILE: "entire_file",
    SignatureCoverageLevel.ENTIRE_REVISION: "entire_revision",
    SignatureCoverageLevel.CONTIGUOUS_BLOCK_FROM_START: "contiguous",
    SignatureCoverageLevel.UNCLEAR: "unclear",
}
MODIFICATION: dict[ModificationLevel | None, Modification] = {
    ModificationLevel.NONE: "none",
    ModificationLevel.LTA_UPDATES: "lta_updates",
    ModificationLevel.FORM_FILLING: "form_filling",
    ModificationLevel.ANNOTATIONS: "annotations",
}
END = re.compile(rb"startxref\s+\d+\s+%%EOF\s*\Z")


def against(
    embedded: EmbeddedPdfSignature, status: PdfSignatureStatus, modification: Modification
) -> list[str]:
    """Why the signature fails for good."""
    reasons = []
    if not status.intact:
        reasons.append(CHANGED)
    if not status.valid:
        reasons.append(MISMATCH)
    added = _added(embedded, status, modification)
    return [*reasons, added] if added else reasons


def doubts(
    status: PdfSignatureStatus, certificate: x509.Certificate, modification: Modification, now: Instant
) -> list[str]:
    """What keeps an unharmed signature from being judged valid."""
    at = to_datetime(now)
    first, last = certificate.not_valid_before, certificate.not_valid_after
    reasons = []
    if modification == "form_filling":
        reasons.append(
            "Form values or a further signature were added after it was signed, and it does not vouch for them."
        )
    if at > last:
        reasons.append(
            f"The certificate expired on {last:%Y-%m-%d}, and no time stamp proves that it was used before."
        )
    elif at < first:
        reasons.append(f"The certificate is not valid before {first:%Y-%m-%d}.")
    elif status.valid and anchor(status) is None:
        reasons.append(_distrust(status, certificate))
    return reasons


def _distrust(status: PdfSignatureStatus, certificate: x509.Certificate) -> str:
    problem = getattr(status.trust_problem_indic, "name", None)
    issuer = name(certificate.issuer)
    if status.revoked:
        return "The certificate was revoked."
    if problem in ("CRYPTO_CONSTRAINTS_FAILURE", "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"):
        return f"The signature uses an algorithm that is no longer safe ({status.md_algorithm})."
    if certificate.subject == certificate.issuer or problem in (None, "NO_CERTIFICATE_CHAIN_FOUND"):
        return f"The certificate was issued by “{issuer}”, which is not among the authorities trusted here."
    if problem == "CHAIN_CONSTRAINTS_FAILURE":
        return "The certificate, or one of its issuers, is not meant for signing documents."
    if problem in ("EXPIRED", "OUT_OF_BOUNDS_NO_POE"):
        return f"The certificate of the issuer “{issuer}” has expired."
    return f"The certificate issued by “{issuer}” could not be checked up to a trusted authority."


def _added(
    embedded: EmbeddedPdfSignature, status: PdfSignatureStatus, modification: Modification
) -> str | None:
    """What speaks against the bytes behind the signature; None if there are none, or only validation data."""
    if status.coverage is SignatureCoverageLevel.ENTIRE_FILE:
        return None
    if status.coverage is not SignatureCoverageLevel.ENTIRE_REVISION:
        return OUTSIDE
    allowed = modification in ("lta_updates", "form_filling") and bool(status.docmdp_ok)
    unsigned = modification == "lta_updates" and not _stamped_only(embedded)
    if not allowed or unsigned or not _ends_cleanly(embedded):
        return ADDED
    return None


def _stamped_only(embedded: EmbeddedPdfSignature) -> bool:
    """Whether the signature fields that came later are document time stamps, and these are unharmed."""
    signed = embedded.reader.get_historical_resolver(embedded.signed_revision)
    known = {name for name, _, _ in enumerate_sig_fields(signed)}
    later = [(name, field) for name, _, field in enumerate_sig_fields(embedded.reader) if name not in known]
    return all(_unharmed_stamp(embedded.reader, name, field.get_object()) for name, field in later)


def _unharmed_stamp(reader: PdfFileReader, name: str, field: DictionaryObject) -> bool:
    if "/V" not in field:
        return False
    stamp = EmbeddedPdfSignature(reader, field, name)
    if stamp.sig_object_type != "/DocTimeStamp":
        return False
    status = validate_pdf_timestamp(stamp, ValidationContext(trust_roots=[], allow_fetching=False))
    return bool(status.intact and status.valid)


def _ends_cleanly(embedded: EmbeddedPdfSignature) -> bool:
    """Whether nothing follows the end mark of the last revision: what stands there belongs to no revision."""
    stream = embedded.reader.stream
    stream.seek(0, io.SEEK_END)
    stream.seek(max(0, stream.tell() - 64))
    return END.search(stream.read()) is not None


def anchor(status: PdfSignatureStatus) -> bytes | None:
    """The SHA-256 of the trusted certificate the signer's leads to."""
    if status.trust_problem_indic is not None or status.validation_path is None:
        return None
    anchor: x509.Certificate = status.validation_path.first
    return bytes(anchor.sha256)


def name(name: x509.Name) -> str:
    """The common name or what comes closest; certificates of others may hold anything."""
    native = name.native
    for part in ("common_name", "organization_name"):
        value = native.get(part)
        if value:
            return str(value[0] if isinstance(value, list) else value)
    return str(name.human_friendly)
