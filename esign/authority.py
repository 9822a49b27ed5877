"""What documents are sealed with: certificates made at the first start and kept, or those of a PKCS#12 file.

Test mode has an authority of its own, so that whoever trusts the live one never trusts a test seal by it.
"""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509.oid import NameOID, ObjectIdentifier

from esign.core.credential import TEST_MARK, Credential
from esign.core.instant import Instant, to_datetime

AUTHORITY_LIFE = timedelta(days=3652)
SEAL_LIFE = timedelta(days=1096)
SKEW = timedelta(hours=1)  # a clock set back a little shall not make a new certificate invalid
DOCUMENT_SIGNING = ObjectIdentifier("1.3.6.1.5.5.7.3.36")
NAME_LIMIT = 64  # X.520: characters of a common or organisation name

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


class AuthorityError(Exception):
    """The seal cannot be set up; one sentence with the cause and the remedy."""


@dataclass(frozen=True, slots=True)
class Authority:
    """What documents are sealed with, and the certificates (DER) that vouch for it, the live mode's first."""

    live: Credential
    test: Credential
    roots: tuple[bytes, ...]


def load_or_make(
    data_dir: Path, organisation_name: str, now: Instant, pkcs12_file: Path | None, passphrase: str | None
) -> Authority:
    """The credentials of both modes; makes under `data_dir` what is missing and overwrites nothing.

    Raises `AuthorityError`, also for a certificate that has expired or is not valid yet.
    """
    at = to_datetime(now)
    name = " ".join(organisation_name.split()) or "esign"
    own = _Folder(data_dir, "", name, at)
    test = _Folder(data_dir, "test-", f"{TEST_MARK} – {name}", at)
    live = own.credential() if pkcs12_file is None else _from_pkcs12(pkcs12_file, passphrase, at)
    testing = test.credential()
    kept = own.root()  # documents sealed before a PKCS#12 file was configured stay checkable
    roots = (live.anchor_der, *([kept] if kept else []), testing.anchor_der)
    return Authority(live, testing, tuple(dict.fromkeys(roots)))


# ---------- self-made ----------


@dataclass(frozen=True, slots=True)
class _Folder:
    """The files of one mode: `authority` and `seal`, each a `.key` (PKCS#8) and a `.pem` (certificate)."""

    folder: Path
    prefix: str
    name: str
    at: datetime

    def path(self, file: str) -> Path:
        return self.folder / f"{self.prefix}{file}"

    def root(self) -> bytes | None:
        """The authority's certificate, if it was ever made."""
        path = self.path("authority.pem")
        return _certificate(path).public_bytes(Encoding.DER) if path.exists() else None

    def credential(self) -> Credential:
        if not self.path("seal.pem").exists():
            self.make()
        key, seal = _key(self.path("seal.key")), _certificate(self.path("seal.pem"))
        issuer = _certificate(self.path("authority.pem"))
        _require_pair(key, seal, str(self.path("seal.key")))
        remedy = (
            f"move {self.path('seal.key')} and {self.path('seal.pem')} away and start again to make new ones"
        )
        _require_current(seal, self.at, f"The seal certificate {self.path('seal.pem')}", remedy)
        return _credential(key, seal, [issuer])

    def make(self) -> None:
        """Key before certificate, so that a crash in between leaves a key that the next start certifies."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        authority = self._made_key("authority")
        if not self.path("authority.pem").exists():
            _write(self.path("authority.pem"), _pem(_authority_certificate(authority, self.name, self.at)))
        issuer = _certificate(self.path("authority.pem"))
        _require_pair(authority, issuer, str(self.path("authority.key")))
        remedy = f"move {self.path('authority.key')} and {self.path('authority.pem')} away and start again"
        _require_current(issuer, self.at, f"The authority {self.path('authority.pem')}", remedy)
        seal = self._made_key("seal")
        _write(self.path("seal.pem"), _pem(_seal_certificate(seal, self.name, issuer, authority, self.at)))

    def _made_key(self, file: str) -> PrivateKey:
        path = self.path(f"{file}.key")
        if not path.exists():
            if self.path(f"{file}.pem").exists():
                raise AuthorityError(
                    f"{self.path(f'{file}.pem')} is there without {path}; put the key back from a backup, or move the"
                    " certificate away and start again to make a new pair."
                )
            made = ec.generate_private_key(ec.SECP256R1())
            _write(path, made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return _key(path)


def _subject(name: str, role: str) -> x509.Name:
    """The organisation, and its name with the role as the common name, each cut to what X.520 allows."""
    common = f"{name[: NAME_LIMIT - len(role) - 1]} {role}"
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, name[:NAME_LIMIT]),
            x509.NameAttribute(NameOID.COMMON_NAME, common),
        ]
    )


def _usage(*allowed: str) -> x509.KeyUsage:
    names = (
        "digital_signature content_commitment key_encipherment data_encipherment key_agreement key_cert_sign"
        " crl_sign encipher_only decipher_only"
    )
    return x509.KeyUsage(**{name: name in allowed for name in names.split()})


def _authority_certificate(key: PrivateKey, name: str, at: datetime) -> x509.Certificate:
    subject = _subject(name, "Authority")
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(at - SKEW)
        .not_valid_after(at + AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage("key_cert_sign", "crl_sign"), critical=True)
        .add_extension(identifier, critical=False)
        .sign(key, SHA256())
    )


def _seal_certificate(
    key: PrivateKey, name: str, issuer: x509.Certificate, issuer_key: PrivateKey, at: datetime
) -> x509.Certificate:
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    above = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    last = min(at + SEAL_LIFE, issuer.not_valid_after_utc)
    return (
        x509.CertificateBuilder(
            issuer.subject, _subject(name, "Document Seal"), key.public_key(), x509.random_serial_number()
        )
        .not_valid_before(at - SKEW)
        .not_valid_after(last)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage("digital_signature", "content_commitment"), critical=True)
        .add_extension(x509.ExtendedKeyUsage([DOCUMENT_SIGNING]), critical=False)
        .add_extension(identifier, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(above), critical=False)
        .sign(issuer_key, SHA256())
    )


# ---------- PKCS#12 ----------


def _from_pkcs12(path: Path, passphrase: str | None, at: datetime) -> Credential:
    content = _read(path)
    if content[:1] != b"\x30":
        raise AuthorityError(
            f"{path} is no PKCS#12 file; set seal.pkcs12 to a .p12 or .pfx file with key and certificate."
        )
    try:
        bundle = pkcs12.load_pkcs12(content, passphrase.encode() if passphrase else None)
    except (ValueError, TypeError) as error:
        wrong = "the passphrase is wrong" if passphrase else "it needs a passphrase"
        raise AuthorityError(
            f"{path} cannot be opened: {wrong} or the file is damaged; check seal.passphrase and the file."
        ) from error
    if bundle.key is None or bundle.cert is None:
        lacking = "private key" if bundle.key is None else "certificate of its key"
        raise AuthorityError(f"{path} holds no {lacking}; export it again with key, certificate and chain.")
    key, certificate = _supported(bundle.key, path), bundle.cert.certificate
    _require_pair(key, certificate, str(path))
    _require_current(certificate, at, f"The seal certificate in {path}", "set seal.pkcs12 to a current one")
    return _credential(key, certificate, [extra.certificate for extra in bundle.additional_certs])


# ---------- both ----------


def _credential(
    key: PrivateKey, certificate: x509.Certificate, others: Sequence[x509.Certificate]
) -> Credential:
    return Credential(
        key_der=key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
        certificate_der=certificate.public_bytes(Encoding.DER),
        chain_der=tuple(issuer.public_bytes(Encoding.DER) for issuer in _chain(certificate, others)),
    )


def _chain(certificate: x509.Certificate, others: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    """The issuers in order, as far as they are at hand."""
    chain = [certificate]
    while chain[-1].issuer != chain[-1].subject:
        above = [other for other in others if other.subject == chain[-1].issuer and other not in chain]
        if not above:
            break
        chain.append(above[0])
    return chain[1:]


def _supported(key: object, path: Path) -> PrivateKey:
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size >= 2048:
        return key
    if isinstance(key, ec.EllipticCurvePrivateKey) and key.key_size >= 256:
        return key
    raise AuthorityError(
        f"{path} holds a key that cannot seal; use RSA with 2048 bits or more, or P-256, P-384, P-521."
    )


def _require_pair(key: PrivateKey, certificate: x509.Certificate, where: str) -> None:
    shape = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if key.public_key().public_bytes(*shape) != certificate.public_key().public_bytes(*shape):
        raise AuthorityError(
            f"The key in {where} does not belong to its certificate; put the matching two in place."
        )


def _require_current(certificate: x509.Certificate, at: datetime, what: str, remedy: str) -> None:
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if at > last:
        raise AuthorityError(f"{what} has expired on {last:%Y-%m-%d}; {remedy}.")
    if at < first:
        raise AuthorityError(
            f"{what} is not valid before {first:%Y-%m-%d}; check this machine's clock, or {remedy}."
        )


def _key(path: Path) -> PrivateKey:
    try:
        return _supported(load_pem_private_key(_read(path), None), path)
    except (ValueError, TypeError) as error:
        raise AuthorityError(
            f"{path} is no private key in PEM without a passphrase; put it back from a backup."
        ) from error


def _certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(_read(path))
    except ValueError as error:
        raise AuthorityError(f"{path} is no certificate in PEM; put it back from a backup.") from error


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AuthorityError(
            f"{path} cannot be read ({error.strerror}); put it there and let this user read it."
        ) from error


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, readable by this user alone; who comes second leaves what is there."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except OSError as error:
        raise AuthorityError(
            f"{path} cannot be written ({error.strerror}); let this user write to {path.parent}."
        ) from error
