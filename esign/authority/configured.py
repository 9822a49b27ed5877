"""Read the key and certificate for sealing that the administrator names in the configuration (`[seal]`).

They are in one PKCS#12 file, or in two files in PEM.
"""

from dataclasses import dataclass, field
from pathlib import Path

from esign.authority import files, pem, pkcs12
from esign.authority.checks import CONFIGURED_PEM, CONFIGURED_PKCS12, MaterialSource, SealMaterial
from esign.config import SealSettings


@dataclass(frozen=True, slots=True)
class SealFiles:
    """The configured files; `certificate` is a PKCS#12 file if `key` is None."""

    certificate: Path
    key: Path | None = None
    passphrase: str | None = field(default=None, repr=False)

    @property
    def source(self) -> MaterialSource:
        return MaterialSource(
            key=str(self.key or self.certificate),
            certificate=str(self.certificate),
            remedies=CONFIGURED_PKCS12 if self.key is None else CONFIGURED_PEM,
        )

    def read_material(self) -> SealMaterial:
        """Return the material in the files. Raises `AuthorityError`."""
        content = files.read_file(self.certificate)
        if self.key is None:
            return pkcs12.open_bundle(content, self.passphrase, self.source)
        return pem.open_pem(content, files.read_file(self.key), self.passphrase, self.source)


def find_configured_seal(seal: SealSettings) -> SealFiles | None:
    """Return the configured files, or None if the certificate is made here or uploaded."""
    if seal.certificate is not None:
        return SealFiles(seal.certificate, seal.private_key, seal.secret)
    return SealFiles(seal.pkcs12, None, seal.secret) if seal.pkcs12 is not None else None
