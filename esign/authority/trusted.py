"""The authorities of others that the configuration trusts, read from files, folders and the system's store."""

import ssl
from collections.abc import Iterable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from esign.authority import files
from esign.authority.checks import AuthorityError

ENDINGS = (".pem", ".crt", ".cer", ".der")
PEM = b"-----BEGIN CERTIFICATE-----"


def trusted_roots(places: Iterable[Path | str]) -> tuple[bytes, ...]:
    """Every certificate there, as DER, each once; a text in place of a path means the system's store.

    Raises `AuthorityError` for a place that holds none.
    """
    found: dict[bytes, None] = {}
    for place in places:
        roots = _of_system() if isinstance(place, str) else _of_path(place)
        found |= dict.fromkeys(roots)
    return tuple(found)


def _of_path(path: Path) -> list[bytes]:
    if not path.is_dir():
        return _of_file(path)
    named = sorted(entry for entry in path.iterdir() if entry.suffix.lower() in ENDINGS and entry.is_file())
    if not named:
        raise AuthorityError(
            f"{path} holds no certificate; put root certificates ({', '.join(ENDINGS)}) into it."
        )
    return [root for entry in named for root in _of_file(entry)]


def _of_file(path: Path) -> list[bytes]:
    content = files.read(path)
    try:
        if PEM in content:
            found = x509.load_pem_x509_certificates(content)
        else:
            found = [x509.load_der_x509_certificate(content)]
    except ValueError as error:
        raise AuthorityError(
            f"{path} is not a certificate; give a root certificate as PEM or DER."
        ) from error
    return [certificate.public_bytes(Encoding.DER) for certificate in found]


def _of_system() -> list[bytes]:
    """What OpenSSL would trust: its file of roots, or else its folder of them."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        return _of_file(Path(paths.cafile))
    if paths.capath:
        return _of_path(Path(paths.capath))
    raise AuthorityError(
        "This machine has no trust store; install its ca-certificates, or leave “system” out of seal.trust."
    )
