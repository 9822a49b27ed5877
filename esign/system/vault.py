"""Encrypt secrets at rest and compute the MACs of cursors and links, with keys derived from the application key.

There is one 32-byte key. HKDF-SHA256 (RFC 5869) derives a sub-key for each purpose. Encryption is AES-256-GCM
with a random nonce.
"""

import hashlib
import hmac
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

VERSION = b"\x01"
NONCE = 12


class DamagedCiphertext(Exception):
    """The ciphertext was not made with this key, or was changed."""


class UnusableKey(Exception):
    """The file of the application key is missing or changed; the message says what to do."""


class Vault:
    """Encrypts and authenticates with the application key.

    `bound` ties a ciphertext to its place (an id), so that it cannot be moved to another row.
    """

    def __init__(self, app_key: bytes) -> None:
        if len(app_key) != 32:
            raise ValueError("the application key must have 32 bytes")
        self._sub_key: Callable[[str], bytes] = lru_cache(maxsize=None)(
            lambda purpose: HKDF(SHA256(), 32, salt=None, info=purpose.encode()).derive(app_key)
        )

    def encrypt(self, purpose: str, plain: bytes, bound: bytes = b"") -> bytes:
        nonce = os.urandom(NONCE)
        return VERSION + nonce + AESGCM(self._sub_key(purpose)).encrypt(nonce, plain, bound)

    def decrypt(self, purpose: str, sealed: bytes, bound: bytes = b"") -> bytes:
        """Return the plain bytes. Raises `DamagedCiphertext`."""
        if sealed[:1] != VERSION:
            raise DamagedCiphertext("unknown version of the ciphertext")
        try:
            return AESGCM(self._sub_key(purpose)).decrypt(sealed[1 : 1 + NONCE], sealed[1 + NONCE :], bound)
        except (InvalidTag, ValueError) as error:
            raise DamagedCiphertext("the ciphertext does not belong to this application key") from error

    def compute_mac(self, purpose: str, message: bytes) -> bytes:
        """Return 32 bytes of HMAC-SHA256. Compare them with `hmac.compare_digest`."""
        return hmac.new(self._sub_key(purpose), message, hashlib.sha256).digest()


def load_or_make_vault(path: Path, database: Path) -> Vault:
    """Return the vault of the application key at `path`, which is made with mode 0600 before the `database` is.

    Raises UnusableKey if one of the two was lost, or if the key is damaged.
    """
    begun = (
        database.exists()
    )  # checked before the key: another process that is making both makes the key first
    if path.exists() and any(path.parent.glob("*.pem")) and not (begun and database.stat().st_size):
        raise UnusableKey(  # seal certificates are made after the database, so there was one
            f"{database} is {'empty' if begun else 'missing'}, and the keys of an installation lie beside it; restore"
            " it from a backup, or move everything out of the folder to start again"
        )
    if not path.exists():
        if begun:  # a new key would decrypt nothing in it, and every audit trail would appear forged
            raise UnusableKey(
                f"{path} is missing, the key of the database beside it; restore it from a backup"
            )
        write_once(path, os.urandom(32))
    app_key = path.read_bytes()
    if len(app_key) != 32:
        raise UnusableKey(f"{path} is not an application key of 32 bytes; restore it from a backup")
    return Vault(app_key)


def write_once(path: Path, secret: bytes) -> None:
    """Write a file of mode 0600 completely or not at all. An existing file stays as it is."""
    with _write_part(path, secret) as part, suppress(FileExistsError):
        os.link(part, path)


def write_over(path: Path, secret: bytes) -> None:
    """Write a file of mode 0600 completely or not at all, replacing an existing one."""
    with _write_part(path, secret) as part:
        part.replace(path)


@contextmanager
def _write_part(path: Path, secret: bytes) -> Iterator[Path]:
    """Write the content to a temporary file beside `path`, for the block to put in place.

    After the block, both the file and its folder entry are on the disk.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        yield part
    finally:
        part.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
