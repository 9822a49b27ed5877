"""The self-made authority of one mode, in files of its own: made at the first start, found again at the next."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from esign.authority import files
from esign.authority.certificates import authority_certificate, seal_certificate
from esign.authority.checks import (
    AuthorityError,
    PrivateKey,
    lapsed,
    require_pair,
    supported,
)
from esign.authority.checks import credential as credential_of
from esign.core.credential import Credential


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of one mode: `authority` and `seal`, each a `.key` (PKCS#8) and a `.pem` (certificate)."""

    folder: Path
    prefix: str
    name: str
    at: datetime

    def path(self, file: str) -> Path:
        return self.folder / f"{self.prefix}{file}"

    def credential(self) -> Credential:
        if not self.path("seal.pem").exists():
            self.make()
        key, seal = _key(self.path("seal.key")), _certificate(self.path("seal.pem"))
        issuer = _certificate(self.path("authority.pem"))
        require_pair(key, seal, str(self.path("seal.key")))
        return credential_of(key, seal, [issuer])

    def lapsed(self) -> str | None:
        """What is wrong with the dates of the seal certificate, and what to do."""
        file, key = self.path("seal.pem"), self.path("seal.key")
        remedy = f"move {key} and {file} away and start again to make new ones"
        return lapsed(_certificate(file), self.at, f"The seal certificate {file}", remedy)

    def make(self) -> None:
        """Key before certificate, so that a crash in between leaves a key that the next start certifies."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise AuthorityError(
                f"{self.folder} cannot be made a folder ({error.strerror}); choose another."
            ) from error
        authority = self._made_key("authority")
        if not self.path("authority.pem").exists():
            files.write(
                self.path("authority.pem"), _pem(authority_certificate(authority, self.name, self.at))
            )
        issuer = _certificate(self.path("authority.pem"))
        require_pair(authority, issuer, str(self.path("authority.key")))
        remedy = f"move {self.path('authority.key')} and {self.path('authority.pem')} away and start again"
        if problem := lapsed(issuer, self.at, f"The authority {self.path('authority.pem')}", remedy):
            raise AuthorityError(problem)
        seal = self._made_key("seal")
        files.write(
            self.path("seal.pem"), _pem(seal_certificate(seal, self.name, issuer, authority, self.at))
        )

    def _made_key(self, file: str) -> PrivateKey:
        path = self.path(f"{file}.key")
        if not path.exists():
            if self.path(f"{file}.pem").exists():
                raise AuthorityError(
                    f"{self.path(f'{file}.pem')} is there without {path}; put the key back from a backup, or move the"
                    " certificate away and start again to make a new pair."
                )
            made = ec.generate_private_key(ec.SECP256R1())
            files.write(path, made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return _key(path)


def root(folder: Path, prefix: str) -> bytes | None:
    """The certificate (DER) of that mode's authority, if it was ever made."""
    path = folder / f"{prefix}authority.pem"
    return _certificate(path).public_bytes(Encoding.DER) if path.exists() else None


def _key(path: Path) -> PrivateKey:
    try:
        return supported(load_pem_private_key(files.read(path), None), path)
    except (ValueError, TypeError) as error:
        raise AuthorityError(
            f"{path} is no private key in PEM without a passphrase; put it back from a backup."
        ) from error


def _certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(files.read(path))
    except ValueError as error:
        raise AuthorityError(f"{path} is no certificate in PEM; put it back from a backup.") from error


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)
