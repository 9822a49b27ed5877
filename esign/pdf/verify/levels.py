"""Determine the PAdES level of a signature by the parts that it has (ETSI EN 319 142-1), regardless of their maker."""

from collections.abc import Iterator

from asn1crypto import x509

from esign.pdf.verify import certificate_evidence, revocation
from esign.pdf.verify.certificate_evidence import BROKEN, Evidence, StoredEvidence
from esign.pdf.verify.reasons import SignatureFinding
from esign.pdf.verify.time_stamps import JudgedStamp


def find_level(finding: SignatureFinding, proofs: Evidence) -> str | None:
    """Return the level, or None for older kinds of signature. A damaged time stamp does not count."""
    embedded = finding.embedded
    if embedded.sig_object.get("/SubFilter") != "/ETSI.CAdES.detached":
        return None
    later = [stamp for stamp in finding.stamps if stamp.whole and stamp.revision > embedded.signed_revision]
    if not finding.stamp_holds and not later:
        return "B-B"
    if not _is_store_relevant(
        certificate_evidence.read_store(embedded.reader), finding
    ) or not _has_revocation_proof(finding, proofs):
        return "B-T"
    return "B-LTA" if any(_is_archived_by(finding, stamp) for stamp in later) else "B-LT"


def _is_archived_by(finding: SignatureFinding, stamp: JudgedStamp) -> bool:
    """Return whether the time stamp covers the validation data too."""
    try:
        then = finding.embedded.reader.get_historical_resolver(stamp.revision)
        return _is_store_relevant(certificate_evidence.read_store(then), finding)
    except BROKEN:
        return False


def _is_store_relevant(store: StoredEvidence, finding: SignatureFinding) -> bool:
    """Return whether the DSS holds a certificate of this signature, or a proof about one."""
    known = {certificate.sha256: certificate for certificate in _list_certificates(finding)}
    return any(one.sha256 in known for one in store.certificates) or any(
        _is_about(proof, certificate) for proof in store.proofs for certificate in known.values()
    )


def _list_certificates(finding: SignatureFinding) -> Iterator[x509.Certificate]:
    """Yield the certificates of the signer and the time stamps, with their issuers if the chain is trusted."""
    yield finding.certificate
    if finding.stamp is not None:
        yield finding.stamp.signing_cert
    paths = [finding.status.validation_path, finding.stamp.validation_path if finding.stamp else None]
    for path in (*paths, *(stamp.path for stamp in finding.stamps)):
        if path is not None:
            yield from path.iter_certs(include_root=True)


def _has_revocation_proof(finding: SignatureFinding, proofs: Evidence) -> bool:
    """Return whether the file contains a revocation proof about the signer's certificate, if its issuer offers any."""
    certificate, path = finding.certificate, finding.status.validation_path
    if not revocation.has_revocation_source(certificate):
        return True
    about = [proof for proof in proofs.proofs if _is_about(proof, certificate)]
    # The issuer of a proof can be checked only if the certificate leads to a trusted root.
    return any(path is None or revocation.is_genuine(one, certificate, path, proofs) for one in about)


def _is_about(proof: certificate_evidence.Proof, certificate: x509.Certificate) -> bool:
    return any(True for _ in revocation.list_periods(proof, certificate))
