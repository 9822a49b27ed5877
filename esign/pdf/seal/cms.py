"""Encode the CMS signature of the seal directly: CAdES B-B and B-T (ETSI EN 319 142-1, RFC 5652, RFC 5035).

A general ASN.1 library spends ten times as long on this small structure as everything else in the seal takes.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from esign.core.der import (
    CONTEXT_0,
    CONTEXT_1,
    NULL,
    OCTETS,
    SEQUENCE,
    encode_attribute,
    encode_der,
    encode_integer,
    encode_oid,
    encode_set,
)
from esign.core.seal_credential import SealCertificate
from esign.core.sentence import say
from esign.pdf.seal_order import SealFailed
from esign.pdf.signer.signed_attributes import DATA, encode_signed_attributes

SIGNED_DATA = "1.2.840.113549.1.7.2"
TIME_STAMP = "1.2.840.113549.1.9.16.2.14"
DIGESTS = {
    "sha256": "2.16.840.1.101.3.4.2.1",
    "sha384": "2.16.840.1.101.3.4.2.2",
    "sha512": "2.16.840.1.101.3.4.2.3",
}


RSA = "1.2.840.113549.1.1.1"
ECDSA = {  # the identifier of ECDSA with each digest
    "sha256": "1.2.840.10045.4.3.2",
    "sha384": "1.2.840.10045.4.3.3",
    "sha512": "1.2.840.10045.4.3.4",
}


@dataclass(frozen=True, slots=True)
class SealKey:
    """What is public of the key of the seal, with the parts of the CMS that are the same in every seal.

    `digest` is the name of its hash function, `algorithm` the AlgorithmIdentifier of its signatures (DER),
    `public_size` the length of its SubjectPublicKeyInfo, `issued` the IssuerAndSerialNumber of the certificate in DER,
    `certificates` the whole certificate set.
    """

    digest: str
    algorithm: bytes
    public_size: int
    issued: bytes
    certificates: bytes
    certificate: x509.Certificate
    sha256: str

    @property
    def longest_cms(self) -> int:
        """Return how many bytes the parts of the CMS take at most that depend on the key, without a dry run.

        A signature is never longer than the public key in DER, which has the modulus or two coordinates in it.
        """
        return len(self.certificates) + len(self.issued) + self.public_size

    def build_signer_info(self, document_digest: bytes, signature: bytes) -> bytes:
        """Return the members of the SignerInfo for a document digest and the signature over its attributes.

        `build_cms` makes the CMS of them, with a time stamp over the signature or without.
        """
        attributes = encode_signed_attributes(bytes.fromhex(self.sha256), document_digest)
        members = (
            encode_integer(1),
            self.issued,
            self._encode_digest_algorithm(),
            bytes((CONTEXT_0,)) + attributes[1:],
            self.algorithm,
            encode_der(OCTETS, signature),
        )
        return b"".join(members)

    def build_cms(self, signer_info: bytes, token: bytes | None = None) -> bytes:
        """Return a detached SignedData with such a SignerInfo, with or without a time stamp token."""
        unsigned = (encode_der(CONTEXT_1, encode_attribute(TIME_STAMP, token)),) if token else ()
        signed_data = encode_der(
            SEQUENCE,
            encode_integer(1),
            encode_set(self._encode_digest_algorithm()),
            encode_der(SEQUENCE, encode_oid(DATA)),
            self.certificates,
            encode_set(encode_der(SEQUENCE, signer_info, *unsigned)),
        )
        return encode_der(SEQUENCE, encode_oid(SIGNED_DATA), encode_der(CONTEXT_0, signed_data))

    def _encode_digest_algorithm(self) -> bytes:
        return encode_der(SEQUENCE, encode_oid(DIGESTS[self.digest]))

    def require_current(self, now: datetime) -> None:
        """Raise `SealFailed` outside the certificate's validity period: a seal made then would never be valid."""
        first, last = self.certificate.not_valid_before_utc, self.certificate.not_valid_after_utc
        if now > last:
            raise SealFailed(
                say(
                    "The seal certificate expired on {time} UTC; install a new one, and the waiting documents are"
                    " sealed.",
                    time=f"{last:%Y-%m-%d %H:%M}",
                )
            )
        if now < first:
            raise SealFailed(
                say(
                    "The seal certificate is not valid before {time} UTC; check the server’s clock or install another"
                    " certificate.",
                    time=f"{first:%Y-%m-%d %H:%M}",
                )
            )

    @property
    def name(self) -> str:
        """Return the name of the sealer: the common name of the certificate, else its organisation, else the
        whole subject.
        """
        for oid in (x509.NameOID.COMMON_NAME, x509.NameOID.ORGANIZATION_NAME):
            for part in self.certificate.subject.get_attributes_for_oid(oid):
                return str(part.value)
        return self.certificate.subject.rfc4514_string()


@lru_cache(maxsize=8)
def load_key(seal: SealCertificate) -> SealKey:
    """Return what is public of the key of a seal certificate. Raises `SealFailed` if it cannot be read, or cannot seal.

    Cached per process, as reading certificates takes longer than the rest of the CMS.
    """
    try:
        certificate = x509.load_der_x509_certificate(seal.certificate_der)
        public = certificate.public_key()
    except ValueError as error:
        raise SealFailed("The seal certificate cannot be read; install it again.") from error
    if isinstance(public, rsa.RSAPublicKey):
        digest = "sha256"
        algorithm = encode_der(SEQUENCE, encode_oid(RSA), encode_der(NULL))
    elif isinstance(public, ec.EllipticCurvePublicKey):
        digest = "sha256" if public.key_size <= 256 else "sha384" if public.key_size <= 384 else "sha512"
        algorithm = encode_der(SEQUENCE, encode_oid(ECDSA[digest]))
    else:
        raise SealFailed(
            "The seal key is of a kind that cannot seal PDF files; use an RSA or elliptic-curve key."
        )
    chain = dict.fromkeys((seal.certificate_der, *seal.chain_der))
    return SealKey(
        digest=digest,
        algorithm=algorithm,
        public_size=len(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)),
        issued=encode_der(
            SEQUENCE, certificate.issuer.public_bytes(), encode_integer(certificate.serial_number)
        ),
        certificates=bytes((CONTEXT_0,)) + encode_set(*chain)[1:],
        certificate=certificate,
        sha256=hashlib.sha256(seal.certificate_der).hexdigest(),
    )
