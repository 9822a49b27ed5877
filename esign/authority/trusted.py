"""Read the authorities that the configuration trusts, from files, folders and the system's trust store."""

import re
import ssl
import warnings
from collections.abc import Iterable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.utils import CryptographyDeprecationWarning

from esign.authority import files
from esign.authority.checks import AuthorityError
from esign.core.sentence import say

ENDINGS = (".pem", ".crt", ".cer", ".der")
PEM = b"-----BEGIN CERTIFICATE-----"
BLOCK = re.compile(PEM + rb".+?-----END CERTIFICATE-----", re.DOTALL)


def read_trusted_roots(places: Iterable[Path | str]) -> tuple[bytes, ...]:
    """Return every certificate there, as DER, each once; a string in place of a path means the system's store.

    Raises `AuthorityError` for a place that holds no certificate.
    """
    found: dict[bytes, None] = {}
    for place in places:
        roots = _read_system_roots() if isinstance(place, str) else _read_path(place)
        found |= dict.fromkeys(roots)
    return tuple(found)


def _read_path(path: Path) -> list[bytes]:
    return [root for file in _list_files(path) for root in _read_file(file)]


def _list_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    named = sorted(entry for entry in path.iterdir() if entry.suffix.lower() in ENDINGS and entry.is_file())
    if not named:
        raise AuthorityError(
            say(
                "{folder} holds no certificate; put root certificates ({endings}) into it.",
                folder=path,
                endings=", ".join(ENDINGS),
            )
        )
    return named


def _read_file(path: Path) -> list[bytes]:
    content = files.read_file(path)
    try:
        if PEM in content:
            found = x509.load_pem_x509_certificates(content)
        else:
            found = [x509.load_der_x509_certificate(content)]
    except ValueError as error:
        raise AuthorityError(
            say("{file} is not a certificate; give a root certificate as PEM or DER.", file=path)
        ) from error
    return [certificate.public_bytes(Encoding.DER) for certificate in found]


def _read_system_roots() -> list[bytes]:
    """Return the roots that OpenSSL trusts, from its file or else its folder, without those that cannot be read."""
    paths = ssl.get_default_verify_paths()
    place = paths.cafile or paths.capath
    if place is None:
        raise AuthorityError(
            "This machine has no trust store; install its ca-certificates, or leave “system” out of seal.trust."
        )
    blocks = [block for file in _list_files(Path(place)) for block in BLOCK.findall(files.read_file(file))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CryptographyDeprecationWarning)
        return [der for block in blocks if (der := _load_block(block)) is not None]


def _load_block(block: bytes) -> bytes | None:
    try:
        return x509.load_pem_x509_certificate(block).public_bytes(Encoding.DER)
    except ValueError:
        return None
