"""Check that documents can be sealed with a key and its certificate, and report all problems at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import MD5, SHA1
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from esign.authority import public_key
from esign.core.seal_credential import Credential
from esign.core.sentence import join, say

Extension = TypeVar("Extension", bound=x509.ExtensionType)
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

NO_SEALING_KEY = (
    "{file} holds a key that cannot seal; use RSA with 2048 bits or more, or P-256, P-384, P-521."
)
UNMATCHED = "The key in {file} does not belong to its certificate; put the matching two in place."
FOR_DOCUMENTS = "It must be issued for signing documents."
BRAINPOOL = (ec.BrainpoolP256R1, ec.BrainpoolP384R1, ec.BrainpoolP512R1)
CURVES = (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1, *BRAINPOOL)
ELSEWHERE = {  # PDF readers refuse a seal by a certificate that is only for these
    ExtendedKeyUsageOID.SERVER_AUTH: "serverAuth",
    ExtendedKeyUsageOID.CLIENT_AUTH: "clientAuth",
    ExtendedKeyUsageOID.TIME_STAMPING: "timeStamping",
    ExtendedKeyUsageOID.OCSP_SIGNING: "OCSPSigning",
}
DAMAGED = (
    "The seal certificate in {file}, or one above it, is damaged or issued in a way that esign does not know."
)
WEAK_RSA = (
    "{file} holds a weak key, RSA with {bits} bits, which PDF readers refuse; use RSA with 2048 bits or more, or"
    " P-256, P-384, P-521."
)
WEAK_CURVE = (
    "{file} holds a weak key, on the curve {curve}, which PDF readers refuse; use RSA with 2048 bits or more, or"
    " P-256, P-384, P-521."
)
OF_AUTHORITY = (
    "The seal certificate in {file} is that of a certification authority (CA:TRUE), which issues certificates and"
    " seals no documents."
)
NO_SIGNATURES = (
    "The seal certificate in {file} may not be used for signatures: its key usage names neither digitalSignature nor"
    " nonRepudiation."
)
OTHER_USES = (
    "The seal certificate in {file} is only for {purposes} (extended key usage), so PDF readers refuse it."
)
EXPIRED = "The seal certificate in {file} expired on {day}."
NOT_YET_VALID = "The seal certificate in {file} is not valid before {day}; check the server’s clock."
# Exceptions of a malformed certificate, when it is loaded or only when one of its parts is accessed.
UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion, x509.DuplicateExtension)
ENDING = "seal certificate ends soon"
SOON = timedelta(days=60)


class AuthorityError(Exception):
    """The seal cannot be set up; each of `problems` is a sentence with a cause and its remedy."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__(" ".join(problems))

    @property
    def sentence(self) -> str:
        """Return all problems, one after the other."""
        return join(self.problems)


class SourceRemedies(NamedTuple):
    """What to do about key and certificate, as sentences: use others, give the passphrase, or check it."""

    another: str
    give_passphrase: str
    check_passphrase: str


CONFIGURED_PKCS12 = SourceRemedies(
    "Set seal.pkcs12 to another one.",
    "Give it as seal.passphrase.",
    "Check seal.passphrase and the file.",
)
CONFIGURED_PEM = CONFIGURED_PKCS12._replace(another="Set seal.certificate and seal.key to another one.")
CHOSEN = SourceRemedies(
    "Choose another one.", "Enter the passphrase as well.", "Check the passphrase and the file."
)
UPLOADED = CHOSEN._replace(another="Upload another one on the page of the seal.")


@dataclass(frozen=True, slots=True)
class MaterialSource:
    """Where key and certificate come from, as the names of their files, and what to do about them."""

    key: str
    certificate: str
    remedies: SourceRemedies

    def ask_for_another(self, problem: str, need: str = "") -> str:
        """Return a problem with the remedy to use another certificate, and what that one needs."""
        return join([problem, self.remedies.another, need])


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


@lru_cache(maxsize=64)  # a start asks eight times about two or three pairs, each time for a signature
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
            dates=describe_lapse(certificate, at, source.certificate, source.remedies.another),
            notices=(
                *_note_curve(material.key, source),
                *_note_chain(material, at, source),
                *_note_end(certificate, at, source),
            ),
        )
    except UNREADABLE as error:
        raise AuthorityError(source.ask_for_another(say(DAMAGED, file=source.certificate))) from error


# ---------- the key ----------


def _check_form(certificate: x509.Certificate, source: MaterialSource) -> Iterator[str]:
    if (odd := public_key.find_oddity(certificate)) is not None:
        yield source.ask_for_another(say(odd.cause, file=source.certificate), odd.need)


def _check_key(material: SealMaterial, source: MaterialSource) -> Iterator[str]:
    key = material.key
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size < 2048:
        yield say(WEAK_RSA, file=source.key, bits=key.key_size)
    elif isinstance(key, ec.EllipticCurvePrivateKey) and key.key_size < 256:
        yield say(WEAK_CURVE, file=source.key, curve=key.curve.name)
    elif not (isinstance(key, rsa.RSAPrivateKey) or _is_on_known_curve(key)):
        yield say(NO_SEALING_KEY, file=source.key)
    if not public_key.is_pair(key, material.certificate):
        yield say(UNMATCHED, file=source.key)


def _is_on_known_curve(key: object) -> bool:
    return isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, CURVES)


def _note_curve(key: object, source: MaterialSource) -> Iterator[SealNotice]:
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, BRAINPOOL):
        yield SealNotice(
            "not every PDF reader knows the curve of the seal key",
            say(
                "{file} holds a key on the curve {curve}, which not every PDF reader knows: the others call each"
                " seal invalid; all know P-256.",
                file=source.key,
                curve=key.curve.name,
            ),
        )


def require_supported_key(key: object, path: object) -> PrivateKey:
    """Return the key if documents can be sealed with it. Raises `AuthorityError`."""
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size >= 2048:
        return key
    if isinstance(key, ec.EllipticCurvePrivateKey) and _is_on_known_curve(key):
        return key
    raise AuthorityError(say(NO_SEALING_KEY, file=path))


def require_pair(key: PrivateKey, certificate: x509.Certificate, where: str) -> None:
    if not public_key.is_pair(key, certificate):
        raise AuthorityError(say(UNMATCHED, file=where))


# ---------- the purpose of the certificate ----------


def _check_use(certificate: x509.Certificate, source: MaterialSource) -> Iterator[str]:
    """Yield problems with its purpose; a certificate without these extensions may be used for anything (RFC 5280)."""
    constraints = _find_extension(certificate, x509.BasicConstraints)
    if constraints is not None and constraints.ca:
        yield source.ask_for_another(
            say(OF_AUTHORITY, file=source.certificate), "It must be made with CA:FALSE."
        )
    usage = _find_extension(certificate, x509.KeyUsage)
    if usage is not None and not (usage.digital_signature or usage.content_commitment):
        yield source.ask_for_another(say(NO_SIGNATURES, file=source.certificate), FOR_DOCUMENTS)
    purposes = _find_extension(certificate, x509.ExtendedKeyUsage)
    if purposes is not None and all(purpose in ELSEWHERE for purpose in purposes):
        named = ", ".join(sorted(ELSEWHERE[purpose] for purpose in purposes))
        yield source.ask_for_another(say(OTHER_USES, file=source.certificate, purposes=named), FOR_DOCUMENTS)


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
            problem = say(
                "The certificate of “{name}” in {file} was issued with {algorithm}, which PDF readers refuse.",
                name=read_name(certificate.subject),
                file=source.certificate,
                algorithm=hashed.name.upper().replace("SHA1", "SHA-1"),
            )
            yield source.ask_for_another(problem, "It must be issued with SHA-256.")


def _note_chain(material: SealMaterial, at: datetime, source: MaterialSource) -> Iterator[SealNotice]:
    """Yield notices about a chain that PDF readers may be unable to follow to a root that they know."""
    top = (material.certificate, *material.chain)[-1]
    if top.issuer != top.subject:
        yield SealNotice(
            "chain of the seal certificate not complete",
            say(
                "The chain in {file} is not complete: the certificate of “{issuer}”, which issued “{subject}”, is"
                " missing, so PDF readers may not recognise who sealed; add it.",
                file=source.certificate,
                issuer=read_name(top.issuer),
                subject=read_name(top.subject),
            ),
        )
    for issuer in material.chain:
        if at > issuer.not_valid_after_utc:
            yield SealNotice(
                "an issuer of the seal certificate has expired",
                say(
                    "The certificate of “{name}” in {file} expired on {day}; replace it with the current one.",
                    name=read_name(issuer.subject),
                    file=source.certificate,
                    day=f"{issuer.not_valid_after_utc:%Y-%m-%d}",
                ),
            )


# ---------- dates ----------


def describe_lapse(certificate: x509.Certificate, at: datetime, file: str, remedy: str) -> str | None:
    """Return a sentence, and the remedy, if `at` lies outside the certificate's dates, or None."""
    if is_valid_at(certificate, at):
        return None
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if at > last:
        return join([say(EXPIRED, file=file, day=f"{last:%Y-%m-%d}"), remedy])
    return join([say(NOT_YET_VALID, file=file, day=f"{first:%Y-%m-%d}"), remedy])


def is_valid_at(certificate: x509.Certificate, at: datetime) -> bool:
    """Return whether `at` lies within the certificate's dates."""
    return certificate.not_valid_before_utc <= at <= certificate.not_valid_after_utc


def _note_end(certificate: x509.Certificate, at: datetime, source: MaterialSource) -> Iterator[SealNotice]:
    last = certificate.not_valid_after_utc
    if at <= last < at + SOON:
        ends = say(
            "The seal certificate in {file} ends on {day}; replace it before that day.",
            file=source.certificate,
            day=f"{last:%Y-%m-%d}",
        )
        yield SealNotice(ENDING, source.ask_for_another(ends))


def read_name(name: x509.Name) -> str:
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else name.rfc4514_string()
