"""Encrypt secrets at rest and compute the MACs of cursors and links, with keys derived from the application key.

There is one 32-byte key. HKDF-SHA256 (RFC 5869) derives a sub-key for each purpose. Encryption is AES-256-GCM
with a random nonce.

While the key is exchanged there are two: the newest writes, both read. A MAC that is stored of something that nobody
can ask for again, such as a recovery code, cannot be made anew. It is wrapped: encrypted together with the sub-keys
that may have made it.
"""

import asyncio
import fcntl
import hashlib
import hmac
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, TypeVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

VERSION = b"\x01"
NONCE = 12
KEY_BYTES = 32
MAC_BYTES = 32
WRAP = "wrapped-mac"
LEFTOVER = re.compile(r"\.(?P<name>.+)\.[0-9]+\.part")

T = TypeVar("T")
SubKeys = Callable[[str], bytes | None]


class DamagedCiphertext(Exception):
    """The ciphertext was not made with this key, or was changed."""


class UnusableKey(Exception):
    """The application key cannot be used; the message says why and what to do."""


def derive_sub_keys(app_key: bytes) -> SubKeys:
    """Return what derives the sub-key of a purpose. Raises ValueError unless the key has 32 bytes."""
    if len(app_key) != KEY_BYTES:
        raise ValueError("the application key must have 32 bytes")
    return lru_cache(maxsize=None)(
        lambda purpose: HKDF(SHA256(), KEY_BYTES, salt=None, info=purpose.encode()).derive(app_key)
    )


class Vault:
    """Encrypts and authenticates with the application key.

    `bound` ties a ciphertext to its place (an id), so that it cannot be moved to another row.
    """

    def __init__(self, app_key: bytes) -> None:
        self._newest = derive_sub_keys(app_key)
        self._older: tuple[SubKeys, ...] = ()  # of which the newest is the first
        self._forget_at: float | None = None  # monotonic seconds; set once the older keys are retired
        self._adopted = 0  # keys

    # ---------- the exchange of the key ----------

    @property
    def is_exchanging(self) -> bool:
        """Return whether an older key still reads all that it wrote."""
        return bool(self._older) and self._forget_at is None

    def adopt_key(self, app_key: bytes) -> None:
        """Write with this key from now on; those before it still read."""
        self._newest, self._older = derive_sub_keys(app_key), (self._newest, *self._older)
        self._forget_at = None
        self._adopted += 1

    def accept_older_key(self, app_key: bytes) -> None:
        """Read also what this key wrote."""
        self._older = (*self._older, derive_sub_keys(app_key))

    def retire_older_keys(self, purposes: Collection[str], until: float) -> None:
        """Forget all keys but the newest, except the sub-keys of these purposes, which read `until` then."""
        self._older = tuple(_keep_sub_keys(older, purposes) for older in self._older)
        self._forget_at = until

    def forget_retired_keys(self, now: float) -> None:
        """Forget the sub-keys whose time is over; `now` in monotonic seconds."""
        if self._forget_at is not None and self._forget_at <= now:
            self._older, self._forget_at = (), None

    def encrypt_anew(self, purpose: str, sealed: bytes, bound: bytes = b"") -> bytes | None:
        """Return the ciphertext by the newest key, None if that made it. Raises `DamagedCiphertext`."""
        plain, is_newest = self._open(purpose, sealed, bound)
        return None if is_newest else self.encrypt(purpose, plain, bound)

    def wrap_mac(self, purpose: str, kept: bytes) -> bytes | None:
        """Return a stored MAC in a form that only the newest key reads, None if it has it already.

        A MAC does not show which of the keys made it, so the sub-keys of all go with it.
        Raises `DamagedCiphertext`.
        """
        if len(kept) != MAC_BYTES:
            return self.encrypt_anew(WRAP, kept, purpose.encode())
        return self.encrypt(WRAP, kept + b"".join(self._list_sub_keys(purpose)), purpose.encode())

    # ---------- encryption ----------

    async def encrypt_aside(self, encrypt: Callable[[], T]) -> Callable[[], T]:
        """Encrypt in a thread; return what gives the result in the transaction that stores it.

        It encrypts again there if another key was adopted meanwhile. What is small is encrypted in its transaction.
        """
        adopted = self._adopted
        made = await asyncio.to_thread(encrypt)
        return lambda: made if adopted == self._adopted else encrypt()

    def encrypt(self, purpose: str, plain: bytes, bound: bytes = b"") -> bytes:
        nonce = os.urandom(NONCE)
        return VERSION + nonce + AESGCM(self._find_newest(purpose)).encrypt(nonce, plain, bound)

    def decrypt(self, purpose: str, sealed: bytes, bound: bytes = b"") -> bytes:
        """Return the plain bytes. Raises `DamagedCiphertext`."""
        return self._open(purpose, sealed, bound)[0]

    def _open(self, purpose: str, sealed: bytes, bound: bytes) -> tuple[bytes, bool]:
        """Return the plain bytes, and whether the newest key encrypted them. Raises `DamagedCiphertext`."""
        if sealed[:1] != VERSION:
            raise DamagedCiphertext("unknown version of the ciphertext")
        newest = self._find_newest(purpose)
        for key in self._list_sub_keys(purpose):
            with suppress(InvalidTag, ValueError):
                plain = AESGCM(key).decrypt(sealed[1 : 1 + NONCE], sealed[1 + NONCE :], bound)
                return plain, key is newest
        raise DamagedCiphertext("the ciphertext does not belong to this application key")

    # ---------- MACs ----------

    def compute_mac(self, purpose: str, message: bytes) -> bytes:
        """Return 32 bytes of HMAC-SHA256. Compare them with `is_mac`."""
        return _compute(self._find_newest(purpose), message)

    def compute_macs(self, purpose: str, message: bytes) -> list[bytes]:
        """Return the MAC by each key that reads, by the newest first."""
        return [_compute(key, message) for key in self._list_sub_keys(purpose)]

    def is_mac(self, purpose: str, message: bytes, mac: bytes, length: int = MAC_BYTES) -> bool:
        """Return whether `mac` is the beginning, of this length, of the message's MAC. Takes constant time."""
        found = [hmac.compare_digest(made[:length], mac) for made in self.compute_macs(purpose, message)]
        return any(found)

    def is_stored_mac(self, purpose: str, message: bytes, kept: bytes) -> bool:
        """Return whether `kept` was stored as the message's MAC, as it was made or wrapped.

        Raises `DamagedCiphertext` for a wrapped MAC that was changed.
        """
        if len(kept) == MAC_BYTES:
            return self.is_mac(purpose, message, kept)
        plain = self.decrypt(WRAP, kept, purpose.encode())
        mac, keys = plain[:MAC_BYTES], plain[MAC_BYTES:]
        found = [
            hmac.compare_digest(mac, _compute(keys[start : start + KEY_BYTES], message))
            for start in range(0, len(keys), KEY_BYTES)
        ]
        return any(found)

    def _find_newest(self, purpose: str) -> bytes:
        key = self._newest(purpose)
        assert key is not None
        return key

    def _list_sub_keys(self, purpose: str) -> list[bytes]:
        """Return the sub-keys of the purpose, the newest first."""
        return [key for keys in (self._newest, *self._older) if (key := keys(purpose)) is not None]


def _keep_sub_keys(keys: SubKeys, purposes: Collection[str]) -> SubKeys:
    """Return what still knows the sub-keys of these purposes, and no longer the key."""
    kept = {purpose: keys(purpose) for purpose in purposes}
    return kept.get


def _compute(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


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

    After the block, both the file and its folder entry are on the disk. While the file is there, it is locked.
    """
    remove_leftovers(path.parent, path.name)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with _create_locked(part) as file:
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


def _create_locked(part: Path) -> BinaryIO:
    """Return a new file of mode 0600, locked."""
    while True:
        file = os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # another process took it for a leftover before it was locked


def remove_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove what killed processes left of files that `write_once` and `write_over` were writing: of `name`, or of all.

    It holds secrets, so it is overwritten, unless the file has another name as well. What is being written, what
    belongs to somebody else and what is no file stays, and so does what cannot be removed.
    """
    with suppress(OSError):
        for part in list(folder.iterdir()):
            found = LEFTOVER.fullmatch(part.name)
            if found and name in (None, found["name"]):
                with suppress(OSError):
                    _remove_leftover(part)


def _remove_leftover(part: Path) -> None:
    with os.fdopen(os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK), "r+b") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = os.fstat(file.fileno())
        if found.st_nlink == 1:
            overwrite(file)
        if found.st_nlink:
            part.unlink(missing_ok=True)


def overwrite(file: BinaryIO) -> None:
    """Replace the content of an open file by zeros, on the disk."""
    file.seek(0)
    file.write(bytes(os.fstat(file.fileno()).st_size))
    file.flush()
    os.fsync(file.fileno())
