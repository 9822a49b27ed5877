"""The file of a backup: a zip without compression of what can be read by everybody, and of the content.

`about.json` says what it is, and how it is encrypted; `content.tar.age` or, unencrypted, `content.tar` holds the files;
`key.age` the key of the content, encrypted with the passphrase. So `unzip`, `age` and `tar` open it too.
"""

import errno
import io
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING, BinaryIO

import pyrage

from esign.backup.archive import PIECE, DamagedBackup
from esign.backup.encryption import (
    Identity,
    Protection,
    WrongKey,
    encrypt_pieces,
    open_encrypted,
    parse_recipient,
)
from esign.backup.handover import HandoverWriter, Readable, write_behind
from esign.backup.steady_file import SteadyWriter
from esign.core.instant import parse

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

FORMAT = 1
INCREMENT = 2  # the format of what holds the changes since another backup
ABOUT, KEY, ENCRYPTED, PLAIN = "about.json", "key.age", "content.tar.age", "content.tar"
PASSPHRASE, PUBLIC_KEYS, NOTHING = "passphrase", "public keys", "nothing"
LARGEST_ENTRY = 64 * 1024  # bytes of the two small files
VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")  # it is printed before the backup is known to be ours
BASE = re.compile(r"\w[\w.+-]{0,199}")  # the name of a file beside it
ENCRYPTED_ENTRY = 1  # the flag of a zip's own encryption
# What the library raises about a file that is no zip, or one that was changed.
ODD_ZIP = (
    zipfile.BadZipFile,
    struct.error,
    zlib.error,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    OverflowError,
    RuntimeError,  # NotImplementedError, too
)


class NewerBackup(Exception):
    """The backup was made by a newer version of the program."""


@dataclass(frozen=True, slots=True)
class BackupAbout:
    """What a backup says of itself without being decrypted; `made_at` as in RFC 3339."""

    format: int
    esign: str
    made_at: str
    encrypted_with: str


@dataclass(frozen=True, slots=True)
class IncrementAbout(BackupAbout):
    """What an increment says of itself besides.

    `base` is the name of the whole backup that it needs, `base_tree` the hash of the database in it, as
    `database_blocks.hash_tree` computes it, and `size` that of the changed database in bytes.
    """

    base: str
    base_tree: str
    size: int


def describe_protection(protection: Protection) -> str:
    """Return with what a backup is encrypted, as `about.json` says it."""
    if protection.is_plain():
        return NOTHING
    return PASSPHRASE if protection.passphrase is not None else PUBLIC_KEYS


def write_backup(
    target: BinaryIO, content: Iterable[bytes], protection: Protection, about: BackupAbout
) -> Identity | None:
    """Write a backup, and return the key that decrypts its content, made for it alone and kept nowhere else.

    Raise what `content` and `target` raise.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(ABOUT, json.dumps(asdict(about), indent=1))
        if protection.is_plain():
            with archive.open(PLAIN, "w", force_zip64=True) as entry, write_steadily(target, entry) as late:
                for piece in content:
                    late.write(piece)
            return None
        identity = pyrage.x25519.Identity.generate()
        if protection.passphrase is not None:
            archive.writestr(KEY, pyrage.passphrase.encrypt(str(identity).encode(), protection.passphrase))
        recipients = [identity.to_public(), *map(parse_recipient, protection.recipients)]
        with archive.open(ENCRYPTED, "w", force_zip64=True) as entry, write_steadily(target, entry) as late:
            encrypt_pieces(content, late, recipients)
        return identity


def write_steadily(target: BinaryIO, entry: IO[bytes]) -> AbstractContextManager[HandoverWriter]:
    """Give what writes a file of a zip, the file `target`, in a thread."""
    return write_behind(SteadyWriter(target, entry))


def read_about(archive: zipfile.ZipFile) -> BackupAbout:
    """Return what a backup says of itself. Raise DamagedBackup or NewerBackup."""
    try:
        about = json.loads(read_entry(archive, ABOUT))
        number, version = int(about["format"]), str(about["esign"])
        made_at, protection = str(about.get("made_at")), str(about.get("encrypted_with"))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise DamagedBackup("it does not say what it is") from None
    if not (VERSION.fullmatch(version) and made_at.isprintable()):
        raise DamagedBackup("it does not say of which version it is")
    if number > INCREMENT:
        raise NewerBackup(f"it was made by esign {version} in a format that this version does not know")
    try:
        parse(made_at)
    except (ValueError, OverflowError):
        raise DamagedBackup("it does not say when it was made") from None
    if protection not in (PASSPHRASE, PUBLIC_KEYS, NOTHING):
        raise DamagedBackup("it does not say how it is encrypted")
    if number < INCREMENT:
        return BackupAbout(number, version, made_at, protection)
    base, tree, size = about.get("base"), about.get("base_tree"), about.get("size")
    if not (
        isinstance(base, str) and BASE.fullmatch(base) and isinstance(tree, str) and isinstance(size, int)
    ):
        raise DamagedBackup("it does not say which backup it needs")
    return IncrementAbout(number, version, made_at, protection, base, tree, size)


def read_entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a small file of a backup. Raise DamagedBackup if it is missing or large."""
    with explain_zip():
        if archive.getinfo(name).file_size > LARGEST_ENTRY:
            raise DamagedBackup(f"its {name} is too large")
        with archive.open(name) as entry:
            return entry.read(LARGEST_ENTRY)


@contextmanager
def explain_zip() -> Iterator[None]:
    """Raise DamagedBackup for what the library raises about a zip that was changed."""
    try:
        yield
    except (*ODD_ZIP, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # of the disk; a place before the beginning is EINVAL
        raise DamagedBackup(f"it is no backup of esign, or was changed or cut off: {error}") from None


@contextmanager
def open_archive(source: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """Give the zip of a backup. Raise DamagedBackup if it is none, or holds anything that `write_backup` does not."""
    with explain_zip():
        size = source.seek(0, os.SEEK_END)
        source.seek(0)
        archive = zipfile.ZipFile(source)
    with archive:
        require_stored(archive.infolist(), size)
        yield archive


def require_stored(entries: Sequence[zipfile.ZipInfo], size: int) -> None:
    """Raise DamagedBackup unless the entries of a zip of `size` bytes are those of a backup, once and uncompressed."""
    names = [entry.filename for entry in entries]
    if not {*names} <= {ABOUT, KEY, ENCRYPTED, PLAIN} or len({*names}) < len(names):
        raise DamagedBackup("it holds other files than a backup of esign")
    for entry in entries:
        is_stored = entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size
        if not is_stored or entry.flag_bits & ENCRYPTED_ENTRY or entry.file_size > size:
            raise DamagedBackup(f"its {entry.filename} is not stored as a backup of esign stores it")


def measure_content(archive: zipfile.ZipFile) -> int:
    """Return how many bytes the files of a backup can have: encryption makes them no fewer."""
    return max(
        (entry.file_size for entry in archive.infolist() if entry.filename in (PLAIN, ENCRYPTED)), default=0
    )


@contextmanager
def open_content(archive: zipfile.ZipFile, identity: Identity | None) -> Iterator[Readable]:
    """Give the tar of a backup as a stream. Raise WrongKey or DamagedBackup, also as the block ends."""
    names = archive.namelist()
    name = PLAIN if read_about(archive).encrypted_with == NOTHING else ENCRYPTED
    if name not in names:
        raise DamagedBackup("it has no content, or not the one that it names")
    if name == ENCRYPTED and identity is None:
        raise WrongKey("it is encrypted; give its passphrase or a private key")
    with explain_zip():
        entry = archive.open(name)
    with entry:
        if identity is None or name == PLAIN:
            yield io.BufferedReader(EntryReader(entry), PIECE)
        else:
            with open_encrypted(io.BufferedReader(EntryReader(entry), PIECE), identity) as stream:
                yield stream


class EntryReader(io.RawIOBase):
    """Reads a file of a zip. Raises DamagedBackup where the zip was changed."""

    def __init__(self, entry: IO[bytes]) -> None:
        self._entry = entry

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill the buffer as far as one read does, and return with how many bytes; 0 at the end."""
        view = memoryview(buffer)
        with explain_zip():
            content = self._entry.read(len(view))
        view[: len(content)] = content
        return len(content)


def unlock(archive: zipfile.ZipFile, passphrase: str) -> Identity:
    """Return the key of a backup that its passphrase protects. Raise WrongKey or DamagedBackup."""
    if KEY not in archive.namelist():
        raise WrongKey("it was not encrypted with a passphrase")
    try:
        text = pyrage.passphrase.decrypt(read_entry(archive, KEY), passphrase)
        return pyrage.x25519.Identity.from_str(text.decode())
    except (pyrage.DecryptError, pyrage.IdentityError, ValueError):
        raise WrongKey("the passphrase is not the one that it was made with") from None
