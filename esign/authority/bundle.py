"""The seal of a PKCS#12 file, as certificate authorities hand them out."""

from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs12

from esign.authority import files
from esign.authority.checks import AuthorityError, credential, lapsed, require_pair, supported
from esign.core.credential import Credential


def load(path: Path, passphrase: str | None) -> Credential:
    content = files.read(path)
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
    key, certificate = supported(bundle.key, path), bundle.cert.certificate
    require_pair(key, certificate, str(path))
    return credential(key, certificate, [extra.certificate for extra in bundle.additional_certs])


def lapsed_in(path: Path, sealing: Credential, at: datetime) -> str | None:
    """What is wrong with the dates of its certificate, and what to do."""
    certificate = x509.load_der_x509_certificate(sealing.certificate_der)
    return lapsed(certificate, at, f"The seal certificate in {path}", "set seal.pkcs12 to a current one")
