"""Find out whether a signature (CMS, RFC 5652) carries anything besides what its signer signed and what proves it.

The bytes of a signature are the one part of a file that no hash covers. Unsigned attributes, further
certificates and unread parameters leave room to insert other content later, and the signature still holds. ETSI
EN 319 142-1, 6.3, knows one unsigned attribute, the time stamp. Lengths may be in BER, as some programs write
them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from asn1crypto import parser
from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

from esign.core.der import (
    CONTEXT_0,
    CONTEXT_1,
    INTEGER,
    NULL,
    OCTETS,
    OID,
    SEQUENCE,
    SET,
    encode_der,
    encode_oid,
)

SIGNED_DATA = encode_oid("1.2.840.113549.1.7.2")
TIME_STAMP = encode_oid("1.2.840.113549.1.9.16.2.14")
PSS = encode_oid("1.2.840.113549.1.1.10")
VERSIONS = {bytes((number,)) for number in (1, 3, 4, 5)}
MOST = 100  # certificates, and proofs of revocation, in one signature
LONGEST_PARAMETERS = 80  # bytes of those of RSASSA-PSS: two hashes, a length, a trailer


class Asn1Element(NamedTuple):
    """One ASN.1 element: its tag byte, its content, and all of its bytes."""

    tag: int
    content: bytes
    whole: bytes


class OddEnvelope(ValueError):
    """Raised if the signature contains more than it needs, or something else."""


def is_bare(signature: bytes) -> bool:
    """Return whether a signature contains nothing but what was signed and what proves it.

    Allowed besides the signature itself are certificates related to the signer's, revocation lists issued by
    these, and at most one time stamp, for which the same holds. Bytes behind the signature are not examined.
    """
    return _is_accepted(signature, stamp_allowed=True)


def is_bare_token(token: bytes) -> bool:
    """Return the same for a time stamp, which may not carry a time stamp itself."""
    return _is_accepted(token, stamp_allowed=False)


def _is_accepted(signature: bytes, *, stamp_allowed: bool) -> bool:
    try:
        _check_signature(signature[: parser.peek(signature)], stamp_allowed)
    except (ValueError, IndexError, RecursionError, UnsupportedAlgorithm):
        return False
    return True


def _check_signature(signature: bytes, stamp_allowed: bool) -> None:
    [outer] = _parse_members(signature, SEQUENCE)
    kind, held = _parse_members(outer.content, OID, CONTEXT_0)
    [signed] = _parse_members(held.content, SEQUENCE)
    _require(kind.whole == SIGNED_DATA)
    version, algorithms, content, *more = _parse_members(signed.content)
    _require(version.tag == INTEGER and version.content in VERSIONS and algorithms.tag == SET)
    [algorithm] = _parse_members(algorithms.content)
    _check_algorithm(algorithm)
    _require(content.tag == SEQUENCE and len(more) > 0)
    certificates = _parse_members(more.pop(0).content, most=MOST) if more[0].tag == CONTEXT_0 else []
    proofs = _parse_members(more.pop(0).content, most=MOST) if more[0].tag == CONTEXT_1 else []
    [signers] = more
    _require(signers.tag == SET)
    [signer] = _parse_members(signers.content, SEQUENCE)
    stamp = _check_signer(signer, stamp_allowed)
    _check_proofs(proofs, _load_related([one.whole for one in certificates], signer))
    if stamp is not None:
        _check_signature(stamp, False)


def _check_signer(signer: Asn1Element, stamp_allowed: bool) -> bytes | None:
    """Return the time stamp on a SignerInfo, if any. Raises `OddEnvelope` for what a SignerInfo does not need."""
    version, identifier, digest, *more = _parse_members(signer.content)
    _require(version.tag == INTEGER and version.content in VERSIONS)
    _check_algorithm(digest)
    if more[0].tag == CONTEXT_0:  # the signed attributes
        more.pop(0)
    algorithm, signature, *unsigned = more
    _check_algorithm(algorithm)
    _require(signature.tag == OCTETS and identifier.tag in (SEQUENCE, 0x80))
    if not unsigned:
        return None
    [held] = unsigned
    _require(stamp_allowed and held.tag == CONTEXT_1)
    [attribute] = _parse_members(held.content, SEQUENCE)
    kind, values = _parse_members(attribute.content, OID, SET)
    [stamp] = _parse_members(values.content, SEQUENCE)
    _require(kind.whole == TIME_STAMP)
    return stamp.whole


def _check_algorithm(algorithm: Asn1Element) -> None:
    """Raise `OddEnvelope` if an algorithm has parameters, except those of RSASSA-PSS."""
    _require(algorithm.tag == SEQUENCE)
    kind, *parameters = _parse_members(algorithm.content)
    _require(kind.tag == OID and len(kind.content) < 16)
    if parameters:
        [one] = parameters
        pss = kind.whole == PSS and len(one.whole) <= LONGEST_PARAMETERS
        _require(pss or one.whole == encode_der(NULL))


def _check_proofs(proofs: Sequence[Asn1Element], issuers: Sequence[x509.Certificate]) -> None:
    """Raise `OddEnvelope` unless each proof is a revocation list signed by one of the issuers."""
    for proof in proofs:
        listed = x509.load_der_x509_crl(proof.whole)
        _require(any(_is_made_by(listed, issuer) for issuer in issuers))


def _is_made_by(listed: x509.CertificateRevocationList, issuer: x509.Certificate) -> bool:
    try:
        return listed.is_signature_valid(issuer.public_key())  # type: ignore[arg-type]  # other kinds raise TypeError
    except (UnsupportedAlgorithm, ValueError, TypeError):
        return False


def _load_related(certificates: Sequence[bytes], signer: Asn1Element) -> list[x509.Certificate]:
    """Return the certificates. Raises `OddEnvelope` if one is not linked to the signer's by who issued whom."""
    held = [x509.load_der_x509_certificate(one) for one in certificates]
    related = list(dict.fromkeys(one for one in held if _is_named_by(one, signer)))
    for known in related:  # the loop extends the list that it iterates over
        left = [one for one in held if one not in related]
        related += dict.fromkeys(
            one for one in left if _is_issued_by(known, one) or _is_issued_by(one, known)
        )
    _require(len(related) == len(held))
    return related


def _is_named_by(certificate: x509.Certificate, signer: Asn1Element) -> bool:
    """Return whether a SignerInfo names the certificate, by its serial number or its key identifier."""
    identifier = _parse_members(signer.content)[1]
    if identifier.tag == SEQUENCE:
        number = _parse_members(identifier.content, SEQUENCE, INTEGER)[1]
        return certificate.serial_number == int.from_bytes(number.content, "big", signed=True)
    known = certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    return known.value.digest == identifier.content


def _is_issued_by(certificate: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(by)
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError):
        return False
    return True


def _parse_members(content: bytes, *tags: int, most: int = 20) -> list[Asn1Element]:
    """Return the elements of which the bytes consist. Raises `OddEnvelope` unless they have the given tags."""
    found: list[Asn1Element] = []
    view = content
    while view:
        _require(len(found) < most)
        _, _, _, header, body, trailer = parser.parse(view, strict=False)
        whole = view[: len(header) + len(body) + len(trailer)]
        _require(bool(trailer) or header == encode_der(header[0], body)[: len(header)])
        found.append(Asn1Element(header[0], body, whole))
        view = view[len(whole) :]
    _require(not tags or [one.tag for one in found] == [*tags])
    return found


def _require(holds: bool) -> None:
    if not holds:
        raise OddEnvelope
