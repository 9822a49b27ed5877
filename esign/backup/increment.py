"""An increment: a backup whose database is the changed blocks since a whole one, and everything else as in any other.

The content is a tar like that of a whole backup, with three files in place of the database: the numbers of the blocks,
the blocks, and the hash of the database that these and the whole backup make together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from zipfile import ZipFile

from esign.backup.archive import ArchiveFile, DamagedBackup, FileHash, hold_content, read_archive
from esign.backup.collect import CONFIGURATION, DATA, belongs_in_backup
from esign.backup.container import IncrementAbout, measure_content, open_content, read_about
from esign.backup.database_blocks import (
    BLOCK,
    HASH,
    BaseBlocks,
    count_blocks,
    gather_blocks,
    hash_block,
    hash_file,
    hash_tree,
)
from esign.backup.encryption import Identity
from esign.backup.extract import sync_folder, write_file
from esign.store.engine.connections import FILE
from esign.store.engine.failures import DatabaseError
from esign.store.engine.snapshot import settle_copy

NUMBERS, BLOCKS, TREE = "increment/numbers", "increment/blocks", "increment/tree"
NUMBER = 8  # bytes of a number


def find_database(files: Sequence[ArchiveFile]) -> ArchiveFile:
    """Return the database among the files of an installation."""
    return next(file for file in files if file.name == DATA + FILE)


def replace_database(
    files: Sequence[ArchiveFile], changed: Sequence[int], hashes: bytearray
) -> list[ArchiveFile]:
    """Return the files of an increment: those of the installation, with the changed blocks in place of the database."""
    database = find_database(files)
    return [
        *(file for file in files if file is not database),
        hold_content(NUMBERS, b"".join(number.to_bytes(NUMBER, "big") for number in changed)),
        gather_blocks(database, BLOCKS, changed, hashes),
        # Read last: what was read twice has the hash of the second time.
        ArchiveFile(
            TREE,
            2 * HASH,
            lambda offset, size: hash_tree(database.size, hashes).encode()[offset : offset + size],
        ),
    ]


def check_increment(archive: ZipFile, identity: Identity | None, base: BaseBlocks, folder: Path) -> int:
    """Read an increment back, and return how many files are in it.

    Raise DamagedBackup unless it makes, of a base with these blocks, the database that it was made of.
    """
    about = require_increment(archive)
    found = extract_files(archive, identity, about, folder)
    require_possible_size(about, len(base.hashes) // HASH, folder)
    hashes = bytearray(
        base.hashes[: count_blocks(about.size) * HASH].ljust(count_blocks(about.size) * HASH, b"\0")
    )
    for number, block in read_blocks(folder, count_blocks(about.size)):
        hashes[number * HASH : (number + 1) * HASH] = hash_block(block)
    if base.tree != about.base_tree or hash_tree(about.size, hashes) != read_tree(folder):
        raise DamagedBackup("it does not make the database that it was made of")
    return len(found)


def extract_increment(
    base: ZipFile, base_identity: Identity | None, archive: ZipFile, identity: Identity | None, folder: Path
) -> list[FileHash]:
    """Write what an increment and its whole backup hold together, as `extract_backup` does.

    Raise DamagedBackup, also if the base is another one, WrongKey, NewerBackup and OSError.
    """
    about = require_increment(archive)
    database = folder / DATA / FILE
    extract_database(base, base_identity, database)
    if hash_database(database) != about.base_tree:
        raise DamagedBackup(f"{about.base} is not the backup that the changes in it were made for")
    found = extract_files(archive, identity, about, folder)
    require_possible_size(about, count_blocks(database.stat().st_size), folder)
    with database.open("r+b") as file:
        for number, block in read_blocks(folder, count_blocks(about.size)):
            file.seek(number * BLOCK)
            file.write(block)
        file.truncate(about.size)
    if hash_database(database) != read_tree(folder):
        raise DamagedBackup("together with its base it does not make the database that it was made of")
    for name in (NUMBERS, BLOCKS, TREE):
        (folder / name).unlink()
    (folder / NUMBERS).parent.rmdir()
    try:
        settle_copy(database)
    except DatabaseError as error:
        raise DamagedBackup(f"its database cannot be opened: {error}") from None
    for path in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
        sync_folder(path)
    return found


def require_increment(archive: ZipFile) -> IncrementAbout:
    """Return what an increment says of itself. Raise DamagedBackup if it is none, or NewerBackup."""
    about = read_about(archive)
    if not isinstance(about, IncrementAbout) or about.size < 0:
        raise DamagedBackup("it is no increment")
    return about


def require_possible_size(about: IncrementAbout, base_blocks: int, folder: Path) -> None:
    """Raise DamagedBackup if the database would have more blocks than its base and the increment hold together.

    What an increment says of itself may be anything, and a file of any size can be made with a few bytes.
    """
    if count_blocks(about.size) > base_blocks + (folder / BLOCKS).stat().st_size // BLOCK:
        raise DamagedBackup("it says that its database is larger than the blocks in it and in its base")


def extract_files(
    archive: ZipFile, identity: Identity | None, about: IncrementAbout, folder: Path
) -> list[FileHash]:
    """Write the files of an increment as they are. Raise WrongKey, DamagedBackup and OSError."""

    def write(name: str, pieces: Iterator[bytes]) -> None:
        is_data = name.startswith(DATA) and belongs_in_backup(name) and name != DATA + FILE
        if not (is_data or name in (CONFIGURATION, NUMBERS, BLOCKS, TREE)):
            raise DamagedBackup(f"it holds {name!r}, which is no file of an increment")
        write_file(folder / name, pieces)

    with open_content(archive, identity) as stream:
        found = read_archive(stream, measure_content(archive), write)
    if found.about != asdict(about):
        raise DamagedBackup("it says other things of itself outside than inside")
    if missing := {NUMBERS, BLOCKS, TREE} - {each.name for each in found.files}:
        raise DamagedBackup(f"it lacks {', '.join(sorted(missing))}")
    return found.files


def extract_database(archive: ZipFile, identity: Identity | None, path: Path) -> None:
    """Write the database of a whole backup as the archive holds it. Raise WrongKey, DamagedBackup and OSError."""
    about = read_about(archive)
    if isinstance(about, IncrementAbout):
        raise DamagedBackup("its base is an increment, too")

    def write(name: str, pieces: Iterator[bytes]) -> None:
        if name == DATA + FILE:
            write_file(path, pieces)
        else:
            for _ in pieces:
                pass

    with open_content(archive, identity) as stream:
        found = read_archive(stream, measure_content(archive), write)
    if found.about != asdict(about) or not path.exists():
        raise DamagedBackup("its base holds no database, or says other things of itself outside than inside")


def hash_database(path: Path) -> str:
    """Return the hash of a database as it lies there."""
    with path.open("rb") as file:

        def read(offset: int, size: int) -> bytes:
            file.seek(offset)
            return file.read(size)

        size = path.stat().st_size
        return hash_tree(size, hash_file(ArchiveFile(FILE, size, read)))


def read_blocks(folder: Path, most: int) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers and the content of the blocks of an increment. Raise DamagedBackup for one beyond its end."""
    with (folder / NUMBERS).open("rb") as numbers, (folder / BLOCKS).open("rb") as blocks:
        while written := numbers.read(NUMBER):
            number, block = int.from_bytes(written, "big"), blocks.read(BLOCK)
            if number >= most or len(block) != BLOCK:
                raise DamagedBackup("the blocks in it are not those of its database")
            yield number, block


def read_tree(folder: Path) -> str:
    """Return the hash of the database that an increment and its base make."""
    return (folder / TREE).read_text("ascii", "replace")
