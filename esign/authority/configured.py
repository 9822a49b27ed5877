"""Read the seal that the configuration names: a PKCS#12 file, or certificate and key in PEM."""

from dataclasses import dataclass, field
from pathlib import Path

from esign.authority import bundle, files, pem
from esign.authority.checks import Material, Source
from esign.config import Seal


@dataclass(frozen=True, slots=True)
class Given:
    """The configured files; `certificate` is a PKCS#12 file if `key` is None."""

    certificate: Path
    key: Path | None = None
    passphrase: str | None = field(default=None, repr=False)

    @property
    def source(self) -> Source:
        named = "seal.pkcs12" if self.key is None else "seal.certificate and seal.key"
        return Source(
            key=str(self.key or self.certificate),
            certificate=str(self.certificate),
            secret="seal.passphrase",  # noqa: S106  (the name of the setting)
            another=f"set {named} to another one",
        )

    def read(self) -> Material:
        """Return the material in the files. Raises `AuthorityError`."""
        content = files.read(self.certificate)
        if self.key is None:
            return bundle.opened(content, self.passphrase, self.source)
        return pem.opened(content, files.read(self.key), self.passphrase, self.source)


def given(seal: Seal) -> Given | None:
    """Return the configured files, or None if the certificate is made here or uploaded."""
    if seal.certificate is not None:
        return Given(seal.certificate, seal.private_key, seal.secret)
    return Given(seal.pkcs12, None, seal.secret) if seal.pkcs12 is not None else None
