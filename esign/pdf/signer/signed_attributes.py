"""Encode the attributes that the seal signs: CAdES (ETSI EN 319 122-1, RFC 5652 section 11, RFC 5035)."""

from esign.core.der import OCTETS, SEQUENCE, encode_attribute, encode_der, encode_oid, encode_set

DATA = "1.2.840.113549.1.7.1"
CONTENT_TYPE = "1.2.840.113549.1.9.3"
MESSAGE_DIGEST = "1.2.840.113549.1.9.4"
SIGNING_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.47"


def encode_signed_attributes(certificate_sha256: bytes, document_digest: bytes) -> bytes:
    """Return the attributes as a SET OF in DER, which is what is signed (RFC 5652, 5.4)."""
    identified = encode_der(
        SEQUENCE, encode_der(SEQUENCE, encode_der(SEQUENCE, encode_der(OCTETS, certificate_sha256)))
    )
    return encode_set(
        encode_attribute(CONTENT_TYPE, encode_oid(DATA)),
        encode_attribute(MESSAGE_DIGEST, encode_der(OCTETS, document_digest)),
        encode_attribute(SIGNING_CERTIFICATE_V2, identified),
    )
