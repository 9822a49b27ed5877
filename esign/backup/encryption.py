"""Encryption of backups in the format of age (https://age-encryption.org/v1), which its own tools can open.

With a passphrase, the backup is encrypted for a key made for it alone, and that key with the passphrase: age takes a
whole file into memory to encrypt it with one.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyrage

from esign.backup.archive import DamagedBackup
from esign.backup.handover import Handover, HandoverWriter, PieceReader, Readable, Writable, run_beside

# Of `pyrage.x25519` or `pyrage.ssh`; pyrage ships without types.
Identity: TypeAlias = Any  # a private key
Recipient: TypeAlias = Any  # a public key


class WrongKey(Exception):
    """The backup cannot be decrypted with the passphrase or the key that was given; the message says why."""


class Pipe:
    """Both ends of an encryption, as the library reads and writes them. It keeps the error that ended it.

    The library turns an error of one end into text.
    """

    def __init__(self, pieces: Iterable[bytes], target: Writable) -> None:
        self._source, self._target = PieceReader(pieces), target
        self.error: BaseException | None = None

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; none at the end."""
        try:
            return self._source.read(size)
        except BaseException as error:  # of a signal, too
            self.error = error
            raise

    def write(self, content: bytes) -> int:
        """Write all of it, and return how many bytes these were."""
        try:
            self._target.write(content)
            return len(content)
        except BaseException as error:  # of a signal, too
            self.error = error
            raise

    def flush(self) -> None:
        """Do nothing: the caller flushes the target."""


@dataclass(frozen=True, slots=True)
class Protection:
    """What a backup is encrypted with: a passphrase, public keys of age or SSH, or nothing."""

    passphrase: str | None = None
    recipients: tuple[str, ...] = ()

    def is_plain(self) -> bool:
        """Return whether everybody who has the file can read it."""
        return self.passphrase is None and not self.recipients


def parse_recipient(text: str) -> Recipient:
    """Return a public key. Raise ValueError if it is none of age (`age1…`) or SSH."""
    kind = pyrage.ssh if text.startswith("ssh-") else pyrage.x25519
    try:
        return kind.Recipient.from_str(text)
    except pyrage.RecipientError as error:
        raise ValueError(f"no public key of age or SSH: {error}") from None


def parse_identity(text: bytes) -> Identity:
    """Return a private key, as `age-keygen` or `ssh-keygen` writes it. Raise WrongKey if it is none."""
    lines = [line for line in text.splitlines() if line.startswith(b"AGE-SECRET-KEY-")]
    try:
        if lines:
            return pyrage.x25519.Identity.from_str(lines[0].strip().decode())
        return pyrage.ssh.Identity.from_buffer(text)
    except (pyrage.IdentityError, ValueError) as error:
        raise WrongKey(f"no private key of age or SSH: {error}") from None


def encrypt_pieces(pieces: Iterable[bytes], target: Writable, recipients: Iterable[Recipient]) -> None:
    """Encrypt what is yielded into `target`, a piece at a time. Raise what either of the two raises."""
    pipe = Pipe(pieces, target)
    try:
        pyrage.encrypt_io(pipe, pipe, list(recipients))
    except pyrage.EncryptError:
        raise (pipe.error or RuntimeError("the encryption failed")) from None


@contextmanager
def open_encrypted(source: Readable, identity: Identity) -> Iterator[Readable]:
    """Give what `source` holds encrypted as a stream. Raise WrongKey or DamagedBackup as the block ends.

    Each 64 KiB are authenticated before they are given; that nothing is missing shows only at the end.
    """
    failed: list[BaseException] = []
    handover = Handover()

    def decrypt() -> None:
        writer = HandoverWriter(handover)
        try:
            pyrage.decrypt_io(source, writer, [identity])
            writer.flush()
        except BrokenPipeError:
            pass  # the block read no further
        except BaseException as error:  # it is raised below
            failed.append(error)
        finally:
            handover.finish()

    try:
        with run_beside(decrypt, handover.leave):
            yield PieceReader(handover)
    except DamagedBackup as error:
        failed.append(error)
    if failed:
        raise explain_failure(failed)


def explain_failure(failed: list[BaseException]) -> BaseException:
    """Return the error that tells why a backup cannot be read; that of the decryption comes first."""
    for error in failed:
        if isinstance(error, pyrage.DecryptError):
            if "No matching keys" in str(error):
                return WrongKey("it was not encrypted for this key")
            return DamagedBackup(f"it is no backup, or was cut off: {error}")
        if isinstance(error, OSError) and error.errno is None:
            return DamagedBackup("it was changed, or cut off")
    return failed[0]
