"""Encode the CMS signature of the seal directly: CAdES B-B and B-T (ETSI EN 319 142-1, RFC 5652, RFC 5035).

A general ASN.1 library spends ten times as long on this small structure as everything else in the seal takes.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from esign.core.der import (
    CONTEXT_0,
    CONTEXT_1,
    OCTETS,
    SEQUENCE,
    encode_attribute,
    encode_der,
    encode_integer,
    encode_oid,
    encode_set,
)
from esign.core.seal_credential import Credential
from esign.core.sentence import say
from esign.pdf.seal import signer
from esign.pdf.seal.signer import KeySigner
from esign.pdf.seal_order import SealFailed

DATA = "1.2.840.113549.1.7.1"
SIGNED_DATA = "1.2.840.113549.1.7.2"
CONTENT_TYPE = "1.2.840.113549.1.9.3"
MESSAGE_DIGEST = "1.2.840.113549.1.9.4"
SIGNING_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.47"
TIME_STAMP = "1.2.840.113549.1.9.16.2.14"
DIGESTS = {
    "sha256": "2.16.840.1.101.3.4.2.1",
    "sha384": "2.16.840.1.101.3.4.2.2",
    "sha512": "2.16.840.1.101.3.4.2.3",
}


@dataclass(frozen=True, slots=True)
class SealKey:
    """The key of the seal, with the parts of the CMS that are the same in every seal.

    `issued` is the IssuerAndSerialNumber of the certificate in DER, `certificates` the whole certificate set.
    """

    private: KeySigner
    issued: bytes
    certificates: bytes
    certificate: x509.Certificate
    sha256: str

    @property
    def digest(self) -> str:
        return self.private.digest

    @property
    def longest_cms(self) -> int:
        """Return how many bytes the parts of the CMS take at most that depend on the key, without a dry run.

        A signature is never longer than the public key in DER, which has the modulus or two coordinates in it.
        """
        return len(self.certificates) + len(self.issued) + len(self.private.public_der)

    def sign_digest(self, document_digest: bytes) -> tuple[bytes, bytes]:
        """Sign a document digest. Return the members of the SignerInfo and the bare signature.

        `cms` makes the CMS of them, with a time stamp over the signature or without.
        """
        identified = encode_der(
            SEQUENCE,
            encode_der(SEQUENCE, encode_der(SEQUENCE, encode_der(OCTETS, bytes.fromhex(self.sha256)))),
        )
        attributes = encode_set(
            encode_attribute(CONTENT_TYPE, encode_oid(DATA)),
            encode_attribute(MESSAGE_DIGEST, encode_der(OCTETS, document_digest)),
            encode_attribute(SIGNING_CERTIFICATE_V2, identified),
        )
        signature = self.private.sign(attributes)
        members = (
            encode_integer(1),
            self.issued,
            self._encode_digest_algorithm(),
            bytes((CONTEXT_0,)) + attributes[1:],
            self.private.algorithm,
            encode_der(OCTETS, signature),
        )
        return b"".join(members), signature

    def build_cms(self, signer_info: bytes, token: bytes | None = None) -> bytes:
        """Return a detached SignedData with the SignerInfo of `sign_digest`, with or without a time stamp token."""
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
def load_key(credential: Credential) -> SealKey:
    """Return the key of a credential. Raises `SealFailed` if key and certificate cannot be read or do not match.

    Keys are cached per process: loading an RSA key takes 30 times as long as signing with it.
    """
    private = signer.build_signer(credential)
    try:
        certificate = x509.load_der_x509_certificate(credential.certificate_der)
    except ValueError as error:
        raise SealFailed("The seal certificate cannot be read; install it again.") from error
    shape = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if private.public_der != certificate.public_key().public_bytes(*shape):
        raise SealFailed("The seal key does not belong to the seal certificate; install the two together.")
    chain = dict.fromkeys((credential.certificate_der, *credential.chain_der))
    return SealKey(
        private=private,
        issued=encode_der(
            SEQUENCE, certificate.issuer.public_bytes(), encode_integer(certificate.serial_number)
        ),
        certificates=bytes((CONTEXT_0,)) + encode_set(*chain)[1:],
        certificate=certificate,
        sha256=hashlib.sha256(credential.certificate_der).hexdigest(),
    )
