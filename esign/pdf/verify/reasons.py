"""Explain in plain sentences why a signature is not valid: what speaks against it, and what leaves it undecided."""

import re
from dataclasses import dataclass
from datetime import datetime

from asn1crypto import x509
from pyhanko.sign.diff_analysis import ModificationLevel
from pyhanko.sign.fields import enumerate_sig_fields
from pyhanko.sign.validation import EmbeddedPdfSignature, PdfSignatureStatus, SignatureCoverageLevel
from pyhanko.sign.validation.status import TimestampSignatureStatus

from esign.pdf.report import Addition, Coverage, Modification
from esign.pdf.verdict_sentences import (
    ADDED,
    BURDENED,
    CHANGED,
    DAMAGED_ARCHIVE,
    DAMAGED_STAMP,
    EXPIRED,
    FORM_FILLED,
    ISSUER_EXPIRED,
    MISMATCH,
    NOT_COMPARED,
    NOT_YET_VALID,
    OTHER_PURPOSE,
    OUTSIDE,
    PADDED,
    REVOCATION_UNKNOWN,
    REVOKED,
    TOO_EARLY,
    UNJUDGED_ARCHIVE,
    UNPROVED,
    UNRECOGNISED,
    UNSAFE_ALGORITHM,
    UNTRUSTED,
)
from esign.pdf.verify import revocation
from esign.pdf.verify.additions import Additions
from esign.pdf.verify.certificate_names import write_name
from esign.pdf.verify.revocation import RevocationStatus
from esign.pdf.verify.time_stamps import JudgedStamp

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
PROBLEMS = {
    "CHAIN_CONSTRAINTS_FAILURE": OTHER_PURPOSE,
    "EXPIRED": ISSUER_EXPIRED,
    "OUT_OF_BOUNDS_NO_POE": ISSUER_EXPIRED,
}


@dataclass(frozen=True, slots=True)
class SignatureFinding:
    """The findings about one signature.

    `at` is the time as of which its certificate is judged: now, unless a trusted time stamp proves an earlier
    time. `fits` says that it stands where its byte range says, `asked` that the revocation sources were asked.
    `additions` is what stands behind the revision that it covers. `padded` says that something other than zeros
    follows it or a document time stamp, `burdened` that one of them carries more than what was signed and what
    proves it.
    """

    embedded: EmbeddedPdfSignature
    status: PdfSignatureStatus
    stamp: TimestampSignatureStatus | None
    stamps: tuple[JudgedStamp, ...]
    at: datetime
    proved: bool
    fits: bool
    standing: RevocationStatus
    asked: bool
    additions: Additions | None = None
    padded: bool = False
    burdened: bool = False

    @property
    def certificate(self) -> x509.Certificate:
        return self.embedded.signer_cert

    @property
    def modification(self) -> Modification:
        if self.additions is not None and self.additions.is_proof:
            return "lta_updates"
        if self.additions is not None and self.status.modification_level is ModificationLevel.LTA_UPDATES:
            return "other"  # pyHanko counts it as proof, the strict grammar does not
        return MODIFICATION.get(self.status.modification_level, "other")

    @property
    def proof_added(self) -> tuple[Addition, ...]:
        """Return the kinds of proof behind what was signed, or none if there is anything else."""
        return self.additions.tail.additions if self.additions is not None and self.additions.is_proof else ()

    @property
    def stamp_holds(self) -> bool:
        return self.stamp is not None and bool(self.stamp.intact and self.stamp.valid)

    @property
    def anchor(self) -> bytes | None:
        """Return the SHA-256 of the trusted root to which the signer's certificate leads, or None."""
        if self.status.trust_problem_indic is not None or self.status.validation_path is None:
            return None
        anchor: x509.Certificate = self.status.validation_path.first
        return bytes(anchor.sha256)


def list_objections(finding: SignatureFinding) -> list[str]:
    """Return the reasons why the signature is invalid."""
    reasons = []
    if not finding.status.intact:
        reasons.append(CHANGED)
    if not finding.status.valid:
        reasons.append(MISMATCH)
    added = _find_addition_fault(finding)
    if added:
        reasons.append(added)
    if finding.proved and finding.at < finding.certificate.not_valid_before:
        reasons.append(TOO_EARLY)
    return reasons


def list_doubts(finding: SignatureFinding) -> list[str]:
    """Return the reasons that keep an intact signature from being valid."""
    reasons = []
    if finding.modification == "form_filling":
        reasons.append(FORM_FILLED)
    if finding.stamp is not None and not finding.stamp_holds:
        reasons.append(DAMAGED_STAMP)
    if not all(stamp.whole or not stamp.judged for stamp in finding.stamps):
        reasons.append(DAMAGED_ARCHIVE)
    if finding.additions is not None:
        if finding.additions.assumed:
            reasons.append(UNRECOGNISED)
        elif finding.additions.is_proof and finding.additions.alike is None:
            reasons.append(NOT_COMPARED)
    if not all(stamp.judged for stamp in finding.stamps):
        reasons.append(UNJUDGED_ARCHIVE)
    if finding.padded:
        reasons.append(PADDED)
    if finding.burdened:
        reasons.append(BURDENED)
    return [*reasons, *_list_certificate_doubts(finding)]


def _list_certificate_doubts(finding: SignatureFinding) -> list[str]:
    certificate, standing = finding.certificate, finding.standing
    first, last = certificate.not_valid_before, certificate.not_valid_after
    if standing.state == "revoked":
        return [_describe_revocation(finding)]
    if finding.at > last:
        return [EXPIRED[0 if finding.proved else 1].format(day=f"{last:%Y-%m-%d}")]
    if finding.at < first:
        return [] if finding.proved else [NOT_YET_VALID.format(day=f"{first:%Y-%m-%d}")]
    if finding.status.valid and finding.anchor is None:
        return [_describe_distrust(finding)]
    if finding.asked and standing.state == "not_checked" and _has_revocation_source(finding.status):
        return [REVOCATION_UNKNOWN]
    return []


def _describe_revocation(finding: SignatureFinding) -> str:
    standing = finding.standing
    assert standing.of is not None and standing.since is not None
    of_issuer = standing.of.sha256 != finding.certificate.sha256
    form = REVOKED[2 * of_issuer + (not finding.proved)]
    return form.format(issuer=write_name(standing.of.subject), day=f"{standing.since:%Y-%m-%d}")


def _has_revocation_source(status: PdfSignatureStatus) -> bool:
    path = status.validation_path
    return path is not None and any(
        map(revocation.has_revocation_source, path.iter_certs(include_root=False))
    )


def _describe_distrust(finding: SignatureFinding) -> str:
    status, certificate = finding.status, finding.certificate
    problem = getattr(status.trust_problem_indic, "name", None)
    issuer = write_name(certificate.issuer)
    if problem in ("CRYPTO_CONSTRAINTS_FAILURE", "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"):
        return UNSAFE_ALGORITHM.format(algorithm=status.md_algorithm)
    if certificate.subject == certificate.issuer or problem in (None, "NO_CERTIFICATE_CHAIN_FOUND"):
        return UNTRUSTED.format(issuer=issuer)
    known = PROBLEMS.get(problem)
    if known:
        return known.format(issuer=issuer)
    return UNPROVED.format(issuer=issuer)


def _find_addition_fault(finding: SignatureFinding) -> str | None:
    """Return what speaks against the bytes around the signature, or None."""
    status = finding.status
    if not finding.fits:
        return OUTSIDE
    if status.coverage is SignatureCoverageLevel.ENTIRE_FILE:
        return None
    if status.coverage is not SignatureCoverageLevel.ENTIRE_REVISION:
        return OUTSIDE
    additions = finding.additions
    if additions is not None and additions.is_proof:
        stamped = _has_stamps_only(finding) and additions.tail.stamps <= {
            s.field for s in finding.stamps if s.whole
        }
        return None if stamped and additions.alike is not False else ADDED
    level = status.modification_level
    allowed = level in (ModificationLevel.LTA_UPDATES, ModificationLevel.FORM_FILLING) and bool(
        status.docmdp_ok
    )
    if not allowed or not _has_clean_end(finding.embedded):
        return ADDED
    if level is ModificationLevel.FORM_FILLING:
        return None
    return None if additions is not None and additions.assumed and _has_stamps_only(finding) else ADDED


def _has_stamps_only(finding: SignatureFinding) -> bool:
    """Return whether all later signature fields are document time stamps, and these are unharmed."""
    embedded = finding.embedded
    signed = embedded.reader.get_historical_resolver(embedded.signed_revision)
    known = {name for name, _, _ in enumerate_sig_fields(signed)}
    later = {str(name) for name, _, _ in enumerate_sig_fields(embedded.reader) if name not in known}
    return later <= {stamp.field for stamp in finding.stamps if stamp.whole}


def _has_clean_end(embedded: EmbeddedPdfSignature) -> bool:
    """Return whether nothing follows the end mark of the last revision: such bytes would belong to no revision."""
    reader = embedded.reader
    last = reader.xrefs.get_xref_container_info(reader.xrefs.total_revisions - 1)
    reader.stream.seek(last.end_location)
    tail = reader.stream.read()
    return tail.count(b"%%EOF") == 1 and END.search(tail) is not None
