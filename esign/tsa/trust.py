"""Decide whether the certificate of a time stamp that was kept leads to a trusted root (RFC 5280, 6.1).

Revocation is not looked at: nothing about it was kept with the stamp.
"""

from collections.abc import Sequence

from asn1crypto import cms, x509
from cryptography.exceptions import InvalidSignature
from cryptography.x509 import load_der_x509_certificate
from pyhanko_certvalidator import CertificateValidator, ValidationContext
from pyhanko_certvalidator.errors import PathError, ValidationError

from esign.core.instant import Instant, to_datetime


async def leads_to_root(token: bytes, signer: bytes, roots: Sequence[bytes], at: Instant) -> bool:
    """Return whether the signer of a token leads to a root by the certificates in it, all of them valid at that time.

    `token` was checked before; certificates are DER.
    """
    given = cms.ContentInfo.load(token)["content"]["certificates"]
    context = ValidationContext(
        trust_roots=[x509.Certificate.load(root) for root in roots],
        moment=to_datetime(at),
        allow_fetching=False,
        revocation_mode="none",
    )
    between = [each.chosen for each in given if each.name == "certificate"]
    validator = CertificateValidator(x509.Certificate.load(signer), between, context)
    try:
        await validator.async_validate_usage(set(), {"time_stamping"})  # type: ignore[no-untyped-call]
    except (PathError, ValidationError, ValueError):
        return False
    return True


def is_issued_by(certificate: bytes, issuer: bytes) -> bool:
    """Return whether the issuer's key signed the certificate in its name."""
    try:
        issued = load_der_x509_certificate(certificate)
        issued.verify_directly_issued_by(load_der_x509_certificate(issuer))
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
