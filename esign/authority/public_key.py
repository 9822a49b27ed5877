"""Compare and judge the public key of a certificate."""

from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import PublicKeyAlgorithmOID


class Oddity(NamedTuple):
    """Why other programs cannot read the key in a file, and what a suitable certificate needs, as sentences."""

    cause: str
    need: str


def is_pair(key: object, certificate: x509.Certificate) -> bool:
    own = key.public_key()  # type: ignore[attr-defined]  # each has one
    return bool(
        own.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) == _encode_public_key(certificate)
    )


def find_oddity(certificate: x509.Certificate) -> Oddity | None:
    """Return what makes PDF readers or our own verification refuse seals by this certificate's key, or None."""
    if certificate.public_key_algorithm_oid == PublicKeyAlgorithmOID.RSASSA_PSS:
        return Oddity(
            "The seal certificate in {file} is only for RSASSA-PSS signatures, which many PDF readers cannot"
            " check.",
            "It must be for a plain RSA key (openssl req -newkey rsa:3072) or one on P-256.",
        )
    if certificate.public_key_algorithm_oid != PublicKeyAlgorithmOID.EC_PUBLIC_KEY:
        return None
    plain = _encode_public_key(certificate)
    if plain is not None and plain not in certificate.tbs_certificate_bytes:
        return Oddity(
            "The seal certificate in {file} writes its key in an unusual form, the curve by its numbers or the point"
            " compressed, which PDF readers refuse.",
            "Its curve must have a name (openssl ec -param_enc named_curve -conv_form uncompressed).",
        )
    return None


def _encode_public_key(certificate: x509.Certificate) -> bytes | None:
    """Return the public key in its usual encoding, or None if its kind is not known here."""
    try:
        return certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except (ValueError, UnsupportedAlgorithm):
        return None
