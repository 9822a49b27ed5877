"""Decide whether the certificate of a time stamp leads to a trusted root (RFC 5280, 6.1, without revocation)."""

from collections.abc import Sequence

from asn1crypto import cms
from cryptography import x509
from cryptography.exceptions import InvalidSignature

from esign.core.instant import Instant, to_datetime

LONGEST = 8  # certificates from a signer to its root


def leads_to_root(token: bytes, signer: bytes, roots: Sequence[bytes], at: Instant) -> bool:
    """Return whether the signer of a token leads to a root by the certificates in it, all of them valid at that time.

    `token` was checked before; certificates are DER.
    """
    given = cms.ContentInfo.load(token)["content"]["certificates"]
    between = [each.chosen.dump() for each in given if each.name == "certificate"]
    current = signer
    for _ in range(LONGEST):
        if current in roots:
            return True
        if any(is_issued_by(current, root) for root in roots):
            return True
        issuers = (each for each in between if is_authority(each, at) and is_issued_by(current, each))
        following = next(issuers, None)
        if following is None:
            return False
        current = following
    return False


def is_issued_by(certificate: bytes, issuer: bytes) -> bool:
    """Return whether the issuer's key signed the certificate in its name."""
    try:
        issued = x509.load_der_x509_certificate(certificate)
        issued.verify_directly_issued_by(x509.load_der_x509_certificate(issuer))
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def is_authority(certificate: bytes, at: Instant) -> bool:
    """Return whether a certificate may issue others, and is valid at that time."""
    try:
        loaded = x509.load_der_x509_certificate(certificate)
        basic = loaded.extensions.get_extension_for_class(x509.BasicConstraints).value
    except (ValueError, x509.ExtensionNotFound):
        return False
    return basic.ca and loaded.not_valid_before_utc <= to_datetime(at) <= loaded.not_valid_after_utc
