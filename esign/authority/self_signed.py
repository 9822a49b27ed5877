"""The self-made authority of one mode: made at the first start, loaded at the next, renewed before it ends.

Each is a pair of files, `authority.key` and `authority.pem`, `seal.key` and `seal.pem`. Successors have a
number: `seal-2.key`, `seal-2.pem`. No file is ever overwritten. The key is written before its certificate and
does not count without it. So a crash in between leaves the earlier pair in use, and a key that the next attempt
certifies.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from esign.authority import files
from esign.authority.checks import (
    AuthorityError,
    PrivateKey,
    SealNotice,
    build_credential,
    describe_lapse,
    is_issued_by,
    is_valid_at,
    read_name,
    require_pair,
    require_supported_key,
)
from esign.authority.make_certificates import (
    SEAL_LIFE,
    has_current_profile,
    make_authority_certificate,
    make_seal_certificate,
    read_organisation,
)
from esign.core.seal_credential import Credential
from esign.core.sentence import say

# How long before its end a seal is renewed: a server that is off for a summer is not too late.
RENEW_BEFORE = timedelta(days=90)
# How long before its first use a new authority is made, so that recipients can be told.
ANNOUNCED = timedelta(days=365)

Kind = Literal["authority", "seal"]


@dataclass(frozen=True, slots=True)
class AuthorityFolder:
    """The files of one mode; `at` is the time that decides which of them are in use.

    It serves one look at the files, or one change: certificates are read from the disk once, and again after one is
    added here.
    """

    folder: Path
    prefix: str
    name: str
    at: datetime
    _found: dict[Kind, dict[int, x509.Certificate]] = field(default_factory=dict, compare=False, repr=False)

    def path(self, kind: Kind, number: int, suffix: str) -> Path:
        return self.folder / f"{self.prefix}{kind}{'' if number == 1 else f'-{number}'}.{suffix}"

    def list_numbers(self, kind: Kind) -> list[int]:
        """Return the numbers of the certificates that exist, the oldest first."""
        shape = re.compile(rf"{re.escape(self.prefix)}{kind}(?:-(\d+))?\.pem")
        found = [shape.fullmatch(path.name) for path in self.folder.glob(f"{self.prefix}{kind}*.pem")]
        return sorted(int(hit[1] or 1) for hit in found if hit)

    def read_certificates(self, kind: Kind) -> dict[int, x509.Certificate]:
        """Return the certificates by number, the oldest first. Raises `AuthorityError`."""
        if kind not in self._found:
            self._found[kind] = {
                number: _read_certificate(self.path(kind, number, "pem"))
                for number in self.list_numbers(kind)
            }
        return self._found[kind]

    def _read_one_in_use(self, kind: Kind) -> x509.Certificate:
        """Return the certificate in use. Raises `AuthorityError`, which names the first file if there is none."""
        number = self.find_number_in_use(kind)
        found = self.read_certificates(kind).get(number)
        return found or _read_certificate(self.path(kind, number, "pem"))

    def _write_certificate(self, kind: Kind, number: int, certificate: x509.Certificate) -> None:
        try:
            files.write_file(self.path(kind, number, "pem"), certificate.public_bytes(Encoding.PEM))
        finally:
            self._found.pop(kind, None)

    def find_number_in_use(self, kind: Kind) -> int:
        """Return the number of the newest certificate that is valid now, or else of the newest.

        A certificate that was made while the clock was wrong thus does no harm.
        """
        found = self.read_certificates(kind)
        current = [number for number, one in found.items() if is_valid_at(one, self.at)]
        return max(current or found, default=1)

    # ---------- loading ----------

    def load_credential(self) -> Credential:
        """Return the credential of the seal in use. Raises `AuthorityError`."""
        number = self.find_number_in_use("seal")
        path = self.path("seal", number, "key")
        key, seal = _read_key(path), self.seal()
        require_pair(key, seal, str(path))
        return build_credential(key, seal, [self._find_issuer(seal)])

    def seal(self) -> x509.Certificate:
        return self._read_one_in_use("seal")

    def authority(self) -> x509.Certificate:
        """Return the authority that issues new seals, unless that of the present seal still lasts."""
        return self._read_one_in_use("authority")

    def _find_issuer(self, seal: x509.Certificate) -> x509.Certificate:
        found = self.read_certificates("authority") or {
            1: _read_certificate(self.path("authority", 1, "pem"))
        }
        for one in found.values():
            if is_issued_by(seal, one):
                return one
        raise AuthorityError(
            say(
                "The authority that issued the seal certificate is not among {file} and those that followed;"
                " restore it from a backup.",
                file=self.path("authority", 1, "pem"),
            )
        )

    def read_roots(self) -> list[bytes]:
        """Return the certificates (DER) of every authority ever made for this mode."""
        return [one.public_bytes(Encoding.DER) for one in self.read_certificates("authority").values()]

    # ---------- renewal ----------

    def settle(self) -> str | None:
        """Make what is missing and renew what ends soon. Return what prevents a renewal, or None.

        Raises `AuthorityError` if there is nothing to seal with.
        """
        if not self.list_numbers("seal"):
            self.make_first()
            return None
        if not (self._is_due() or self._needs_authority()):
            return None
        key = self.path("authority", self.find_number_in_use("authority"), "key")
        try:
            if key.exists():
                self.renew()
                return None
            problem: str = say("{file} is missing; put it back in its place.", file=key)
        except AuthorityError as error:
            problem = error.sentence
        return problem if self._is_due() else None

    def _is_due(self) -> bool:
        """Return whether the seal ends soon, or has a profile that some PDF readers refuse."""
        return self.is_ending_soon() or not self.has_current_profile()

    def has_current_profile(self) -> bool:
        return has_current_profile(self.seal())

    def is_ending_soon(self) -> bool:
        return is_ending_before(self.seal(), self.at + RENEW_BEFORE)

    def _needs_authority(self) -> bool:
        """Return whether a new authority is needed, long before the next seal would outlive the present one."""
        return is_ending_before(self.authority(), self.at + SEAL_LIFE + ANNOUNCED)

    def renew(self) -> None:
        """Renew what is due. The seal in use and its authority stay in place."""
        if self._needs_authority():
            self._add_authority(read_organisation(self.authority()))
        if self._is_due():
            seal = self.seal()
            self._add_seal(read_organisation(seal), self._choose_next_authority(seal))

    def _choose_next_authority(self, seal: x509.Certificate) -> int:
        """Return the number of the authority for the next seal.

        It is the issuer of the present seal as long as another seal fits into its time, because readers may
        trust it already.
        """
        for number, one in self.read_certificates("authority").items():
            if is_issued_by(seal, one) and not is_ending_before(one, self.at + SEAL_LIFE):
                return number
        return self.find_number_in_use("authority")

    def make_anew(self) -> None:
        """Make another authority and a seal under it, in the present name."""
        self._add_seal(self.name, self._add_authority(self.name))

    def find_following_authority(self) -> x509.Certificate | None:
        """Return the authority that will issue the seals from some renewal on, or None if it is the present one."""
        newest = self.authority()
        return None if is_issued_by(self.seal(), newest) else newest

    def describe_succession(self) -> SealNotice | None:
        """Return a notice for those who trust the present authority, or None if it stays."""
        following, seal = self.find_following_authority(), self.seal()
        if following is None:
            return None
        return SealNotice(
            "the authority behind the seal changes soon",
            say(
                "The authority of the seal expires on {ends}. From {begins}, the seal comes from its successor,"
                " “{name}”; give its certificate to everyone who trusts the present one.",
                ends=f"{self._find_issuer(seal).not_valid_after_utc:%Y-%m-%d}",
                begins=f"{seal.not_valid_after_utc - RENEW_BEFORE:%Y-%m-%d}",
                name=read_name(following.subject),
            ),
        )

    def describe_late_seal(self, hindrance: str | None) -> str | None:
        """Return what is wrong with the dates of the seal certificate although it is renewed automatically,
        with the remedy.
        """
        path = self.path("seal", self.find_number_in_use("seal"), "pem")
        remedy = hindrance or "Make a new one on the page of the seal."
        return describe_lapse(self.seal(), self.at, str(path), remedy)

    # ---------- making ----------

    def make_first(self) -> None:
        """Make the first authority and seal, or what a crash left missing of them."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise AuthorityError(
                say(
                    "{folder} cannot be made a folder ({error}); choose another.",
                    folder=self.folder,
                    error=error.strerror,
                )
            ) from error
        if not self.list_numbers("authority"):
            self._add_authority(self.name)
        number = self.find_number_in_use("authority")
        authority = _read_certificate(self.path("authority", number, "pem"))
        require_pair(
            self._load_or_make_key("authority", number), authority, str(self.path("authority", number, "key"))
        )
        if not is_valid_at(authority, self.at) or is_ending_before(authority, self.at + SEAL_LIFE):
            number = self._add_authority(read_organisation(authority))
        self._add_seal(self.name, number)

    def _add_authority(self, name: str) -> int:
        number = max(self.list_numbers("authority"), default=0) + 1
        certificate = make_authority_certificate(
            self._load_or_make_key("authority", number), name, self.at, number
        )
        self._write_certificate("authority", number, certificate)
        return number

    def _add_seal(self, name: str, issued_by: int) -> int:
        number = max(self.list_numbers("seal"), default=0) + 1
        key, issuer_key = (
            self._load_or_make_key("seal", number),
            self._load_or_make_key("authority", issued_by),
        )
        issuer = _read_certificate(self.path("authority", issued_by, "pem"))
        certificate = make_seal_certificate(key, name, issuer, issuer_key, self.at)
        self._write_certificate("seal", number, certificate)
        return number

    def _load_or_make_key(self, kind: Kind, number: int) -> PrivateKey:
        """Return the key of an existing certificate, or make that of a new one. Raises `AuthorityError`."""
        path, certificate = self.path(kind, number, "key"), self.path(kind, number, "pem")
        if not path.exists():
            if certificate.exists():
                raise AuthorityError(
                    say(
                        "{certificate} exists without {key}; restore the key from a backup, or move the certificate"
                        " away and start again to make a new pair.",
                        certificate=certificate,
                        key=path,
                    )
                )
            files.write_file(path, encode_key(ec.generate_private_key(ec.SECP256R1())))
        return _read_key(path)


def is_ending_before(certificate: x509.Certificate, moment: datetime) -> bool:
    return certificate.not_valid_after_utc <= moment


def encode_key(key: PrivateKeyTypes) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _read_key(path: Path) -> PrivateKey:
    """Return the key in a file. Raises `AuthorityError`."""
    try:
        return require_supported_key(load_pem_private_key(files.read_file(path), None), path)
    except (ValueError, TypeError) as error:
        raise AuthorityError(
            say("{file} is not a PEM private key without a passphrase; restore it from a backup.", file=path)
        ) from error


def _read_certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(files.read_file(path))
    except ValueError as error:
        raise AuthorityError(say(files.NOT_PEM, file=path)) from error
