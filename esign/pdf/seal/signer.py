"""Sign with the private key of the seal. This is the only place where the key is used.

A token (PKCS#11) or a remote service can implement `KeySigner` without giving its key away; `build_signer` will choose
between them by the credential. So far the credential contains the key itself, and this process signs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512, HashAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_private_key

from esign.core.der import NULL, SEQUENCE, encode_der, encode_oid
from esign.core.seal_credential import Credential
from esign.pdf.seal_order import SealFailed

RSA = "1.2.840.113549.1.1.1"
ECDSA: dict[str, tuple[HashAlgorithm, str]] = {  # with each digest, and the identifier of the two
    "sha256": (SHA256(), "1.2.840.10045.4.3.2"),
    "sha384": (SHA384(), "1.2.840.10045.4.3.3"),
    "sha512": (SHA512(), "1.2.840.10045.4.3.4"),
}


class KeySigner(Protocol):
    """Signs with a private key.

    `digest` is the name of its hash function, `algorithm` the AlgorithmIdentifier of its signatures (DER), and
    `public_der` the SubjectPublicKeyInfo of its key.
    """

    @property
    def digest(self) -> str: ...
    @property
    def algorithm(self) -> bytes: ...
    @property
    def public_der(self) -> bytes: ...

    def sign(self, message: bytes) -> bytes:
        """Return the signature over a message, which the signer hashes itself. Raises `SealFailed`."""
        ...


@dataclass(frozen=True, slots=True)
class InProcessSigner:
    """A key in the memory of this process."""

    digest: str
    algorithm: bytes
    public_der: bytes
    sign: Callable[[bytes], bytes]


def build_signer(credential: Credential) -> KeySigner:
    """Return the signer for a credential. Raises `SealFailed` for a key that cannot sign PDF files."""
    try:
        key = load_der_private_key(credential.key_der, None)
    except (ValueError, TypeError) as error:
        raise SealFailed("The seal key cannot be read; install it again.") from error
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if isinstance(key, rsa.RSAPrivateKey):
        algorithm = encode_der(SEQUENCE, encode_oid(RSA), encode_der(NULL))
        return InProcessSigner(
            "sha256", algorithm, public, lambda text: key.sign(text, padding.PKCS1v15(), SHA256())
        )
    if isinstance(key, ec.EllipticCurvePrivateKey):
        digest = "sha256" if key.key_size <= 256 else "sha384" if key.key_size <= 384 else "sha512"
        hashing, identifier = ECDSA[digest]
        algorithm = encode_der(SEQUENCE, encode_oid(identifier))
        return InProcessSigner(digest, algorithm, public, lambda text: key.sign(text, ec.ECDSA(hashing)))
    raise SealFailed(
        "The seal key is of a kind that cannot seal PDF files; use an RSA or elliptic-curve key."
    )
