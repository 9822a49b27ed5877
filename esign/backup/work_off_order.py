"""Carry out a scheduled backup: alone, whole or as an increment, put in its place, and then delete the oldest."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

from esign import __version__
from esign.backup.archive import DamagedBackup
from esign.backup.backup_order import BackupOrder, BackupOutcome
from esign.backup.collect import copy_installation, hold_installation, measure_installation
from esign.backup.container import (
    FORMAT,
    INCREMENT,
    BackupAbout,
    IncrementAbout,
    describe_protection,
    open_archive,
)
from esign.backup.database_blocks import (
    BLOCK,
    SALT,
    BaseBlocks,
    count_blocks,
    forget_base,
    hash_file,
    hash_while_read,
    is_marked,
    list_changed,
    load_base,
    mark_protection,
    save_base,
)
from esign.backup.increment import check_increment, find_database, replace_database
from esign.backup.make_backup import (
    CannotBackUp,
    Check,
    begin_check,
    explain_target,
    open_checked_scratch,
    open_part,
    put_in_place,
    require_written,
    write_files,
)
from esign.backup.scratch import choose_parent, open_scratch
from esign.backup.stored_names import StoredName, choose_deletions, parse_name, read_time, write_time
from esign.backup.targets import BackupTarget, FolderTarget, open_target
from esign.core.instant import rfc3339
from esign.store.engine.connections import FILE
from esign.store.engine.locks import try_lock
from esign.system.disk import Free, count_free_bytes

LOCK = "backup.lock"
LEAST_SAVED = 2  # an increment that has more than the half of the database would save too little


def work_off_order(order: BackupOrder, check: Check, free: Free = count_free_bytes) -> BackupOutcome:
    """Make the backup of an order and return what came of it. Raise CannotBackUp, and what `hold_installation` raises.

    Nothing is deleted at the target unless the new backup is there. `free` tells how many bytes a folder has room for.
    """
    with hold_alone(Path(order.data)), prepare_scratch(order) as scratch:
        target = open_target(order)
        stored = target.list_files()
        run = BackupRun(order, target, scratch, check, free)
        made, size, found = run.make(stored)
        deleted = delete_oldest(order, target, made) if order.may_delete else []
    elsewhere = not isinstance(target, FolderTarget) or target.is_elsewhere
    return BackupOutcome(str(made), order.at, size, made.base is None, found, deleted, elsewhere)


@contextmanager
def hold_alone(data: Path) -> Iterator[None]:
    """Hold the lock of scheduled backups. Raise CannotBackUp if another one runs."""
    handle = os.open(data / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if not try_lock(handle):
            raise CannotBackUp("another scheduled backup still runs; wait until it ends")
        yield
    finally:
        os.close(handle)


@contextmanager
def prepare_scratch(order: BackupOrder) -> Iterator[Path]:
    """Give an empty folder of our own, and delete it in the end; what killed runs left goes first."""
    parent = Path(order.scratch) if order.scratch else choose_parent()
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(open_scratch(parent))
        except OSError as error:
            raise CannotBackUp(
                f"no folder can be made in {parent}: {error.strerror}; set backup.scratch to a folder that esign may"
                " write"
            ) from None
        yield folder


def delete_oldest(order: BackupOrder, target: BackupTarget, made: StoredName) -> list[str]:
    """Delete what is older than the newest that are kept. What cannot be deleted now stays for the next time."""
    deleted: list[str] = []
    with suppress(CannotBackUp):  # the new backup is in its place all the same
        names = {*target.list_files(), str(made)}
        for name in choose_deletions(names, made, order.keep):
            with suppress(CannotBackUp):
                target.delete(name)
                deleted.append(name)
    return deleted


class BackupRun:
    """One run: what it makes lies in the folder that is the target, or in the scratch folder until it is stored."""

    def __init__(
        self, order: BackupOrder, target: BackupTarget, scratch: Path, check: Check, free: Free
    ) -> None:
        self.order, self.target, self.scratch, self.check, self.free = order, target, scratch, check, free
        self.data = Path(order.data)
        self.folder = target.folder if isinstance(target, FolderTarget) else scratch
        self.base: BaseBlocks | None = None

    def make(self, stored: dict[str, int]) -> tuple[StoredName, int, list[str]]:
        """Return the name of the backup that is at the target now, its size, and what is damaged in it."""
        name = StoredName(write_time(self.order.at), self.order.label)
        base = self.find_base(stored)
        made = self.write_increment(name, base) if base else None
        if made is None:
            self.require_room((self.data / FILE).stat().st_size)
            forget_base(self.data)  # whatever happens now, no increment is made for an older one
            made = self.write_whole(name)
        name, found = made
        file = self.folder / str(name)
        size = file.stat().st_size
        self.target.store(file, str(name))
        if self.base is not None and not found:
            save_base(self.data, self.base)
        return name, size, found

    def require_room(self, size: int) -> None:
        """Raise CannotBackUp unless `size` bytes, and as many to check them, leave what is kept for signing."""
        folders = [self.scratch, self.folder]
        needed: dict[int, int] = {}
        for folder in folders:
            device = folder.stat().st_dev
            needed.setdefault(device, self.order.spare if device == self.data.stat().st_dev else 0)
            needed[device] += size
        for folder in folders:
            wanted, free = needed[folder.stat().st_dev], self.free(folder)
            if free < wanted:
                raise CannotBackUp(
                    f"{wanted // 2**20 + 1:,} MiB are needed in {folder}, where {free // 2**20:,} are free; free some"
                    " of the disk, or choose other folders with backup.to and backup.scratch"
                )

    def find_base(self, stored: dict[str, int]) -> BaseBlocks | None:
        """Return the blocks of the whole backup that an increment can be made for, None if it is time for another.

        One that has another size at the target than it had is broken there, and serves no increment.
        """
        order = self.order
        base = load_base(self.data) if order.full_every else None
        if base is None or base.place != order.place.text or stored.get(base.name) != base.file_size:
            return None
        name = parse_name(base.name)
        if name is None or name.label != order.label or not is_marked(order.protection, base.mark):
            return None
        age = order.at - read_time(name)
        return base if 0 < age < order.full_every else None

    def find_configuration(self) -> Path | None:
        """Return the configuration, which is left out where this user may not read it."""
        configuration = Path(self.order.configuration) if self.order.configuration else None
        return configuration if configuration is not None and os.access(configuration, os.R_OK) else None

    def describe(self) -> BackupAbout:
        """Return what the backup says of itself."""
        order = self.order
        return BackupAbout(FORMAT, __version__, rfc3339(order.at), describe_protection(order.protection))

    def write_whole(self, name: StoredName) -> tuple[StoredName, list[str]]:
        """Write a whole backup, and return its name and what is damaged in it."""
        hashes = bytearray()
        with open_part(self.folder / str(name)) as (part, file):
            with open_checked_scratch(self.scratch, measure_installation(self.data)) as own:
                files = copy_installation(self.data, self.find_configuration(), own)
                database = find_database(files)
                watched = [hash_while_read(each, hashes) if each is database else each for each in files]
                with begin_check(files, own, self.check) as wait:
                    with explain_target(part):
                        written = write_files(part, file, watched, self.order.protection, self.describe())
                    require_written(written, own)
                    found = wait()
            made, size = replace(name, damaged=bool(found)), part.stat().st_size
            with explain_target(self.folder / str(made)):
                put_in_place(part, self.folder / str(made))
        if self.order.full_every:
            mark = mark_protection(self.order.protection, secrets.token_bytes(SALT))
            self.base = BaseBlocks(str(made), self.order.place.text, database.size, mark, bytes(hashes), size)
        return made, found

    def write_increment(self, name: StoredName, base: BaseBlocks) -> tuple[StoredName, list[str]] | None:
        """Write what has changed since the base; return None if a whole backup is hardly larger."""
        parsed = parse_name(base.name)
        made = replace(name, base=parsed.time if parsed else None)
        with open_part(self.folder / str(made)) as (part, file):
            with (
                tempfile.TemporaryDirectory(dir=self.scratch) as own,
                hold_installation(self.data, self.find_configuration(), Path(own)) as files,
            ):
                database = find_database(files)
                hashes = hash_file(database)
                changed = list_changed(base.hashes, hashes)
                if len(changed) * LEAST_SAVED > count_blocks(database.size):
                    return None
                self.require_room(len(changed) * BLOCK)
                about = IncrementAbout(
                    **asdict(self.describe()) | {"format": INCREMENT},
                    base=base.name,
                    base_tree=base.tree,
                    size=database.size,
                )
                inside = replace_database(files, changed, hashes)
                with explain_target(part):
                    written = write_files(part, file, inside, self.order.protection, about)
            try:
                with (
                    tempfile.TemporaryDirectory(dir=self.scratch) as folder,
                    part.open("rb") as source,
                    open_archive(source) as archive,
                ):
                    check_increment(archive, written.identity, base, Path(folder))
            except DamagedBackup as error:
                raise CannotBackUp(
                    f"what was written could not be read back: {error}; check the disk"
                ) from None
            with explain_target(self.folder / str(made)):
                put_in_place(part, self.folder / str(made))
        return made, []
