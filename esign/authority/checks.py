"""What a key and its certificate must fulfil before anything is sealed with them."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from esign.core.credential import Credential

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


class AuthorityError(Exception):
    """The seal cannot be set up; one sentence with the cause and the remedy."""


def credential(
    key: PrivateKey, certificate: x509.Certificate, others: Sequence[x509.Certificate]
) -> Credential:
    return Credential(
        key_der=key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
        certificate_der=certificate.public_bytes(Encoding.DER),
        chain_der=tuple(issuer.public_bytes(Encoding.DER) for issuer in chain(certificate, others)),
    )


def chain(certificate: x509.Certificate, others: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    """The issuers in order, as far as they are at hand."""
    chain = [certificate]
    while chain[-1].issuer != chain[-1].subject:
        above = [other for other in others if other.subject == chain[-1].issuer and other not in chain]
        if not above:
            break
        chain.append(above[0])
    return chain[1:]


def supported(key: object, path: Path) -> PrivateKey:
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size >= 2048:
        return key
    if isinstance(key, ec.EllipticCurvePrivateKey) and key.key_size >= 256:
        return key
    raise AuthorityError(
        f"{path} holds a key that cannot seal; use RSA with 2048 bits or more, or P-256, P-384, P-521."
    )


def require_pair(key: PrivateKey, certificate: x509.Certificate, where: str) -> None:
    shape = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if key.public_key().public_bytes(*shape) != certificate.public_key().public_bytes(*shape):
        raise AuthorityError(
            f"The key in {where} does not belong to its certificate; put the matching two in place."
        )


def lapsed(certificate: x509.Certificate, at: datetime, what: str, remedy: str) -> str | None:
    """A sentence with the remedy where `at` lies outside the certificate's dates."""
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if at > last:
        return f"{what} has expired on {last:%Y-%m-%d}; {remedy}."
    if at < first:
        return f"{what} is not valid before {first:%Y-%m-%d}; check this machine's clock, or {remedy}."
    return None
