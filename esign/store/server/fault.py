"""What an inspection of the stored data is about: the checks, a fault that one finds, and the state of a run."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from esign.core.instant import Instant
from esign.store.engine.snapshot_reader import SnapshotReader
from esign.system.vault import Vault

# Returns the document, number and hash of the entry that a sealed file names, or None.
FindHead = Callable[[bytes], tuple[str, int, str] | None]


class Check(StrEnum):
    """What is checked, by the names of the report."""

    PAGES = "pages"
    REFERENCES = "references"
    ROWS = "rows"
    CONTENTS = "contents"
    TRAILS = "trails"
    ANCHORS = "anchors"
    SEALS = "seals"
    SEALING = "sealing"
    JOBS = "jobs"
    EVENTS = "events"
    COMPLETIONS = "completions"
    COUNTERS = "counters"
    SEARCH = "search"


class Repair(StrEnum):
    """What can be derived again from what is there."""

    COUNT = "count"
    ATTENTION = "attention"
    LOOSE = "loose"
    WORDS = "words"
    INDEX = "index"
    LEASE = "lease"
    SEAL_JOB = "seal_job"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is not as it has to be. `subject` names it, and `repair` what would mend it."""

    check: Check
    subject: str
    words: str
    repair: Repair | None = None

    def __str__(self) -> str:
        return f"{self.subject}: {self.words}" if self.subject else self.words


@dataclass(frozen=True, slots=True)
class ContentFindings:
    """What a check of all contents has found: faults, what was counted, and documents with a sealed file of theirs."""

    faults: list[Fault]
    read: dict[str, int]
    whole_seals: list[str]


# Checks the contents of the database at a path elsewhere, or returns None if it cannot.
CheckElsewhere = Callable[[Path], ContentFindings | None]


@dataclass(slots=True)
class Inspection:
    """A run over one database: how much was read, and what the contents have shown to the documents.

    `vault` checks what only its key can; without one that is left out. `find_head` reads a sealed file.
    `check_elsewhere` checks the contents beside all else; without it they are checked here, after it.
    """

    reader: SnapshotReader
    vault: Vault | None
    find_head: FindHead
    now: Instant
    check_elsewhere: CheckElsewhere | None = None
    read: Counter[str] = field(default_factory=Counter)
    seals: dict[str, tuple[str, bool]] = field(
        default_factory=dict
    )  # by document: hash of its file, and `late`
    whole_seals: set[str] = field(default_factory=set)  # documents whose sealed file names their trail
