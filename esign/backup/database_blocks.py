"""The database in blocks with a hash each, by which an increment knows what has changed since a whole backup.

The blocks are those of the file alone. What the log of the moment holds besides goes into every backup whole, so a
block that a checkpoint changes while it is read is right again once SQLite has opened file and log together.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from esign.backup.archive import ArchiveFile
from esign.backup.encryption import Protection

BLOCK = 64 * 1024  # bytes; a piece of an archive is a multiple of it
HASH = hashlib.sha256().digest_size
AT_ONCE = 16  # blocks
FILE = "backup-blocks"  # in the data folder: the blocks of the last whole backup
COST = {"n": 2**14, "r": 8, "p": 1, "dklen": 32}  # of scrypt (RFC 7914)
SALT = 16


def count_blocks(size: int) -> int:
    """Return how many blocks a file of this size has."""
    return -(-size // BLOCK)


def hash_block(content: bytes) -> bytes:
    """Return the hash of a block; the last one of a file is filled up with zeros."""
    return hashlib.sha256(content.ljust(BLOCK, b"\0")).digest()


def hash_tree(size: int, hashes: bytes | bytearray) -> str:
    """Return one hash, in hexadecimal, for a file of this size with these blocks."""
    return hashlib.sha256(size.to_bytes(8, "big") + hashes).hexdigest()


def hash_file(file: ArchiveFile) -> bytearray:
    """Return the hashes of the blocks of a file, one behind the other."""
    hashes = bytearray()
    for offset in range(0, file.size, AT_ONCE * BLOCK):
        piece = file.read(offset, AT_ONCE * BLOCK)
        for start in range(0, len(piece), BLOCK):
            hashes += hash_block(piece[start : start + BLOCK])
    return hashes


def hash_while_read(file: ArchiveFile, hashes: bytearray) -> ArchiveFile:
    """Return the same file, which appends the hashes of its blocks as it is read once from its beginning."""

    def read(offset: int, size: int) -> bytes:
        piece = file.read(offset, size)
        for start in range(0, len(piece), BLOCK):
            hashes.extend(hash_block(piece[start : start + BLOCK]))
        return piece

    return replace(file, read=read)


def list_changed(base: bytes, hashes: bytes | bytearray) -> list[int]:
    """Return the numbers of the blocks that differ from those of the base, or that it does not have."""
    return [
        start // HASH
        for start in range(0, len(hashes), HASH)
        if hashes[start : start + HASH] != base[start : start + HASH]
    ]


def gather_blocks(file: ArchiveFile, name: str, numbers: Sequence[int], hashes: bytearray) -> ArchiveFile:
    """Return a file of some blocks of another, one behind the other, which corrects their hashes as it is read."""

    def read(offset: int, size: int) -> bytes:
        found = []
        for number in numbers[offset // BLOCK : (offset + size) // BLOCK]:
            block = file.read(number * BLOCK, BLOCK).ljust(BLOCK, b"\0")
            hashes[number * HASH : (number + 1) * HASH] = hash_block(block)
            found.append(block)
        return b"".join(found)

    return ArchiveFile(name, len(numbers) * BLOCK, read)


@dataclass(frozen=True, slots=True)
class BaseBlocks:
    """The blocks of the database in the whole backup `name`, whose file at the target `place` has `file_size` bytes.

    `mark` tells whether it was encrypted with the same keys, and tells nothing of these.
    """

    name: str
    place: str
    size: int
    mark: str
    hashes: bytes
    file_size: int

    @property
    def tree(self) -> str:
        """Return the hash of all of them."""
        return hash_tree(self.size, self.hashes)


def mark_protection(protection: Protection, salt: bytes) -> str:
    """Return a text that is the same for the same passphrase and public keys, and slow to guess them from."""
    what = json.dumps([protection.passphrase, *protection.recipients]).encode()
    return f"{salt.hex()}:{hashlib.scrypt(what, salt=salt, **COST).hex()}"


def is_marked(protection: Protection, mark: str) -> bool:
    """Return whether a mark is that of these keys."""
    return mark == mark_protection(protection, bytes.fromhex(mark.partition(":")[0]))


def save_base(folder: Path, base: BaseBlocks) -> None:
    """Keep the blocks of a whole backup in the data folder, in the place of those before."""
    head = {name: getattr(base, name) for name in ("name", "place", "size", "mark", "tree", "file_size")}
    part = folder / f".{FILE}.part"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(json.dumps(head).encode() + b"\n" + base.hashes)
        file.flush()
        os.fsync(file.fileno())
    part.rename(folder / FILE)


def load_base(folder: Path) -> BaseBlocks | None:
    """Return the blocks of the last whole backup; None if none are kept, or they are not whole."""
    try:
        line, hashes = (folder / FILE).read_bytes().split(b"\n", 1)
        head = json.loads(line)
        base = BaseBlocks(
            name=str(head["name"]),
            place=str(head["place"]),
            size=int(head["size"]),
            mark=str(head["mark"]),
            hashes=hashes,
            file_size=int(head["file_size"]),
        )
        return base if base.tree == head["tree"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def forget_base(folder: Path) -> None:
    """Make the next backup a whole one."""
    (folder / FILE).unlink(missing_ok=True)
