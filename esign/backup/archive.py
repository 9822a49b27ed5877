"""The content of a backup: a tar of flat files and, as the last one, a list of them with their hashes."""

import hashlib
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import IO, BinaryIO

MANIFEST = "manifest.json"
PIECE = 1024 * 1024  # bytes
LARGEST_MANIFEST = 16 * 2**20


class DamagedBackup(Exception):
    """The file is no backup, or not the one that was made; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """A file that goes into a backup: a relative path, its size in bytes, and what reads `size` bytes at an offset."""

    name: str
    size: int
    read: Callable[[int, int], bytes]


@dataclass(frozen=True, slots=True)
class FileHash:
    """What the manifest says of a file; the SHA-256 in hexadecimal."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The last file of the archive: what else is in it, and what the backup says of itself."""

    files: list[FileHash]
    about: Mapping[str, object]


def hold_content(name: str, content: bytes) -> ArchiveFile:
    """Return a file with this content."""
    return ArchiveFile(name, len(content), lambda offset, size: content[offset : offset + size])


def stream_archive(files: Iterable[ArchiveFile], about: Mapping[str, object]) -> Iterator[bytes]:
    """Yield the bytes of the tar, a piece at a time, with the manifest behind the files."""
    known: list[FileHash] = []
    for file in files:
        yield make_header(file.name, file.size)
        digest = hashlib.sha256()
        for offset in range(0, file.size, PIECE):
            piece = file.read(offset, PIECE)
            if len(piece) != min(PIECE, file.size - offset):
                raise OSError(f"{file.name} became shorter while it was read")
            digest.update(piece)
            yield piece
        yield bytes(-file.size % tarfile.BLOCKSIZE)
        known.append(FileHash(file.name, file.size, digest.hexdigest()))
    content = json.dumps({"about": {**about}, "files": [asdict(each) for each in known]}, indent=1).encode()
    yield make_header(MANIFEST, len(content))
    yield content
    yield bytes(-len(content) % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE)


def make_header(name: str, size: int) -> bytes:
    """Return the blocks before a file in a tar."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    return member.tobuf(tarfile.PAX_FORMAT)


def read_archive(stream: BinaryIO, write: Callable[[str, Iterator[bytes]], None]) -> Manifest:
    """Give each file to `write` with its pieces, which it must use up, and return the manifest.

    Raise DamagedBackup for a path that leads elsewhere, anything but a file, a hash that differs, or a missing file.
    """
    found: list[FileHash] = []
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isreg() else None
                if content is None or not is_inside(member.name):
                    raise DamagedBackup(f"it holds {member.name!r}, which is no file of a data folder")
                if member.name == MANIFEST:
                    return check_manifest(content.read(LARGEST_MANIFEST), found)
                digest = hashlib.sha256()
                write(member.name, hash_pieces(content, digest.update))
                found.append(FileHash(member.name, member.size, digest.hexdigest()))
    except (tarfile.TarError, EOFError) as error:
        raise DamagedBackup(f"it ends too early or was changed: {error}") from None
    raise DamagedBackup("it ends before the list of its files")


def read_first(stream: BinaryIO, name: str, most: int) -> bytes | None:
    """Return the content of the first file, up to `most` bytes, if it has this name. Raise DamagedBackup."""
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            member = archive.next()
            if member is None or member.name != name or not member.isreg():
                return None
            content = archive.extractfile(member)
            return content.read(most) if content is not None else None
    except (tarfile.TarError, EOFError) as error:
        raise DamagedBackup(f"it ends too early or was changed: {error}") from None


def is_inside(name: str) -> bool:
    """Return whether a path stays below the folder that it is relative to."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and str(path) == name and "\\" not in name


def hash_pieces(content: IO[bytes], update: Callable[[bytes], None]) -> Iterator[bytes]:
    """Yield what is left of a stream in pieces, each hashed on its way."""
    while piece := content.read(PIECE):
        update(piece)
        yield piece


def check_manifest(content: bytes, found: list[FileHash]) -> Manifest:
    """Return the manifest. Raise DamagedBackup unless it lists the files that were found."""
    try:
        whole = json.loads(content)
        listed = [FileHash(**one) for one in whole["files"]]
        about = {**whole["about"]}
    except (ValueError, TypeError, KeyError):
        raise DamagedBackup("the list of its files cannot be read") from None
    if listed != found:
        wrong = {one.name for one in {*listed} ^ {*found}}
        raise DamagedBackup(f"it does not hold what it lists: {', '.join(sorted(wrong)) or 'another order'}")
    return Manifest(listed, about)
