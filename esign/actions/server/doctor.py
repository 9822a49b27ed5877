"""`esign doctor`: checks the data, the settings and what lies around them, and repairs what can be derived.

Nothing is written without `repair`. A server may run meanwhile.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from esign.actions.server import browser_settings, network_checks, outside_checks, settings_checks
from esign.actions.server.data_checks import DataFindings, describe_data, inspect_data
from esign.actions.server.diagnosis import CheckLine, CheckState, Diagnosis
from esign.actions.server.outside_checks import OutsideFacts
from esign.actions.server.seal_checks import check_seals
from esign.config import Config
from esign.core.instant import Instant
from esign.pdf.worker.workers import Workers
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.failures import DatabaseError
from esign.store.engine.locks import AlreadyServed, server_lock
from esign.store.engine.migrate import ForeignDatabase, UnfitSchema
from esign.store.engine.snapshot_reader import OlderSchema, SnapshotQueries, SnapshotReader
from esign.store.server import clock_marks, installation, repairs
from esign.store.server.clock_marks import ClockRecord
from esign.store.server.fault import Fault, Repair
from esign.system.app_key import KeySource, open_vault, remember_passphrase
from esign.system.clock import GuardedClock, SystemClock, read_boot_id
from esign.system.file_cache import FileCache
from esign.system.vault import DamagedCiphertext, UnusableKey, Vault

PICTURES = "pictures"  # the folder in the data folder

# What a repair did, by its kind; `{n}` is how often.
DONE = {
    Repair.ATTENTION: "what lists filter {n} documents by was derived again",
    Repair.COUNT: "{n} counters of documents were counted again",
    Repair.LOOSE: "{n} files were marked as in use, or as not in use",
    Repair.LEASE: "{n} jobs that nobody held were made due",
    Repair.SEAL_JOB: "{n} documents that wait for their seal got a job",
    Repair.WORDS: "the words of {n} documents were written again",
}


@dataclass(frozen=True, slots=True)
class Examination:
    """What to examine: the configuration, where the application key is, the file of the settings, and how far to go.

    `data_only` leaves out settings and network. `seals` verifies each seal with a PDF worker. `repair` mends what can
    be derived.
    """

    config: Config
    key: KeySource
    file: Path | None = None
    data_only: bool = False
    seals: bool = False
    repair: bool = False

    @property
    def data(self) -> Path:
        """Return the data folder."""
        return self.config.storage.data_dir


@dataclass(frozen=True, slots=True)
class Opened:
    """What could be opened of the data: the key, and what the database says of settings, time, backups and anchors."""

    vault: Vault | None
    config: Config
    record: ClockRecord | None
    now: Instant
    outside: OutsideFacts | None = None


async def examine(wanted: Examination) -> Diagnosis:
    """Return the diagnosis, after the repairs if any are wanted."""
    if not (wanted.data / FILE).exists():
        missing = CheckLine(
            "data",
            CheckState.NOT_CHECKED,
            f"there is no database in {wanted.data}; the first start makes it, or choose another with --config",
        )
        return Diagnosis([missing, *await examine_surroundings(wanted, open_nothing(wanted))])
    try:
        opened = await open_data(wanted)
    except (
        UnusableKey,
        DamagedCiphertext,
        DatabaseError,
        UnfitSchema,
        ForeignDatabase,
        OlderSchema,
    ) as error:
        broken = CheckLine("data", CheckState.WRONG, str(error), "See docs/backup.md.")
        if isinstance(error, OlderSchema):
            remedy = "See esign upgrade-check, then start esign once."
            broken = replace(broken, state=CheckState.NOT_CHECKED, remedy=remedy)
        return Diagnosis([broken, *await examine_surroundings(wanted, open_nothing(wanted))])
    found = await asyncio.to_thread(inspect_data, wanted.data, opened.vault, opened.now)
    done: list[str] = []
    if wanted.repair and (done := await repair(wanted, found.faults, opened.now)):
        found = await asyncio.to_thread(inspect_data, wanted.data, opened.vault, opened.now)
    return Diagnosis([*await examine_data(wanted, found), *await examine_surroundings(wanted, opened)], done)


def open_nothing(wanted: Examination) -> Opened:
    """Return what is known without the database."""
    return Opened(None, wanted.config, None, SystemClock().now())


async def open_data(wanted: Examination) -> Opened:
    """Read the key, the settings that owners chose, and the time. Nothing is made and nothing is written."""
    source = remember_passphrase(wanted.key)
    vault = open_vault(source)
    with closing(SnapshotReader(wanted.data / FILE)) as reader:
        queries = SnapshotQueries(reader)
        vault = await installation.join_exchange(queries, vault, lambda: open_vault(source))
        settings = await browser_settings.load(queries, vault, wanted.config)
        record = await clock_marks.find(queries)
        outside = await outside_checks.read_facts(queries, settings.config)
    clock = GuardedClock(SystemClock(), record.mark if record else None, read_boot_id())
    return Opened(vault, settings.config, record, clock.now(), outside)


async def examine_data(wanted: Examination, found: DataFindings) -> list[CheckLine]:
    """Return the lines about the data, with the seals one by one if that is wanted."""
    lines = list(describe_data(found))
    if wanted.seals:
        lines.append(await check_seals(wanted.config, Workers()))
    return lines


async def examine_surroundings(wanted: Examination, opened: Opened) -> list[CheckLine]:
    """Return the lines about settings, machine and network."""
    if wanted.data_only:
        return []
    config, clock = opened.config, SystemClock()
    pictures = FileCache(wanted.data / PICTURES, 0)
    return [
        settings_checks.check_settings(config),
        settings_checks.check_permissions(config, wanted.file),
        settings_checks.check_disk(config),
        settings_checks.check_engine(),
        settings_checks.check_log_size(config),
        settings_checks.check_pictures(pictures),
        *check_outside(opened),
        network_checks.check_seal_certificates(config, opened.now),
        *await asyncio.gather(
            asyncio.to_thread(settings_checks.check_confinement),
            network_checks.check_time_stamps(config, clock),
            network_checks.check_mail(config),
            network_checks.check_address(config, opened.now),
            network_checks.check_clock(config, clock, opened.record),
        ),
    ]


def check_outside(opened: Opened) -> list[CheckLine]:
    """Return the lines about backups and anchors, or none without a database."""
    if opened.outside is None:
        return []
    return [
        outside_checks.check_backups(opened.config, opened.outside, opened.now),
        outside_checks.check_anchor_targets(opened.config, opened.outside, opened.now),
    ]


# ---------- repairs ----------


async def repair(wanted: Examination, faults: Sequence[Fault], now: Instant) -> list[str]:
    """Repair what can be derived, and return a sentence for each kind of repair that changed anything."""
    done = remove_pictures(wanted.data)
    if not any(fault.repair for fault in faults):
        return done
    counts: Counter[Repair] = Counter()
    async with open_for_command(wanted.data / FILE) as db:
        for kind in repairs.ORDER:
            for fault in faults:
                if fault.repair is kind:
                    counts[kind] += await repairs.mend_fault(db, fault, now)
        if any(fault.repair is Repair.INDEX for fault in faults):
            with ExitStack() as stack:
                try:
                    stack.enter_context(server_lock(wanted.data))
                except AlreadyServed:
                    return [*done, *describe_repairs(counts)]
                done.append(f"the index of {await repairs.rebuild_index(db)} documents was written again")
    return [*done, *describe_repairs(counts)]


def describe_repairs(counts: Counter[Repair]) -> list[str]:
    """Return what was repaired, in sentences."""
    return [DONE[kind].format(n=number) for kind, number in counts.items() if number]


def remove_pictures(data: Path) -> list[str]:
    """Remove damaged pictures of pages, which are drawn again."""
    damaged = FileCache(data / PICTURES, 0).find_damaged()
    for path in damaged:
        path.unlink(missing_ok=True)
    return [f"{len(damaged)} damaged pictures of pages were removed"] if damaged else []
