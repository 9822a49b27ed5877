"""Checks everything that is stored, as `esign doctor` and the restoring of a backup do."""

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from esign.actions.server.content_process import check_in_process
from esign.actions.server.diagnosis import CheckLine, CheckState
from esign.core.instant import Instant
from esign.pdf.audit.printed_head import find_printed_head
from esign.store.engine.connections import FILE
from esign.store.engine.failures import DatabaseError, is_out_of_storage, is_unreadable_file
from esign.store.engine.migrate import ForeignDatabase, UnfitSchema
from esign.store.engine.snapshot_reader import OlderSchema, SnapshotReader
from esign.store.server.derived_values import check_counts, check_jobs
from esign.store.server.fault import Check, CheckElsewhere, Fault, Inspection, Repair
from esign.store.server.invariants import find_faults
from esign.system.app_key import KeySource, open_vault
from esign.system.clock import SystemClock
from esign.system.vault import UnusableKey, Vault

LARGE = 256 * 2**20  # bytes; a process of its own takes a third of a second to start
BACKUP = "Restore esign.db from a backup."
FIX = "esign doctor --fix mends it."
READABLE = "check the permissions of its folder, its disk, and how many files a process may open"


@dataclass(frozen=True, slots=True)
class DataCheck:
    """How a check of the data is said: the sentence where all is well, and the one where it is not.

    `remedy` is what to do; a fault that can be repaired is a warning, and has one of its own.
    """

    well: str
    wrong: str
    remedy: str


DATA_CHECKS: Mapping[Check, DataCheck] = {
    Check.PAGES: DataCheck(
        "the pages and indexes of the database are whole",
        "pages or indexes of the database are damaged",
        f"{BACKUP} Check the disk too.",
    ),
    Check.REFERENCES: DataCheck(
        "every row refers to rows that exist", "rows refer to rows that do not exist", BACKUP
    ),
    Check.ROWS: DataCheck(
        "every row can be read ({documents:,} documents and {rows:,} other rows)",
        "rows cannot be read, and are left out of lists",
        "Put them back from a backup.",
    ),
    Check.CONTENTS: DataCheck(
        "every stored file is there and has its hash ({contents:,} files, {mib:,} MiB)",
        "stored files are missing or were changed",
        "Put them back from a backup: docs/backup.md.",
    ),
    Check.TRAILS: DataCheck(
        "every audit trail is as it was written ({trails:,} with {entries:,} entries)",
        "audit trails were changed or are missing",
        "Do not rely on them; compare with a backup and with sealed files: docs/audit.md.",
    ),
    Check.ANCHORS: DataCheck(
        "every anchor of the audit trails is there and can be read ({anchors:,})",
        "anchors of the audit trails are damaged or missing",
        "Put their rows back from a backup. Their files at the targets of audit.anchor_to still prove what they did:"
        " docs/audit.md.",
    ),
    Check.SEALS: DataCheck(
        "every completed document has its sealed file, which names its trail ({seals:,})",
        "completed documents have no sealed file that belongs to them",
        "Put the sealed files back from a backup.",
    ),
    Check.SEALING: DataCheck(
        "every document that waits for its seal has a job",
        "documents wait for a seal that nothing makes",
        FIX,
    ),
    Check.JOBS: DataCheck(
        "every job is about something that exists, and held by a worker that lives",
        "jobs are about what does not exist, or are held by nobody",
        "They are done or dropped at the next start of esign; if they stay, restore esign.db from a backup.",
    ),
    Check.EVENTS: DataCheck(
        "the events of every document are numbered without gaps ({events:,})",
        "numbers are missing among the events of documents",
        "Receivers of webhooks may have missed them: list what happened with the API. Restore esign.db from a backup"
        " if it was damaged.",
    ),
    Check.COMPLETIONS: DataCheck(
        "every recipient who has finished did so once",
        "recipients have finished more than once, or without a record",
        f"Compare the audit trails of these documents with what was signed. {BACKUP}",
    ),
    Check.COUNTERS: DataCheck("counters and marks are true", "counters or marks are not true", FIX),
    Check.SEARCH: DataCheck(
        "search finds every document", "search misses documents, or finds what does not exist", FIX
    ),
}


@dataclass(frozen=True, slots=True)
class DataFindings:
    """The faults of a database, how much was read, and why it could not be read at all."""

    faults: Sequence[Fault] = ()
    read: Mapping[str, int] | None = None
    unread: str | None = None


def inspect_data(
    folder: Path,
    vault: Vault | None,
    now: Instant,
    large: int = LARGE,
    check_elsewhere: CheckElsewhere = check_in_process,
) -> DataFindings:
    """Read everything in the database of a data folder. Blocks for half a minute per 100,000 documents.

    `check_elsewhere` checks the contents of a database of more than `large` bytes.
    """
    try:
        with pause_collector(), closing(SnapshotReader(folder / FILE)) as reader:
            elsewhere = check_elsewhere if (folder / FILE).stat().st_size > large else None
            found = Inspection(reader, vault, find_printed_head, now, elsewhere)
            return DataFindings(list(find_faults(found)), found.read)
    except (UnfitSchema, ForeignDatabase, OlderSchema) as error:
        return DataFindings(unread=str(error))
    except DatabaseError as error:
        if is_out_of_storage(error):
            return DataFindings(unread=f"the disk refuses what reading needs: {error}; check its free space")
        if is_unreadable_file(error):
            return DataFindings(unread=f"the system does not let esign read {FILE}: {error}; {READABLE}")
        return DataFindings([Fault(Check.PAGES, "", str(error))])


@contextmanager
def pause_collector() -> Iterator[None]:
    """Pause the search for cycles of references: it took a sixth of the time, and what is read makes none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def inspect_quickly(folder: Path, now: Instant) -> DataFindings:
    """Return the faults that indexes show: of jobs that wait, and of counters."""
    try:
        with closing(SnapshotReader(folder / FILE)) as reader:
            found = Inspection(reader, None, find_printed_head, now)
            return DataFindings([*check_jobs(found), *check_counts(found)], found.read)
    except (UnfitSchema, ForeignDatabase, OlderSchema, DatabaseError) as error:
        return DataFindings(unread=str(error))


def describe_quickly(found: DataFindings) -> Iterable[CheckLine]:
    """Yield the lines of the checks that are made quickly."""
    quick = (Check.JOBS, Check.COUNTERS)
    return (line for line in describe_data(found) if line.check in {check.value for check in quick})


def check_folder(folder: Path, now: Instant | None = None) -> list[str]:
    """Return what is wrong in a data folder, a sentence for each fault; empty if all is well.

    For whoever copied or restored it: `app.key` beside the database confirms the ends of trails. Nothing is written.
    Blocks: call it in a thread.
    """
    if not (folder / FILE).exists():
        return [f"there is no {FILE} in {folder}"]
    vault, source = None, KeySource(folder / FILE)
    if source.path.exists():
        try:
            vault = open_vault(source)
        except UnusableKey as error:
            return [str(error)]
    return describe_faults(inspect_data(folder, vault, SystemClock().now() if now is None else now))


def describe_faults(found: DataFindings) -> list[str]:
    """Return a line for each fault; empty if all is well."""
    if found.unread is not None:
        return [found.unread]
    return [f"{fault.check.value}: {fault}" for fault in found.faults]


def describe_data(found: DataFindings) -> Iterable[CheckLine]:
    """Yield a line for each check of the data."""
    counted: Counter[str] = Counter(found.read or {})
    counted["mib"] = counted["bytes"] // 2**20
    for check, said in DATA_CHECKS.items():
        own = [fault for fault in found.faults if fault.check is check]
        if not own and found.read is None:
            words = found.unread or "the database cannot be read to its end"
            is_cause = found.unread is not None and check is Check.PAGES  # said as wrong once
            yield CheckLine(check.value, CheckState.WRONG if is_cause else CheckState.NOT_CHECKED, words)
        elif not own:
            yield CheckLine(check.value, CheckState.OK, fill_in(said.well, counted))
        else:
            derived = all(fault.repair is not None for fault in own)
            yield CheckLine(
                check.value,
                CheckState.WARNING if derived and check in HARMLESS else CheckState.WRONG,
                said.wrong,
                choose_remedy(own, said),
                [str(fault) for fault in own],
            )


# Nothing is lost by what is found here: a worker takes the job up again at the next start.
HARMLESS = frozenset({Check.JOBS})


def fill_in(words: str, counted: Mapping[str, int]) -> str:
    """Return a sentence with its numbers."""
    return words.format_map(Counter(counted))


def choose_remedy(faults: Sequence[Fault], said: DataCheck) -> str:
    """Return what to do about faults of one check."""
    repairs = {fault.repair for fault in faults}
    if repairs == {Repair.INDEX}:
        return "Stop esign, and run esign doctor --fix."
    return FIX if None not in repairs else said.remedy
