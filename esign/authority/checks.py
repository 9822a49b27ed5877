"""Check that documents can be sealed with a key and its certificate, and report all problems at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import MD5, SHA1
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from esign.authority import public_key
from esign.core.seal_credential import Credential

Extension = TypeVar("Extension", bound=x509.ExtensionType)
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

KEYS = "RSA with 2048 bits or more, or P-256, P-384, P-521"
BRAINPOOL = (ec.BrainpoolP256R1, ec.BrainpoolP384R1, ec.BrainpoolP512R1)
CURVES = (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1, *BRAINPOOL)
ELSEWHERE = {  # PDF readers refuse a seal by a certificate that is only for these
    ExtendedKeyUsageOID.SERVER_AUTH: "TLS servers",
    ExtendedKeyUsageOID.CLIENT_AUTH: "TLS clients",
    ExtendedKeyUsageOID.TIME_STAMPING: "time stamps",
    ExtendedKeyUsageOID.OCSP_SIGNING: "answers about revocation",
}
# Exceptions of a malformed certificate, when it is loaded or only when one of its parts is accessed.
UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion, x509.DuplicateExtension)
ENDING = "seal certificate ends soon"
SOON = timedelta(days=60)


class AuthorityError(Exception):
    """The seal cannot be set up; each of `problems` is a sentence with a cause and its remedy."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__(" ".join(problems))


@dataclass(frozen=True, slots=True)
class MaterialSource:
    """Where key and certificate come from, as phrases for messages; `another` says how to use others."""

    key: str
    certificate: str
    secret: str
    another: str

    @property
    def what(self) -> str:
        return f"The seal certificate in {self.certificate}"


@dataclass(frozen=True, slots=True)
class SealMaterial:
    """A key, its certificate and `others`, which are in no order and may not belong to the certificate."""

    key: object
    certificate: x509.Certificate
    others: tuple[x509.Certificate, ...] = ()

    @property
    def chain(self) -> list[x509.Certificate]:
        return build_chain(self.certificate, self.others)

    @property
    def anchor_der(self) -> bytes:
        """Return the certificate (DER) at the top of the chain, which has to be trusted."""
        return (self.certificate, *self.chain)[-1].public_bytes(Encoding.DER)

    @property
    def credential(self) -> Credential:
        assert isinstance(self.key, PrivateKey), "it was examined before"
        return build_credential(self.key, self.certificate, self.others)


class SealNotice(NamedTuple):
    """A remark that forbids nothing: a short form without names, and a sentence with the remedy."""

    brief: str
    sentence: str


@dataclass(frozen=True, slots=True)
class MaterialFindings:
    """The result of the checks.

    `problems` forbid the use, `dates` is a sentence if the certificate is not valid now, and `notices` forbid
    nothing.
    """

    problems: tuple[str, ...]
    dates: str | None
    notices: tuple[SealNotice, ...]


def build_credential(
    key: PrivateKey, certificate: x509.Certificate, others: Sequence[x509.Certificate]
) -> Credential:
    return Credential(
        key_der=key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
        certificate_der=certificate.public_bytes(Encoding.DER),
        chain_der=tuple(issuer.public_bytes(Encoding.DER) for issuer in build_chain(certificate, others)),
    )


def build_chain(certificate: x509.Certificate, others: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    """Return the issuers of a certificate in order, as far as they are among `others`.

    Several issuers can have the same name, so each is confirmed by its signature.
    """
    chain = [certificate]
    while chain[-1].issuer != chain[-1].subject:
        above = next((one for one in others if one not in chain and is_issued_by(chain[-1], one)), None)
        if above is None:
            break
        chain.append(above)
    return chain[1:]


def is_issued_by(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def examine_material(material: SealMaterial, at: datetime, source: MaterialSource) -> MaterialFindings:
    """Return everything that speaks against sealing with this material.

    Raises `AuthorityError` if it cannot be examined.
    """
    certificate = material.certificate
    try:
        return MaterialFindings(
            problems=(
                *_check_key(material, source),
                *_check_form(certificate, source),
                *_check_use(certificate, source),
                *_check_hash(material, source),
            ),
            dates=describe_lapse(certificate, at, source.what, source.another),
            notices=(
                *_note_curve(material.key, source),
                *_note_chain(material, at, source),
                *_note_end(certificate, at, source),
            ),
        )
    except UNREADABLE as error:
        raise AuthorityError(
            f"{source.what}, or one above it, is damaged or issued in a way that is not known here; {source.another}."
        ) from error


# ---------- the key ----------


def _check_form(certificate: x509.Certificate, source: MaterialSource) -> Iterator[str]:
    if (odd := public_key.find_oddity(certificate)) is not None:
        yield f"{source.what} {odd.cause}; {source.another}, {odd.remedy}."


def _check_key(material: SealMaterial, source: MaterialSource) -> Iterator[str]:
    key, held = material.key, f"{source.key} holds"
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size < 2048:
        yield f"{held} a weak key, RSA with {key.key_size} bits, which readers of PDFs refuse; use {KEYS}."
    elif isinstance(key, ec.EllipticCurvePrivateKey) and key.key_size < 256:
        yield f"{held} a weak key, on the curve {key.curve.name}, which readers of PDFs refuse; use {KEYS}."
    elif not (isinstance(key, rsa.RSAPrivateKey) or _is_on_known_curve(key)):
        yield f"{held} a key that cannot seal; use {KEYS}."
    if not public_key.is_pair(key, material.certificate):
        yield f"The key in {source.key} does not belong to its certificate; put the matching two in place."


def _is_on_known_curve(key: object) -> bool:
    return isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, CURVES)


def _note_curve(key: object, source: MaterialSource) -> Iterator[SealNotice]:
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, BRAINPOOL):
        yield SealNotice(
            "not every reader of PDFs knows the curve of the seal key",
            f"{source.key} holds a key on the curve {key.curve.name}, which not every reader of PDFs knows: those that"
            " do not call each seal invalid; P-256 is known to all.",
        )


def require_supported_key(key: object, path: object) -> PrivateKey:
    """Return the key if documents can be sealed with it. Raises `AuthorityError`."""
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size >= 2048:
        return key
    if isinstance(key, ec.EllipticCurvePrivateKey) and _is_on_known_curve(key):
        return key
    raise AuthorityError(f"{path} holds a key that cannot seal; use {KEYS}.")


def require_pair(key: PrivateKey, certificate: x509.Certificate, where: str) -> None:
    if not public_key.is_pair(key, certificate):
        raise AuthorityError(
            f"The key in {where} does not belong to its certificate; put the matching two in place."
        )


# ---------- the purpose of the certificate ----------


def _check_use(certificate: x509.Certificate, source: MaterialSource) -> Iterator[str]:
    """Yield problems with its purpose; a certificate without these extensions may be used for anything (RFC 5280)."""
    constraints = _find_extension(certificate, x509.BasicConstraints)
    if constraints is not None and constraints.ca:
        yield (
            f"{source.what} is that of a certification authority (CA:TRUE), which issues certificates and seals no"
            f" documents; {source.another}, made with CA:FALSE."
        )
    usage = _find_extension(certificate, x509.KeyUsage)
    if usage is not None and not (usage.digital_signature or usage.content_commitment):
        yield (
            f"{source.what} may not be used for signatures: its key usage names neither digitalSignature nor"
            f" nonRepudiation; {source.another}, issued for signing documents."
        )
    purposes = _find_extension(certificate, x509.ExtendedKeyUsage)
    if purposes is not None and all(purpose in ELSEWHERE for purpose in purposes):
        for_these = " and ".join(sorted(ELSEWHERE[purpose] for purpose in purposes))
        yield (
            f"{source.what} is for {for_these} alone (extended key usage), so that readers of PDFs refuse it;"
            f" {source.another}, issued for signing documents."
        )


def _find_extension(certificate: x509.Certificate, kind: type[Extension]) -> Extension | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _check_hash(material: SealMaterial, source: MaterialSource) -> Iterator[str]:
    """Yield weak hashes of the certificate and its issuers; the signature of a root on itself does not matter."""
    below_a_root = [issuer for issuer in material.chain if issuer.issuer != issuer.subject]
    for certificate in (material.certificate, *below_a_root):
        hashed = certificate.signature_hash_algorithm
        if isinstance(hashed, SHA1 | MD5):
            yield (
                f"The certificate of “{read_name(certificate.subject)}” in {source.certificate} was issued with"
                f" {hashed.name.upper().replace('SHA1', 'SHA-1')}, which readers of PDFs refuse; {source.another},"
                " issued with SHA-256."
            )


def _note_chain(material: SealMaterial, at: datetime, source: MaterialSource) -> Iterator[SealNotice]:
    """Yield notices about a chain that PDF readers may be unable to follow to a root that they know."""
    top = (material.certificate, *material.chain)[-1]
    if top.issuer != top.subject:
        yield SealNotice(
            "chain of the seal certificate not complete",
            f"The chain in {source.certificate} is not complete: the certificate of “{read_name(top.issuer)}”, which"
            f" issued “{read_name(top.subject)}”, is missing, so that readers of PDFs may not find out who sealed;"
            " add it.",
        )
    for issuer in material.chain:
        if at > issuer.not_valid_after_utc:
            yield SealNotice(
                "an issuer of the seal certificate has expired",
                f"The certificate of “{read_name(issuer.subject)}” in {source.certificate} has expired on"
                f" {issuer.not_valid_after_utc:%Y-%m-%d}; ask for the current one, and put it in its place.",
            )


# ---------- dates ----------


def describe_lapse(certificate: x509.Certificate, at: datetime, what: str, remedy: str) -> str | None:
    """Return a sentence with the remedy if `at` lies outside the certificate's dates, or None."""
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if at > last:
        return f"{what} has expired on {last:%Y-%m-%d}; {remedy}."
    if at < first:
        return f"{what} is not valid before {first:%Y-%m-%d}; check this machine's clock, or {remedy}."
    return None


def _note_end(certificate: x509.Certificate, at: datetime, source: MaterialSource) -> Iterator[SealNotice]:
    last = certificate.not_valid_after_utc
    if at <= last < at + SOON:
        yield SealNotice(ENDING, f"{source.what} ends on {last:%Y-%m-%d}; {source.another} before.")


def read_name(name: x509.Name) -> str:
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else name.rfc4514_string()
