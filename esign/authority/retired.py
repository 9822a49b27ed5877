"""Keep every certificate that documents were sealed with and that was not made here, without its key, for ever.

What was sealed with a certificate has to stay verifiable after the certificate is replaced.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from esign.authority import files
from esign.authority.checks import AuthorityError
from esign.authority.uploaded import encode_certificates
from esign.core.seal_credential import Credential
from esign.core.sentence import say

NAME = "sealed-with-{}.pem"


def keep_certificate(folder: Path, credential: Credential) -> None:
    name = NAME.format(hashlib.sha256(credential.certificate_der).hexdigest()[:32])
    if not (folder / name).exists():
        files.write_file(folder / name, encode_certificates(credential))


def read_chains(folder: Path) -> Iterator[list[bytes]]:
    """Yield the chain (DER) of each kept certificate, its own first, the trust anchor last.

    Raises `AuthorityError`.
    """
    for path in sorted(folder.glob(NAME.format("*"))):
        try:
            found = x509.load_pem_x509_certificates(files.read_file(path))
        except ValueError as error:
            raise AuthorityError(say(files.NOT_PEM, file=path)) from error
        yield [one.public_bytes(Encoding.DER) for one in found]
