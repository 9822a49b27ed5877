"""The file of the application key: where it lies, who may read it, and the passphrase that may protect it.

The file holds 32 bytes, or those encrypted with AES-256-GCM by a key that argon2id (RFC 9106) derives from a
passphrase. Both come from packages that the program needs anyway, and no other program has to read the file.
"""

import getpass
import logging
import os
import stat
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from argon2.exceptions import HashingError
from argon2.low_level import Type, hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from esign.system.interrupt import interrupt_at_once
from esign.system.vault import (
    KEY_BYTES,
    NONCE,
    UnusableKey,
    Vault,
    overwrite,
    remove_leftovers,
    write_once,
    write_over,
)

log = logging.getLogger("esign")

NAME = "app.key"
PASSPHRASE = "app.key.passphrase"  # noqa: S105 -- the name of systemd's credential
CREDENTIALS = "CREDENTIALS_DIRECTORY"
ALL_CREDENTIALS = Path("/run/credentials")
TRIES = 3
LEAST_PASSPHRASE = 12  # characters of a new one

MAGIC = b"esign app.key 1\n"
COST = struct.Struct(">III")  # passes, KiB, lanes
USUAL_COST = (3, 65_536, 4)  # the second choice of RFC 9106, section 4: 64 MiB, a tenth of a second
MOST_COST = (100, 2**20, 16)  # a file that asks for more was changed
SALT = 16
PROTECTED_BYTES = len(MAGIC) + COST.size + SALT + NONCE + KEY_BYTES + 16


class WrongPassphrase(UnusableKey):
    """The passphrase does not open the file."""


@dataclass(frozen=True, slots=True)
class KeySource:
    """What says where the application key of a database is, and what opens it.

    `key_file` and `passphrase` are those of the settings, `environ` has systemd's credentials. `may_ask`: the
    passphrase may be typed at a terminal.
    """

    database: Path
    key_file: Path | None = None
    passphrase: str | None = field(default=None, repr=False)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    may_ask: bool = False

    @property
    def inside(self) -> Path:
        """Return where the key is unless something else is said: in the data folder."""
        return self.database.with_name(NAME)

    @property
    def path(self) -> Path:
        """Return the file of the key."""
        if self.key_file is not None:
            return self.key_file
        credential = self.find_credential(NAME)
        return credential if credential is not None else self.inside

    @property
    def is_credential(self) -> bool:
        """Return whether the file is one of systemd's credentials, which only systemd writes."""
        folder = self.environ.get(CREDENTIALS)
        return self.path.is_relative_to(ALL_CREDENTIALS) or (
            bool(folder) and self.path.is_relative_to(Path(str(folder)))
        )

    def find_credential(self, name: str) -> Path | None:
        """Return the file of a credential that systemd gives the program, or None."""
        folder = self.environ.get(CREDENTIALS)
        return path if folder and (path := Path(folder) / name).exists() else None

    def read_passphrase(self) -> str | None:
        """Return the passphrase of the settings or of systemd's credential, None without one. Raises UnusableKey."""
        if self.passphrase is not None:
            return self.passphrase
        if (path := self.find_credential(PASSPHRASE)) is None:
            return None
        try:
            return path.read_text("utf-8").rstrip("\r\n")
        except (OSError, ValueError):
            raise UnusableKey(f"{path} cannot be read as text in UTF-8") from None


def forget_leftovers(source: KeySource) -> None:
    """Remove what killed processes left of secrets in the data folder, and of the key where it is."""
    remove_leftovers(source.database.parent)
    if source.path != source.inside and not source.is_credential:
        remove_leftovers(source.path.parent, source.path.name)


def open_vault(source: KeySource) -> Vault:
    """Return the vault of the application key, which is made with mode 0600 before the database is.

    Raises UnusableKey if the key or the database was lost, or the key cannot be used; the message says why.
    """
    return Vault(read_or_make_key(source))


def read_or_make_key(source: KeySource) -> bytes:
    """Return the key; see `open_vault`."""
    path, database = source.path, source.database
    begun = (
        database.exists()
    )  # checked before the key: another process that is making both makes the key first
    is_there = path.exists()
    if is_there and any(database.parent.glob("*.pem")) and not (begun and database.stat().st_size):
        raise UnusableKey(  # seal certificates are made after the database, so there was one
            f"{database} is {'empty' if begun else 'missing'}, and the keys of an installation lie beside it; restore"
            " it from a backup, or move everything out of the folder to start again"
        )
    if not is_there:
        refuse_lost_key(source, begun)
        make_key(path)
    content = read_file(source)
    app_key = open_content(source, path, content)
    compare_with_inside(source, content, app_key)
    return app_key


def refuse_lost_key(source: KeySource, begun: bool) -> None:
    """Raise UnusableKey unless a key that is missing may be made."""
    path = source.path
    if source.is_credential:
        raise UnusableKey(
            f"{path} is missing; let systemd load it with LoadCredential= or LoadCredentialEncrypted=,"
            " or leave out storage.key_file"
        )
    if path != source.inside and source.inside.exists():
        raise UnusableKey(
            f"{path} is missing, and the key is in {source.inside}; move it to storage.key_file,"
            " or leave that setting out"
        )
    if begun:  # a new key would decrypt nothing in it, and every audit trail would appear forged
        if path == source.inside:
            raise UnusableKey(
                f"{path} is missing, the key of the database beside it; restore it from a backup,"
                " or set storage.key_file to where it is"
            )
        raise UnusableKey(
            f"{path} is missing, the key of the database in {source.database.parent}; restore it from a backup,"
            " or set storage.key_file to where it is"
        )


def make_key(path: Path) -> None:
    """Make a key, unless another process has just made one. Raises UnusableKey where the folder takes none."""
    if not path.parent.is_dir():
        raise UnusableKey(
            f"the folder of storage.key_file, {path.parent}, is missing; make it, and let only the user that"
            " esign runs as enter it"
        )
    try:
        write_once(path, os.urandom(KEY_BYTES))
    except (PermissionError, FileNotFoundError) as error:
        raise UnusableKey(
            f"{path} cannot be made: {error.strerror}; let the user that esign runs as write its folder"
            " for the first start, or put 32 random bytes there"
        ) from None


def read_file(source: KeySource) -> bytes:
    """Return the content of the file. Raises UnusableKey for one outside the data folder that others can read."""
    path = source.path
    if path == source.inside:  # the folder is closed to others
        return path.read_bytes()
    try:
        found = path.stat()
        content = path.read_bytes()
    except OSError as error:
        raise UnusableKey(
            f"{path} cannot be read: {error.strerror}; let the user that esign runs as read it"
        ) from None
    refuse_open_modes(path, found)
    return content


def refuse_open_modes(path: Path, found: os.stat_result) -> None:
    """Raise UnusableKey if the key can be read by more than its user.

    Root may let the group of this program read it: that is how systemd and others hand over what root owns.
    """
    of_root = found.st_uid == 0 and os.geteuid() != 0
    if found.st_mode & (stat.S_IRWXO if of_root else stat.S_IRWXO | stat.S_IRWXG):
        raise UnusableKey(f"{path} is open to other users; close it with: chmod 600 {path}")


def compare_with_inside(source: KeySource, content: bytes, app_key: bytes) -> None:
    """Warn of a second copy of the key in the data folder. Raises UnusableKey if it is another key."""
    inside = source.inside
    if source.path == inside or not inside.exists():
        return
    other = inside.read_bytes()
    if other not in (content, app_key):
        raise UnusableKey(
            f"{inside} and {source.path} are different keys; move the one that does not belong to this database away"
        )
    log.warning(
        "the key of the database is also in %s; delete that copy, since %s is used", inside, source.path
    )


# ---------- the passphrase ----------


def is_protected(content: bytes) -> bool:
    """Return whether the content of a key file is encrypted with a passphrase."""
    return content.startswith(MAGIC)


def is_key_protected(source: KeySource) -> bool:
    """Return whether there is a key that is encrypted with a passphrase. Raises UnusableKey."""
    return source.path.exists() and is_protected(read_file(source))


def open_content(source: KeySource, path: Path, content: bytes) -> bytes:
    """Return the key in the content of a file. Raises UnusableKey."""
    if not is_protected(content):
        if len(content) != KEY_BYTES:
            raise UnusableKey(f"{path} is not an application key of 32 bytes; restore it from a backup")
        return content
    return unlock(content, find_passphrase(source, content), path)


def find_passphrase(source: KeySource, content: bytes) -> str:
    """Return the passphrase of a protected file, from the settings or typed. Raises UnusableKey."""
    path = source.path
    refuse_changed_file(content, path)
    given = source.read_passphrase()
    if given is not None:
        return given
    if not (source.may_ask and sys.stdin is not None and sys.stdin.isatty()):
        raise UnusableKey(
            f"{path} is protected by a passphrase, and none is given; set storage.key_passphrase, better in"
            " ESIGN_STORAGE__KEY_PASSPHRASE_FILE, or start esign in a terminal"
        )
    for _ in range(TRIES):
        typed = type_passphrase(f"Passphrase of {path}: ")
        with suppress(WrongPassphrase):
            unlock(content, typed, path)
            return typed
        log.warning("this is not the passphrase of %s", path)
    raise WrongPassphrase(
        f"none of {TRIES} passphrases opens {path}; restore the file from a backup if it was changed"
    )


def remember_passphrase(source: KeySource) -> KeySource:
    """Return the source with the passphrase of its file, so that it is typed once. Raises UnusableKey."""
    if not source.may_ask or not is_key_protected(source):
        return source
    return replace(source, passphrase=find_passphrase(source, read_file(source)))


def type_passphrase(prompt: str) -> str:
    """Return what is typed at the terminal, without an echo. Raises UnusableKey if the terminal is closed."""
    try:
        with interrupt_at_once():
            return getpass.getpass(prompt)
    except EOFError:
        raise UnusableKey("no passphrase was typed, and app.key is protected by one") from None


def protect(app_key: bytes, passphrase: str) -> bytes:
    """Return the content of a key file that only this passphrase opens."""
    head = MAGIC + COST.pack(*USUAL_COST) + os.urandom(SALT)
    nonce = os.urandom(NONCE)
    return head + nonce + AESGCM(_derive_key(head, passphrase)).encrypt(nonce, app_key, head)


def refuse_changed_file(content: bytes, path: Path) -> None:
    """Raise UnusableKey if a protected file has another form than `protect` gives it."""
    is_whole = len(content) == PROTECTED_BYTES
    cost = COST.unpack_from(content, len(MAGIC)) if is_whole else ()
    if not is_whole or any(asked > most for asked, most in zip(cost, MOST_COST, strict=True)):
        raise UnusableKey(f"{path} is a protected application key that was changed; restore it from a backup")


def unlock(content: bytes, passphrase: str, path: Path) -> bytes:
    """Return the key in a protected file. Raises UnusableKey, and WrongPassphrase."""
    refuse_changed_file(content, path)
    start = len(MAGIC) + COST.size + SALT
    head, nonce, sealed = content[:start], content[start : start + NONCE], content[start + NONCE :]
    try:
        return AESGCM(_derive_key(head, passphrase)).decrypt(nonce, sealed, head)
    except HashingError:
        raise UnusableKey(
            f"{path} is a protected application key that was changed; restore it from a backup"
        ) from None
    except InvalidTag:
        raise WrongPassphrase(
            f"the passphrase does not open {path}; give the one of esign keys protect-app, or restore the file"
            " from a backup if it was changed"
        ) from None


def _derive_key(head: bytes, passphrase: str) -> bytes:
    passes, kibibytes, lanes = COST.unpack_from(head, len(MAGIC))
    return hash_secret_raw(passphrase.encode(), head[-SALT:], passes, kibibytes, lanes, KEY_BYTES, Type.ID)


# ---------- another content of the same file ----------


def find_obstacle(source: KeySource) -> str | None:
    """Return why this program cannot write another key in place of the file, or None."""
    path = source.path
    if source.is_credential:
        return f"{path} is a credential of systemd, which only systemd writes"
    if path.exists() and path.stat().st_uid != os.geteuid():
        return f"{path} belongs to another user; run the command as its owner"
    if path.is_symlink() or not os.access(path.parent, os.W_OK | os.X_OK) or path.is_mount():
        return f"{path} cannot be replaced by this user"
    if path != source.inside and source.inside.exists():
        return f"a copy of the key is in {source.inside}; delete it first"
    return None


def replace_file(source: KeySource, content: bytes) -> bool:
    """Put `content` in place of the key file, and overwrite what was there. Return whether that could be overwritten.

    The new content is complete on the disk before anything of the old is lost. What has another name as well, such
    as in a backup by hard links, is not overwritten.
    """
    with suppress(OSError):
        source.path.chmod(0o600)  # it may have been 0400
    with suppress(OSError), source.path.open("r+b") as old:
        write_over(source.path, content)
        if os.fstat(old.fileno()).st_nlink:
            return False
        overwrite(old)
        return True
    if source.path.read_bytes() != content:
        write_over(source.path, content)
    return False
