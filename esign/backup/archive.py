"""The content of a backup: a tar of flat files and, as the last one, a list of them with their hashes."""

import hashlib
import json
import os
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from esign.backup.handover import Readable

MANIFEST = "manifest.json"
PIECE = 256 * 1024  # bytes: what was read is still in the processor's cache when it is written
LARGEST_MANIFEST = 16 * 2**20
LARGEST_HEADER = 64 * 1024  # of a file with a long name, or of more than 8 GiB
MOST_FILES = 50_000
LONGEST_PART, LONGEST_PATH = 255, 1024  # bytes of a name and of a path
NAMED = 5  # files that are named


class DamagedBackup(Exception):
    """The file is no backup, or not the one that was made; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """A file that goes into a backup: a relative path, its size in bytes, and what reads `size` bytes at an offset.

    `sha256`, in hexadecimal, is what the content has to have, if that is known before it is read.
    """

    name: str
    size: int
    read: Callable[[int, int], bytes]
    sha256: str | None = None


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


def hold_file(name: str, path: Path) -> ArchiveFile:
    """Return a file with the content of the one at `path`, which stays as it is."""

    def read(offset: int, size: int) -> bytes:
        with path.open("rb") as file:
            return os.pread(file.fileno(), size, offset)

    return ArchiveFile(name, path.stat().st_size, read)


def stream_archive(
    files: Iterable[ArchiveFile], about: Mapping[str, object], known: list[FileHash]
) -> Iterator[bytes]:
    """Yield the bytes of the tar, a piece at a time, with the manifest behind the files.

    What the manifest says of each file is noted in `known`, which is empty.
    """
    for file in files:
        yield make_header(file.name, file.size)
        digest = hashlib.sha256()
        for offset in range(0, file.size, PIECE):
            piece = file.read(offset, PIECE)
            if len(piece) != min(PIECE, file.size - offset):
                raise OSError(f"{file.name} became shorter while it was read")
            if file.sha256 is None:
                digest.update(piece)
            yield piece
        yield bytes(-file.size % tarfile.BLOCKSIZE)
        known.append(FileHash(file.name, file.size, file.sha256 or digest.hexdigest()))
    content = json.dumps({"about": {**about}, "files": [asdict(each) for each in known]}, indent=1).encode()
    yield make_header(MANIFEST, len(content))
    yield content
    yield bytes(-len(content) % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE)


def make_header(name: str, size: int) -> bytes:
    """Return the blocks before a file in a tar."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    return member.tobuf(tarfile.PAX_FORMAT)


def read_archive(stream: Readable, most: int, write: Callable[[str, Iterator[bytes]], None]) -> Manifest:
    """Give each file to `write` with its pieces, which it must use up, and return the manifest.

    `most` is how many bytes the stream can have: a file that says it has more is refused before anything of it is
    written. Raise DamagedBackup for a path that leads elsewhere or stands there twice, anything but a file, a hash that
    differs, or a missing file.
    """
    found: list[FileHash] = []
    names, folders = set[str](), set[str]()
    while (member := read_header(stream)) is not None:
        most -= member.size
        parents = {str(parent) for parent in PurePosixPath(member.name).parents}
        if not is_inside(member.name):
            raise DamagedBackup(f"it holds {member.name!r}, which is no file of a data folder")
        if member.name in names | folders or parents & names or len(names) >= MOST_FILES:
            raise DamagedBackup(f"it holds {member.name!r} twice, or too many files")
        if most < 0:
            raise DamagedBackup(f"it says that {member.name!r} is larger than the whole backup")
        if member.name == MANIFEST:
            if member.size > LARGEST_MANIFEST:
                raise DamagedBackup("the list of its files is too long")
            return check_manifest(b"".join(read_pieces(stream, member.size)), found)
        names.add(member.name)
        folders |= parents
        digest = hashlib.sha256()
        write(member.name, hash_pieces(read_pieces(stream, member.size), digest.update))
        read_exactly(stream, -member.size % tarfile.BLOCKSIZE)
        found.append(FileHash(member.name, member.size, digest.hexdigest()))
    raise DamagedBackup("it ends before the list of its files")


def read_first(stream: Readable, name: str, most: int) -> bytes | None:
    """Return the content of the first file, of up to `most` bytes, if it has this name. Raise DamagedBackup."""
    member = read_header(stream)
    if member is None or member.name != name:
        return None
    if member.size > most:
        raise DamagedBackup(f"{name} in it is too long")
    return b"".join(read_pieces(stream, member.size))


def read_header(stream: Readable) -> tarfile.TarInfo | None:
    """Return what a tar says of its next file, None at its end. Raise DamagedBackup.

    Only what `make_header` makes is taken. The library would follow links, make holes of sparse files, and read a
    header of any length into memory.
    """
    block = read_exactly(stream, tarfile.BLOCKSIZE)
    if not any(block):
        return None
    member = parse_header(block)
    more: dict[str, str] = {}
    if member.type == tarfile.XHDTYPE:  # of a long name, or of more than 8 GiB
        if not 0 <= member.size <= LARGEST_HEADER:
            raise DamagedBackup("the description of one of its files is too long")
        content = read_exactly(stream, member.size)
        read_exactly(stream, -member.size % tarfile.BLOCKSIZE)
        more = parse_records(content)
        member = parse_header(read_exactly(stream, tarfile.BLOCKSIZE))
    if member.type != tarfile.REGTYPE:
        raise DamagedBackup(f"it holds {member.name!r}, which is no file")
    member.name = more.get("path", member.name)
    size = more.get("size", str(member.size))
    if not re.fullmatch("[0-9]{1,18}", size):
        raise DamagedBackup(f"it does not say how large {member.name!r} is")
    member.size = int(size)
    return member


def parse_header(block: bytes) -> tarfile.TarInfo:
    """Return what a block of a tar says of a file. Raise DamagedBackup."""
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError, IndexError, OverflowError) as error:
        raise DamagedBackup(f"it was changed: {error}") from None


def parse_records(content: bytes) -> dict[str, str]:
    """Return the records `length key=value` of an extended header (POSIX pax). Raise DamagedBackup."""
    found: dict[str, str] = {}
    while content:
        length = re.match(rb"([0-9]{1,5}) ", content)
        record = content[: int(length[1])] if length else b""
        key, equals, value = record.partition(b" ")[2].partition(b"=")
        if not equals or not value.endswith(b"\n") or key not in (b"path", b"size", b"hdrcharset"):
            raise DamagedBackup("the description of one of its files was changed")
        found[key.decode()] = value[:-1].decode("utf-8", "surrogateescape")
        content = content[len(record) :]
    return found


def read_exactly(stream: Readable, size: int) -> bytes:
    """Return the next `size` bytes of a stream, which are few. Raise DamagedBackup if it ends before."""
    return b"".join(read_pieces(stream, size))


def read_pieces(stream: Readable, size: int) -> Iterator[bytes]:
    """Yield the next `size` bytes of a stream in pieces. Raise DamagedBackup if it ends before."""
    while size:
        piece = stream.read(min(size, PIECE))
        if not piece:
            raise DamagedBackup("it ends too early")
        size -= len(piece)
        yield piece


def is_inside(name: str) -> bool:
    """Return whether a path stays below the folder that it is relative to, and can be one."""
    path = PurePosixPath(name)
    longest = max((len(os.fsencode(part)) for part in path.parts), default=0)
    is_short = longest <= LONGEST_PART and len(os.fsencode(name)) <= LONGEST_PATH
    leads_there = not path.is_absolute() and ".." not in path.parts and str(path) == name and name != "."
    return leads_there and is_short and "\\" not in name and "\0" not in name


def hash_pieces(content: Iterator[bytes], update: Callable[[bytes], None]) -> Iterator[bytes]:
    """Yield pieces, each hashed on its way."""
    for piece in content:
        update(piece)
        yield piece


def check_manifest(content: bytes, found: list[FileHash]) -> Manifest:
    """Return the manifest. Raise DamagedBackup unless it lists the files that were found."""
    try:
        whole = json.loads(content)
        listed = [FileHash(**one) for one in whole["files"]]
        about = {**whole["about"]}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedBackup("the list of its files cannot be read") from None
    if listed != found:
        wrong = [one.name for one in found if one not in listed] or ["a file is missing, or in another order"]
        raise DamagedBackup(f"it does not hold what it lists: {', '.join(wrong[:NAMED])}")
    return Manifest(listed, about)
