"""Sign with the private key of the seal. This is the only place where the key is used.

Only the signer process imports this module, and tests. A token (PKCS#11) or a remote service would take its place
there.
"""

import hashlib
from contextlib import suppress

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512, HashAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
)

from esign.pdf.signer.signed_attributes import encode_signed_attributes

CURVE_HASHES: dict[int, HashAlgorithm] = {
    32: SHA256(),
    48: SHA384(),
    64: SHA512(),
}  # by the bytes of their digests

UNREADABLE = "The seal key cannot be read; install it again."
UNMATCHED = "The seal key does not belong to the seal certificate; install the two together."
UNSUITABLE = "The seal key is of a kind that cannot seal PDF files; use an RSA or elliptic-curve key."
NO_DIGEST = "What is to be signed is no digest of a file."


class RefusedToSign(Exception):
    """The key cannot be used, or not for this; the message is a sentence for the operator."""


class SigningKey:
    """A private key with its certificate (DER both; the key is PKCS#8 without a passphrase).

    Raises `RefusedToSign` if it cannot be read, cannot seal, or does not belong to the certificate.
    """

    def __init__(self, certificate_der: bytes, key_der: bytes) -> None:
        try:
            key = load_der_private_key(key_der, None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise RefusedToSign(UNREADABLE) from error
        if not isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
            raise RefusedToSign(UNSUITABLE)
        public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        if public not in certificate_der:  # which contains it as it is (RFC 5280, 4.1)
            raise RefusedToSign(UNMATCHED)
        self._key = key
        self._size = 32 if isinstance(key, rsa.RSAPrivateKey) else choose_digest_size(key.key_size)
        self._certificate_sha256 = hashlib.sha256(certificate_der).digest()

    def sign_digest(self, document_digest: bytes) -> bytes:
        """Return the signature over the signed attributes of a file with this digest. Raises `RefusedToSign`."""
        if len(document_digest) != self._size:
            raise RefusedToSign(NO_DIGEST)
        attributes = encode_signed_attributes(self._certificate_sha256, document_digest)
        if isinstance(self._key, rsa.RSAPrivateKey):
            return self._key.sign(attributes, padding.PKCS1v15(), SHA256())
        return self._key.sign(attributes, ec.ECDSA(CURVE_HASHES[self._size]))


def rehearse_signing() -> None:
    """Sign once with a key made for it, so that the library imports what it otherwise would when it is confined."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    private = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    SigningKey(public, private).sign_digest(bytes(32))
    with suppress(RefusedToSign):
        SigningKey(public, b"")


def choose_digest_size(key_bits: int) -> int:
    """Return how many bytes the digest for a key on a curve has: as strong as the curve (RFC 5480, 4)."""
    return 32 if key_bits <= 256 else 48 if key_bits <= 384 else 64
