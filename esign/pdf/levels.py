"""The PAdES level that a signature has the parts of (ETSI EN 319 142-1), whoever made them."""

from asn1crypto import x509

from esign.pdf import revocation
from esign.pdf.evidence import BROKEN, Evidence
from esign.pdf.reasons import Finding
from esign.pdf.stamps import Stamp


def level(finding: Finding, evidence: Evidence) -> str | None:
    """None for the older kinds of signature; a damaged time stamp lifts none."""
    embedded = finding.embedded
    if embedded.sig_object.get("/SubFilter") != "/ETSI.CAdES.detached":
        return None
    later = [stamp for stamp in finding.stamps if stamp.whole and stamp.revision > embedded.signed_revision]
    if not finding.stamp_holds and not later:
        return "B-B"
    if "/DSS" not in embedded.reader.root or not _provable(finding.certificate, evidence):
        return "B-T"
    return "B-LTA" if any(_archives(finding, stamp) for stamp in later) else "B-LT"


def _archives(finding: Finding, stamp: Stamp) -> bool:
    """Whether the stamp covers the validation data too."""
    try:
        return "/DSS" in finding.embedded.reader.get_historical_root(stamp.revision)
    except BROKEN:
        return False


def _provable(certificate: x509.Certificate, evidence: Evidence) -> bool:
    """Whether the file says if the certificate was revoked, as far as anybody can say."""
    if not revocation.declared(certificate):
        return True
    return any(any(True for _ in revocation.times(proof, certificate)) for proof in evidence.proofs)
