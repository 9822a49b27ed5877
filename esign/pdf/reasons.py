"""Why a signature is not judged valid, in plain words: what speaks against it, and what leaves it undecided."""

import re
from dataclasses import dataclass
from datetime import datetime

from asn1crypto import x509
from pyhanko.sign.diff_analysis import ModificationLevel
from pyhanko.sign.fields import enumerate_sig_fields
from pyhanko.sign.validation import EmbeddedPdfSignature, PdfSignatureStatus, SignatureCoverageLevel
from pyhanko.sign.validation.status import TimestampSignatureStatus

from esign.pdf import revocation, second
from esign.pdf.naming import name
from esign.pdf.revocation import Standing
from esign.pdf.stamps import Stamp
from esign.pdf.verification import (
    ADDED,
    CHANGED,
    DAMAGED_ARCHIVE,
    DAMAGED_STAMP,
    EXPIRED,
    MISMATCH,
    OUTSIDE,
    REVOKED,
    TOO_EARLY,
    Coverage,
    Modification,
)

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
    "CHAIN_CONSTRAINTS_FAILURE": "The certificate, or one of its issuers, is not meant for signing documents.",
    "EXPIRED": "The certificate of the issuer “{issuer}” has expired.",
    "OUT_OF_BOUNDS_NO_POE": "The certificate of the issuer “{issuer}” has expired.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one signature.

    `at`: as of when its certificate is judged, which is now where no trusted time stamp proves an earlier time;
    `fits`: it stands where its byte range says; `asked`: the sources of revocation were asked.
    """

    embedded: EmbeddedPdfSignature
    status: PdfSignatureStatus
    stamp: TimestampSignatureStatus | None
    stamps: tuple[Stamp, ...]
    at: datetime
    proved: bool
    fits: bool
    standing: Standing
    asked: bool

    @property
    def certificate(self) -> x509.Certificate:
        return self.embedded.signer_cert

    @property
    def modification(self) -> Modification:
        return MODIFICATION.get(self.status.modification_level, "other")

    @property
    def stamp_holds(self) -> bool:
        return self.stamp is not None and bool(self.stamp.intact and self.stamp.valid)

    @property
    def anchor(self) -> bytes | None:
        """The SHA-256 of the trusted certificate the signer's leads to."""
        if self.status.trust_problem_indic is not None or self.status.validation_path is None:
            return None
        anchor: x509.Certificate = self.status.validation_path.first
        return bytes(anchor.sha256)


def against(finding: Finding) -> list[str]:
    """Why the signature fails for good."""
    reasons = []
    if not finding.status.intact:
        reasons.append(CHANGED)
    if not finding.status.valid:
        reasons.append(MISMATCH)
    added = _added(finding)
    if added:
        reasons.append(added)
    if finding.proved and finding.at < finding.certificate.not_valid_before:
        reasons.append(TOO_EARLY)
    return reasons


def doubts(finding: Finding) -> list[str]:
    """What keeps an unharmed signature from being judged valid."""
    reasons = []
    if finding.modification == "form_filling":
        reasons.append(
            "Form values or a further signature were added after it was signed, and it does not vouch for them."
        )
    if finding.stamp is not None and not finding.stamp_holds:
        reasons.append(DAMAGED_STAMP)
    if not all(stamp.whole for stamp in finding.stamps):
        reasons.append(DAMAGED_ARCHIVE)
    return [*reasons, *_of_certificate(finding)]


def _of_certificate(finding: Finding) -> list[str]:
    certificate, standing = finding.certificate, finding.standing
    first, last = certificate.not_valid_before, certificate.not_valid_after
    if standing.state == "revoked":
        return [_revoked(finding)]
    if finding.at > last:
        proof = (
            "the time stamp is younger" if finding.proved else "no time stamp proves that it was used before"
        )
        return [f"{EXPIRED} {last:%Y-%m-%d}, and {proof}."]
    if finding.at < first:
        return [] if finding.proved else [f"The certificate is not valid before {first:%Y-%m-%d}."]
    if finding.status.valid and finding.anchor is None:
        return [_distrust(finding)]
    if finding.asked and standing.state == "not_checked" and _declares(finding.status):
        return ["Whether the certificate was revoked could not be found out."]
    return []


def _revoked(finding: Finding) -> str:
    standing = finding.standing
    assert standing.of is not None and standing.since is not None
    whose = "The certificate"
    if standing.of.sha256 != finding.certificate.sha256:
        whose = f"The certificate of the issuer “{name(standing.of.subject)}”"
    proof = "the time stamp is younger" if finding.proved else "no time stamp proves that it was used before"
    return f"{whose} {REVOKED} {standing.since:%Y-%m-%d}, and {proof}."


def _declares(status: PdfSignatureStatus) -> bool:
    path = status.validation_path
    return path is not None and any(map(revocation.declared, path.iter_certs(include_root=False)))


def _distrust(finding: Finding) -> str:
    status, certificate = finding.status, finding.certificate
    problem = getattr(status.trust_problem_indic, "name", None)
    issuer = name(certificate.issuer)
    if problem in ("CRYPTO_CONSTRAINTS_FAILURE", "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"):
        return f"The signature uses an algorithm that is no longer safe ({status.md_algorithm})."
    if certificate.subject == certificate.issuer or problem in (None, "NO_CERTIFICATE_CHAIN_FOUND"):
        return f"The certificate was issued by “{issuer}”, which is not among the authorities trusted here."
    known = PROBLEMS.get(problem)
    if known:
        return known.format(issuer=issuer)
    return f"The certificate issued by “{issuer}” could not be checked up to a trusted authority."


def _added(finding: Finding) -> str | None:
    """What speaks against the bytes around the signature; None if there are none, or only validation data."""
    status, modification = finding.status, finding.modification
    if not finding.fits:
        return OUTSIDE
    if status.coverage is SignatureCoverageLevel.ENTIRE_FILE:
        return None
    if status.coverage is not SignatureCoverageLevel.ENTIRE_REVISION:
        return OUTSIDE
    allowed = modification in ("lta_updates", "form_filling") and bool(status.docmdp_ok)
    if not allowed or not _ends_cleanly(finding.embedded):
        return ADDED
    archived = modification != "lta_updates" or (_stamped_only(finding) and _read_alike(finding.embedded))
    return None if archived else ADDED


def _stamped_only(finding: Finding) -> bool:
    """Whether the signature fields that came later are document time stamps, and these are unharmed."""
    embedded = finding.embedded
    signed = embedded.reader.get_historical_resolver(embedded.signed_revision)
    known = {name for name, _, _ in enumerate_sig_fields(signed)}
    later = {str(name) for name, _, _ in enumerate_sig_fields(embedded.reader) if name not in known}
    return later <= {stamp.field for stamp in finding.stamps if stamp.whole}


def _read_alike(embedded: EmbeddedPdfSignature) -> bool:
    """Whether readers that find their way through the file differently find the same pages."""
    _, _, behind, length = embedded.byte_range
    embedded.reader.stream.seek(0)
    return second.agrees(embedded.reader.stream.read(), int(behind) + int(length))


def _ends_cleanly(embedded: EmbeddedPdfSignature) -> bool:
    """Whether nothing follows the end mark of the last revision: what stands there belongs to no revision."""
    reader = embedded.reader
    last = reader.xrefs.get_xref_container_info(reader.xrefs.total_revisions - 1)
    reader.stream.seek(last.end_location)
    tail = reader.stream.read()
    return tail.count(b"%%EOF") == 1 and END.search(tail) is not None
