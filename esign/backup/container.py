"""The file of a backup: a zip without compression of what can be read by everybody, and of the content.

`about.json` says what it is, and how it is encrypted; `content.tar.age` or, unencrypted, `content.tar` holds the files;
`key.age` the key of the content, encrypted with the passphrase. So `unzip`, `age` and `tar` open it too.
"""

import json
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import BinaryIO

import pyrage

from esign.backup.archive import DamagedBackup
from esign.backup.encryption import (
    Identity,
    Protection,
    WrongKey,
    encrypt_pieces,
    open_encrypted,
    parse_recipient,
)

FORMAT = 1
INCREMENT = 2  # the format of what holds the changes since another backup
ABOUT, KEY, ENCRYPTED, PLAIN = "about.json", "key.age", "content.tar.age", "content.tar"
PASSPHRASE, PUBLIC_KEYS, NOTHING = "passphrase", "public keys", "nothing"
LARGEST_ENTRY = 64 * 1024  # bytes of the two small files


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
            with archive.open(PLAIN, "w", force_zip64=True) as entry:
                for piece in content:
                    entry.write(piece)
            return None
        identity = pyrage.x25519.Identity.generate()
        if protection.passphrase is not None:
            archive.writestr(KEY, pyrage.passphrase.encrypt(str(identity).encode(), protection.passphrase))
        recipients = [identity.to_public(), *map(parse_recipient, protection.recipients)]
        with archive.open(ENCRYPTED, "w", force_zip64=True) as entry:
            encrypt_pieces(content, entry, recipients)  # type: ignore[arg-type]
        return identity


def read_about(archive: zipfile.ZipFile) -> BackupAbout:
    """Return what a backup says of itself. Raise DamagedBackup or NewerBackup."""
    try:
        about = json.loads(read_entry(archive, ABOUT))
        number = int(about["format"])
        if number > INCREMENT:
            raise NewerBackup(
                f"it was made by esign {about.get('esign', '')} in a format that this version does not know"
            )
        said = (number, str(about["esign"]), str(about["made_at"]), str(about["encrypted_with"]))
        if number < INCREMENT:
            return BackupAbout(*said)
        return IncrementAbout(*said, str(about["base"]), str(about["base_tree"]), int(about["size"]))
    except (ValueError, KeyError, TypeError):
        raise DamagedBackup("it does not say what it is") from None


def read_entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a small file of a backup. Raise DamagedBackup if it is missing or large."""
    try:
        with archive.open(name) as entry:
            return entry.read(LARGEST_ENTRY)
    except (KeyError, zipfile.BadZipFile) as error:
        raise DamagedBackup(f"it has no {name} that can be read: {error}") from None


@contextmanager
def open_archive(source: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """Give the zip of a backup. Raise DamagedBackup if it is none."""
    try:
        archive = zipfile.ZipFile(source)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise DamagedBackup(f"it is no backup of esign, or was cut off: {error}") from None
    with archive:
        yield archive


@contextmanager
def open_content(archive: zipfile.ZipFile, identity: Identity | None) -> Iterator[BinaryIO]:
    """Give the tar of a backup as a stream. Raise WrongKey or DamagedBackup, also as the block ends."""
    names = archive.namelist()
    name = PLAIN if read_about(archive).encrypted_with == NOTHING else ENCRYPTED
    if name not in names:
        raise DamagedBackup("it has no content, or not the one that it names")
    if name == ENCRYPTED and identity is None:
        raise WrongKey("it is encrypted; give its passphrase or a private key")
    try:
        with archive.open(name) as entry:
            if identity is None or name == PLAIN:
                yield entry  # type: ignore[misc]
            else:
                with open_encrypted(entry, identity) as stream:  # type: ignore[arg-type]
                    yield stream
    except zipfile.BadZipFile as error:
        raise DamagedBackup(f"it was changed: {error}") from None


def unlock(archive: zipfile.ZipFile, passphrase: str) -> Identity:
    """Return the key of a backup that its passphrase protects. Raise WrongKey or DamagedBackup."""
    if KEY not in archive.namelist():
        raise WrongKey("it was not encrypted with a passphrase")
    try:
        text = pyrage.passphrase.decrypt(read_entry(archive, KEY), passphrase)
        return pyrage.x25519.Identity.from_str(text.decode())
    except (pyrage.DecryptError, pyrage.IdentityError, ValueError):
        raise WrongKey("the passphrase is not the one that it was made with") from None
