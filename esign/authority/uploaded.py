"""Store the key and certificate for sealing that an administrator uploads in the office.

Both are in one file of the data folder, so that they change together. "The seal" means this pair here.
"""

from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, load_der_private_key

from esign.authority import files, pem
from esign.authority.checks import UPLOADED, AuthorityError, MaterialSource, SealMaterial
from esign.authority.self_signed import encode_key
from esign.core.seal_credential import Credential
from esign.core.sentence import say

FILE = "uploaded-seal.pem"
SOURCE = MaterialSource(FILE, FILE, UPLOADED)


def read_uploaded_seal(folder: Path) -> SealMaterial | None:
    """Return the uploaded seal, or None. Raises `AuthorityError` if the file is damaged."""
    path = folder / FILE
    if not path.exists():
        return None
    content = files.read_file(path)
    try:
        return pem.open_pem(content, content, None, SOURCE)
    except AuthorityError as error:
        raise AuthorityError(
            say(
                "{file} is damaged; restore it from a backup, or move it away to seal with the certificate made here.",
                file=path,
            )
        ) from error


def write_uploaded_seal(folder: Path, credential: Credential) -> None:
    """Write the seal; its key is stored without its passphrase, as is that of a seal made here."""
    key = encode_key(load_der_private_key(credential.key_der, None))
    files.replace_file(folder / FILE, key + encode_certificates(credential))


def remove_uploaded_seal(folder: Path) -> None:
    files.remove_file(folder / FILE)


def encode_certificates(credential: Credential) -> bytes:
    """Return the certificates of a credential in PEM, the seal's own first."""
    ders = (credential.certificate_der, *credential.chain_der)
    return b"".join(x509.load_der_x509_certificate(der).public_bytes(Encoding.PEM) for der in ders)
