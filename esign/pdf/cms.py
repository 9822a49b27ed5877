"""The CMS signature inside the seal, encoded directly: CAdES B-B and B-T (ETSI EN 319 142-1, RFC 5652, RFC 5035).

A general ASN.1 library spends ten times the time of everything else in the seal on this one small structure.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512, HashAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_private_key

from esign.core.credential import Credential
from esign.core.der import (
    CONTEXT_0,
    CONTEXT_1,
    NULL,
    OCTETS,
    SEQUENCE,
    attribute,
    der,
    der_integer,
    der_oid,
    der_set,
)
from esign.pdf.order import SealFailed

DATA = "1.2.840.113549.1.7.1"
SIGNED_DATA = "1.2.840.113549.1.7.2"
CONTENT_TYPE = "1.2.840.113549.1.9.3"
MESSAGE_DIGEST = "1.2.840.113549.1.9.4"
SIGNING_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.47"
TIME_STAMP = "1.2.840.113549.1.9.16.2.14"
RSA = "1.2.840.113549.1.1.1"
DIGESTS: dict[str, tuple[HashAlgorithm, str, str]] = {  # name: algorithm, its identifier, ECDSA with it
    "sha256": (SHA256(), "2.16.840.1.101.3.4.2.1", "1.2.840.10045.4.3.2"),
    "sha384": (SHA384(), "2.16.840.1.101.3.4.2.2", "1.2.840.10045.4.3.3"),
    "sha512": (SHA512(), "2.16.840.1.101.3.4.2.3", "1.2.840.10045.4.3.4"),
}


@dataclass(frozen=True, slots=True)
class Key:
    """A private key ready to sign, with everything of the CMS that stays the same from seal to seal."""

    digest: str
    sign: Callable[[bytes], bytes]
    signer: bytes
    signature_algorithm: bytes
    certificates: bytes
    certificate: x509.Certificate
    sha256: str

    def sign_digest(self, document_digest: bytes) -> tuple[bytes, bytes]:
        """What `cms` needs to be made with or without a time stamp: the SignerInfo's members, and the signature."""
        identified = der(SEQUENCE, der(SEQUENCE, der(SEQUENCE, der(OCTETS, bytes.fromhex(self.sha256)))))
        attributes = der_set(
            attribute(CONTENT_TYPE, der_oid(DATA)),
            attribute(MESSAGE_DIGEST, der(OCTETS, document_digest)),
            attribute(SIGNING_CERTIFICATE_V2, identified),
        )
        signature = self.sign(attributes)
        members = (
            der_integer(1),
            self.signer,
            self._digest_algorithm(),
            bytes((CONTEXT_0,)) + attributes[1:],
            self.signature_algorithm,
            der(OCTETS, signature),
        )
        return b"".join(members), signature

    def cms(self, signer_info: bytes, token: bytes | None = None) -> bytes:
        """A detached SignedData around what `sign_digest` made, with a time stamp over its signature or without."""
        unsigned = (der(CONTEXT_1, attribute(TIME_STAMP, token)),) if token else ()
        signed_data = der(
            SEQUENCE,
            der_integer(1),
            der_set(self._digest_algorithm()),
            der(SEQUENCE, der_oid(DATA)),
            self.certificates,
            der_set(der(SEQUENCE, signer_info, *unsigned)),
        )
        return der(SEQUENCE, der_oid(SIGNED_DATA), der(CONTEXT_0, signed_data))

    def _digest_algorithm(self) -> bytes:
        return der(SEQUENCE, der_oid(DIGESTS[self.digest][1]))

    def require_current(self, now: datetime) -> None:
        """Raise `SealFailed` outside the certificate's period: a seal made then would never be valid."""
        first, last = self.certificate.not_valid_before_utc, self.certificate.not_valid_after_utc
        if now > last:
            raise SealFailed(
                f"The seal certificate has expired on {last:%Y-%m-%d %H:%M} UTC; install a new one, and the documents"
                " that wait are sealed."
            )
        if now < first:
            raise SealFailed(
                f"The seal certificate is not valid before {first:%Y-%m-%d %H:%M} UTC; check this machine's clock or"
                " install another certificate."
            )

    @property
    def name(self) -> str:
        """Who seals: the common name of the certificate, else its organisation, else the whole subject."""
        for oid in (x509.NameOID.COMMON_NAME, x509.NameOID.ORGANIZATION_NAME):
            for part in self.certificate.subject.get_attributes_for_oid(oid):
                return str(part.value)
        return self.certificate.subject.rfc4514_string()


def _signing(key: object) -> tuple[str, bytes, Callable[[bytes], bytes]]:
    """Digest, signature algorithm and signing function of an RSA or elliptic-curve key."""
    if isinstance(key, rsa.RSAPrivateKey):
        algorithm = der(SEQUENCE, der_oid(RSA), der(NULL))
        return "sha256", algorithm, lambda message: key.sign(message, padding.PKCS1v15(), SHA256())
    if isinstance(key, ec.EllipticCurvePrivateKey):
        digest = "sha256" if key.key_size <= 256 else "sha384" if key.key_size <= 384 else "sha512"
        hashing, _, identifier = DIGESTS[digest]
        return (
            digest,
            der(SEQUENCE, der_oid(identifier)),
            lambda message: key.sign(message, ec.ECDSA(hashing)),
        )
    raise SealFailed(
        "The seal key is of a kind that cannot seal PDF files; use an RSA or elliptic-curve key."
    )


@lru_cache(maxsize=8)
def load(credential: Credential) -> Key:
    """Read the key once per process: loading an RSA key takes 30 times as long as signing with it."""
    try:
        private = load_der_private_key(credential.key_der, None)
        certificate = x509.load_der_x509_certificate(credential.certificate_der)
    except (ValueError, TypeError) as error:
        raise SealFailed("The seal key or its certificate cannot be read; install it again.") from error
    digest, algorithm, sign = _signing(private)
    shape = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if private.public_key().public_bytes(*shape) != certificate.public_key().public_bytes(*shape):
        raise SealFailed("The seal key does not belong to the seal certificate; install the two together.")
    chain = dict.fromkeys((credential.certificate_der, *credential.chain_der))
    return Key(
        digest=digest,
        sign=sign,
        signer=der(SEQUENCE, certificate.issuer.public_bytes(), der_integer(certificate.serial_number)),
        signature_algorithm=algorithm,
        certificates=bytes((CONTEXT_0,)) + der_set(*chain)[1:],
        certificate=certificate,
        sha256=hashlib.sha256(credential.certificate_der).hexdigest(),
    )
