"""Make a backup: written beside its place, read back and opened, and only then put there."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from esign import __version__
from esign.backup.archive import ArchiveFile, DamagedBackup, FileHash, stream_archive
from esign.backup.collect import DATA, LOG, copy_installation, measure_installation
from esign.backup.container import FORMAT, BackupAbout, describe_protection, write_backup
from esign.backup.encryption import Identity, Protection
from esign.backup.extract import sync_folder, write_file
from esign.backup.read_back import list_files
from esign.backup.scratch import NoRoom, choose_parent, open_scratch, require_room
from esign.backup.steady_file import settle_file
from esign.core.instant import Instant, rfc3339, to_datetime
from esign.store.engine.connections import FILE
from esign.store.engine.failures import StorageFailed
from esign.store.engine.locks import try_lock

SUFFIX = ".backup"
PART = ".esign-part"  # the end of the hidden name of a backup that is being written

# Begins to read the installation in a folder, and gives what waits for what is wrong with it.
Check = Callable[[Path], AbstractContextManager[Callable[[], list[str]]]]


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was made: its file, its bytes, how many files it holds, and what the check of its copy found."""

    file: Path
    size: int
    files: int
    found: list[str]


@dataclass(frozen=True, slots=True)
class WrittenBackup:
    """A backup that was written to the file `part`: its key, and what it must hold."""

    part: Path
    identity: Identity | None
    known: list[FileHash]


class CannotBackUp(Exception):
    """The backup cannot be made; the message says why and what to do."""


def choose_target(destination: Path, now: Instant) -> Path:
    """Return the file to write: the destination, or in a folder a name with the time (UTC)."""
    if destination.is_dir():
        return destination / f"esign-{to_datetime(now):%Y%m%dT%H%M%SZ}{SUFFIX}"
    return destination


def make_backup(
    folder: Path,
    configuration: Path | None,
    target: Path,
    protection: Protection,
    now: Instant,
    check: Check,
    scratch: Path | None = None,
) -> BackupReport:
    """Back up the installation in `folder` to a new file `target`, which exists only once it was checked.

    The database is copied into a folder below `scratch` (default: that for temporary files), which is deleted
    afterwards. That copy is checked while the backup is written and read back. What the check finds is reported, and
    the backup is kept: it is a true copy of what there is. Raise CannotBackUp, and what `copy_installation` raises of
    the database.
    """
    require_place(folder, target)
    about = BackupAbout(FORMAT, __version__, rfc3339(now), describe_protection(protection))
    place = scratch or choose_parent()
    with open_part(target) as (part, file):
        with open_checked_scratch(place, measure_installation(folder)) as own:
            files = copy_installation(folder, configuration, own)
            with begin_check(files, own, check) as wait:
                with explain_target(target):
                    written = write_files(part, file, files, protection, about)
                require_written(written, own)
                found = wait()
        with explain_target(target):
            size = part.stat().st_size
            put_in_place(part, target)
    return BackupReport(target, size, len(files), found)


def require_place(folder: Path, target: Path) -> None:
    """Raise CannotBackUp if a backup must not, or cannot, be written there."""
    if os.path.lexists(target):
        raise CannotBackUp(f"{target} exists; name a new file, or a folder")
    if not target.parent.is_dir():
        raise CannotBackUp(f"there is no folder {target.parent}; make it first")
    if target.resolve().is_relative_to(folder.resolve()):
        raise CannotBackUp(f"{target} lies in the data folder, which it is to be the backup of; name another")


@contextmanager
def open_checked_scratch(parent: Path, size: int) -> Iterator[Path]:
    """Give a folder for `size` bytes, as `open_scratch` does. Raise CannotBackUp if they have no room there."""
    with explain_scratch(parent), open_scratch(parent) as folder:
        require_room(parent, size)
        yield folder


@contextmanager
def explain_scratch(parent: Path) -> Iterator[None]:
    """Raise CannotBackUp for what the system, or the database on it, refuses to write in the block."""
    try:
        yield
    except NoRoom as error:
        raise CannotBackUp(str(error)) from None
    except (OSError, StorageFailed) as error:
        said = describe_refused(error) if isinstance(error, OSError) else str(error)
        raise CannotBackUp(
            f"the copy in {parent} cannot be made: {said}; check its disk, or name another folder with --scratch or"
            " backup.scratch"
        ) from None


def describe_refused(error: OSError) -> str:
    """Return what the system refused, with the file if it names one."""
    said = error.strerror or str(error)
    return f"{error.filename}: {said}" if error.filename else said


@contextmanager
def explain_target(target: Path) -> Iterator[None]:
    """Raise CannotBackUp for what the system refuses in the block."""
    try:
        yield
    except OSError as error:
        raise CannotBackUp(f"{target} cannot be written: {error.strerror or error}; check its disk") from None


@contextmanager
def open_part(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Open the hidden file that becomes `target`, and delete it as the block ends.

    Its lock shows other runs that somebody writes it; those without are left from runs that were killed, and go.
    """
    part = target.with_name(f".{target.name}{PART}")
    with explain_target(target):
        remove_left_parts(target.parent)
        try:
            handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise CannotBackUp(f"another backup is being written to {target}; wait until it ends") from None
    file = os.fdopen(handle, "r+b")
    try:
        with suppress(OSError):  # a file system without locks
            try_lock(handle)
        yield part, file
    finally:
        with suppress(OSError):  # what could not be written before; the disk may be gone
            file.close()
        with suppress(OSError):
            part.unlink(missing_ok=True)


def remove_left_parts(folder: Path) -> None:
    """Delete what backups that were killed left in a folder. Raise OSError."""
    for part in folder.glob(f".*{PART}"):
        with suppress(OSError):
            handle = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if try_lock(handle):
                    part.unlink(missing_ok=True)
            finally:
                os.close(handle)


def put_in_place(part: Path, target: Path) -> None:
    """Give a backup its name without replacing a file. Raise CannotBackUp and OSError."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise CannotBackUp(f"{target} exists; name a new file, or a folder") from None
    except PermissionError:  # a file system without links
        require_place(part, target)
        part.rename(target)
    sync_folder(target.parent)


def write_files(
    part: Path, file: BinaryIO, files: Sequence[ArchiveFile], protection: Protection, about: BackupAbout
) -> WrittenBackup:
    """Write a backup into the open `file` at `part`, and wait until it is on the disk. Raise OSError.

    It is not kept in memory: what is read back comes from the disk.
    """
    known: list[FileHash] = []
    identity = write_backup(file, stream_archive(files, asdict(about), known), protection, about)
    settle_file(file)
    return WrittenBackup(part, identity, known)


@contextmanager
def begin_check(files: Sequence[ArchiveFile], copy: Path, check: Check) -> Iterator[Callable[[], list[str]]]:
    """Begin to check the folder `copy` with the copied database, to which the keys are added. Raise OSError."""
    for file in files:
        if file.name not in (DATA + FILE, DATA + LOG):
            write_file(copy / file.name, [file.read(0, file.size)])
    with check(copy / DATA) as wait:
        yield wait


def require_written(written: WrittenBackup, copy: Path) -> None:
    """Read a backup back. Raise CannotBackUp unless it holds what was written, which is of the folder `copy`."""
    try:
        if list_files(written.part, written.identity) != written.known:
            raise DamagedBackup("it holds other files")
    except DamagedBackup as error:
        raise CannotBackUp(
            f"what was written to {written.part.parent} is not what is read back: {error}; check its disk, and that of"
            f" {copy.parent}, in which the database was copied"
        ) from None
