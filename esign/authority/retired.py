"""The certificates that were ever sealed with here besides those made here: without their keys, and never removed.

Whoever replaces a certificate wants what was sealed with it to stay checkable.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from esign.authority import files
from esign.authority.checks import AuthorityError
from esign.authority.uploaded import as_pem
from esign.core.seal_credential import Credential

NAME = "sealed-with-{}.pem"


def keep(folder: Path, credential: Credential) -> None:
    name = NAME.format(hashlib.sha256(credential.certificate_der).hexdigest()[:32])
    if not (folder / name).exists():
        files.write(folder / name, as_pem(credential))


def chains(folder: Path) -> Iterator[list[bytes]]:
    """Of each the certificates (DER), first its own, last the one that trust begins with; raises `AuthorityError`."""
    for path in sorted(folder.glob(NAME.format("*"))):
        try:
            found = x509.load_pem_x509_certificates(files.read(path))
        except ValueError as error:
            raise AuthorityError(f"{path} is no certificate in PEM; put it back from a backup.") from error
        yield [one.public_bytes(Encoding.DER) for one in found]
