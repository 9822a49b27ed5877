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

from esign.core.der import CONTEXT_0, CONTEXT_1, INTEGER, NULL, OCTETS, OID, SEQUENCE, SET, der, der_oid

SIGNED_DATA = der_oid("1.2.840.113549.1.7.2")
TIME_STAMP = der_oid("1.2.840.113549.1.9.16.2.14")
PSS = der_oid("1.2.840.113549.1.1.10")
VERSIONS = {bytes((number,)) for number in (1, 3, 4, 5)}
MOST = 100  # certificates, and proofs of revocation, in one signature
LONGEST_PARAMETERS = 80  # bytes of those of RSASSA-PSS: two hashes, a length, a trailer


class Member(NamedTuple):
    """One ASN.1 element: its tag byte, its content, and all of its bytes."""

    tag: int
    content: bytes
    whole: bytes


class Odd(ValueError):
    """Raised if the signature contains more than it needs, or something else."""


def is_bare(signature: bytes) -> bool:
    """Return whether a signature contains nothing but what was signed and what proves it.

    Allowed besides the signature itself are certificates related to the signer's, revocation lists issued by
    these, and at most one time stamp, for which the same holds. Bytes behind the signature are not examined.
    """
    return _holds(signature, stamp_allowed=True)


def is_bare_token(token: bytes) -> bool:
    """Return the same for a time stamp, which may not carry a time stamp itself."""
    return _holds(token, stamp_allowed=False)


def _holds(signature: bytes, *, stamp_allowed: bool) -> bool:
    try:
        _check(signature[: parser.peek(signature)], stamp_allowed)
    except (ValueError, IndexError, RecursionError, UnsupportedAlgorithm):
        return False
    return True


def _check(signature: bytes, stamp_allowed: bool) -> None:
    [outer] = _members(signature, SEQUENCE)
    kind, held = _members(outer.content, OID, CONTEXT_0)
    [signed] = _members(held.content, SEQUENCE)
    _need(kind.whole == SIGNED_DATA)
    version, algorithms, content, *more = _members(signed.content)
    _need(version.tag == INTEGER and version.content in VERSIONS and algorithms.tag == SET)
    [algorithm] = _members(algorithms.content)
    _check_algorithm(algorithm)
    _need(content.tag == SEQUENCE and len(more) > 0)
    certificates = _members(more.pop(0).content, most=MOST) if more[0].tag == CONTEXT_0 else []
    proofs = _members(more.pop(0).content, most=MOST) if more[0].tag == CONTEXT_1 else []
    [signers] = more
    _need(signers.tag == SET)
    [signer] = _members(signers.content, SEQUENCE)
    stamp = _check_signer(signer, stamp_allowed)
    _check_proofs(proofs, _related([one.whole for one in certificates], signer))
    if stamp is not None:
        _check(stamp, False)


def _check_signer(signer: Member, stamp_allowed: bool) -> bytes | None:
    """Return the time stamp on a SignerInfo, if any. Raises `Odd` for anything that a SignerInfo does not need."""
    version, identifier, digest, *more = _members(signer.content)
    _need(version.tag == INTEGER and version.content in VERSIONS)
    _check_algorithm(digest)
    if more[0].tag == CONTEXT_0:  # the signed attributes
        more.pop(0)
    algorithm, signature, *unsigned = more
    _check_algorithm(algorithm)
    _need(signature.tag == OCTETS and identifier.tag in (SEQUENCE, 0x80))
    if not unsigned:
        return None
    [held] = unsigned
    _need(stamp_allowed and held.tag == CONTEXT_1)
    [attribute] = _members(held.content, SEQUENCE)
    kind, values = _members(attribute.content, OID, SET)
    [stamp] = _members(values.content, SEQUENCE)
    _need(kind.whole == TIME_STAMP)
    return stamp.whole


def _check_algorithm(algorithm: Member) -> None:
    """Raise `Odd` if an algorithm has parameters, except those of RSASSA-PSS."""
    _need(algorithm.tag == SEQUENCE)
    kind, *parameters = _members(algorithm.content)
    _need(kind.tag == OID and len(kind.content) < 16)
    if parameters:
        [one] = parameters
        pss = kind.whole == PSS and len(one.whole) <= LONGEST_PARAMETERS
        _need(pss or one.whole == der(NULL))


def _check_proofs(proofs: Sequence[Member], issuers: Sequence[x509.Certificate]) -> None:
    """Raise `Odd` unless each proof is a revocation list signed by one of the issuers."""
    for proof in proofs:
        listed = x509.load_der_x509_crl(proof.whole)
        _need(any(_made(listed, issuer) for issuer in issuers))


def _made(listed: x509.CertificateRevocationList, issuer: x509.Certificate) -> bool:
    try:
        return listed.is_signature_valid(issuer.public_key())  # type: ignore[arg-type]  # other kinds raise TypeError
    except (UnsupportedAlgorithm, ValueError, TypeError):
        return False


def _related(certificates: Sequence[bytes], signer: Member) -> list[x509.Certificate]:
    """Return the certificates. Raises `Odd` if one is not linked to the signer's by who issued whom."""
    held = [x509.load_der_x509_certificate(one) for one in certificates]
    related = list(dict.fromkeys(one for one in held if _is_of(one, signer)))
    for known in related:  # the loop extends the list that it iterates over
        left = [one for one in held if one not in related]
        related += dict.fromkeys(one for one in left if _issued(known, one) or _issued(one, known))
    _need(len(related) == len(held))
    return related


def _is_of(certificate: x509.Certificate, signer: Member) -> bool:
    """Return whether a SignerInfo names the certificate, by its serial number or its key identifier."""
    identifier = _members(signer.content)[1]
    if identifier.tag == SEQUENCE:
        number = _members(identifier.content, SEQUENCE, INTEGER)[1]
        return certificate.serial_number == int.from_bytes(number.content, "big", signed=True)
    known = certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    return known.value.digest == identifier.content


def _issued(certificate: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(by)
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError):
        return False
    return True


def _members(content: bytes, *tags: int, most: int = 20) -> list[Member]:
    """Return the elements of which the bytes consist. Raises `Odd` unless they have these tags, if any are given."""
    found: list[Member] = []
    view = content
    while view:
        _need(len(found) < most)
        _, _, _, header, body, trailer = parser.parse(view, strict=False)
        whole = view[: len(header) + len(body) + len(trailer)]
        _need(bool(trailer) or header == der(header[0], body)[: len(header)])
        found.append(Member(header[0], body, whole))
        view = view[len(whole) :]
    _need(not tags or [one.tag for one in found] == [*tags])
    return found


def _need(holds: bool) -> None:
    if not holds:
        raise Odd
