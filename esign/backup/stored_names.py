"""The names of scheduled backups, and which of them may be deleted.

All that has to be known of a backup is in its name, since a target may be a bucket or a folder of another machine:
`esign-<label>-<time>.backup` is a whole one; `esign-<label>-<time>-since-<time>.increment` holds what has changed
since the whole one of the second time. `-damaged` stands before the ending where the copy is true and its content
damaged. The label tells installations with the same target apart. No other name is ever touched.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from esign.core.instant import Instant, parse, to_datetime

SHAPE = re.compile(
    r"esign-(?P<label>[0-9a-f]{8})-(?P<time>\d{8}T\d{6}Z)"
    r"(?:(?P<damaged>-damaged)?\.backup|-since-(?P<base>\d{8}T\d{6}Z)\.increment)"
)


@dataclass(frozen=True, slots=True, order=True)
class StoredName:
    """A scheduled backup; `time` and `base` (of the whole one that it needs) sort as text."""

    time: str
    label: str
    base: str | None = None
    damaged: bool = False

    def __str__(self) -> str:
        end = f"-since-{self.base}.increment" if self.base else f"{'-damaged' * self.damaged}.backup"
        return f"esign-{self.label}-{self.time}{end}"


def write_time(at: Instant) -> str:
    """Return the time of a backup as its name says it (UTC)."""
    return f"{to_datetime(at):%Y%m%dT%H%M%SZ}"


def read_time(name: StoredName) -> Instant:
    """Return the time in a name."""
    text = name.time
    return parse(f"{text[:4]}-{text[4:6]}-{text[6:11]}:{text[11:13]}:{text[13:]}")


def parse_name(text: str) -> StoredName | None:
    """Return what a name says, or None if it is none that the schedule gives."""
    found = SHAPE.fullmatch(text)
    if found is None or not text.isascii():
        return None
    return StoredName(found["time"], found["label"], found["base"], found["damaged"] is not None)


def choose_deletions(names: Iterable[str], made: StoredName, keep: int) -> list[str]:
    """Return which of the names in a target may be deleted, the oldest first, now that `made` is there.

    The newest `keep` whole backups stay, and the newest `keep` increments with the whole ones that these need. What is
    in an increment was not checked, so it never pushes out a whole one; nor does one with damaged content. What is
    newer than `made` was named by a clock that was ahead: it stays, and does not count.
    """
    own = sorted(
        each
        for name in names
        if (each := parse_name(name)) is not None and each.label == made.label and each.time <= made.time
    )
    good, damaged = (
        [each for each in own if not each.damaged],
        [each for each in own if each.damaged],
    )
    whole = [each for each in good if each.base is None]
    times = {each.time for each in whole}
    increments = [each for each in good if each.base in times]
    kept = {*whole[-keep:], *increments[-keep:], *damaged[-keep:], made}
    bases = {each.base for each in kept}
    kept |= {each for each in whole if each.time in bases}
    unneeded = sorted(each for each in own if each not in kept)
    unneeded.sort(key=lambda one: (one.base or one.time, one.base is None))  # an increment before its base
    return [str(each) for each in unneeded]
