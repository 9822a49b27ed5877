"""Which entries of a long audit trail are printed: all of them up to a limit, then of what repeats the first and last.

A program that fetches a file each minute makes thousands of entries, and a page for each fifty of them: no worker
could draw these within its limits, and the document would never be sealed. The file holds the whole trail all the same.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from esign.core.document.audit import Entry

MOST = 1000


@dataclass(frozen=True, slots=True)
class Gap:
    """The numbers of the first and the last of some entries that are left out."""

    first: int
    last: int


def excerpt(trail: Sequence[Entry]) -> list[Entry | Gap]:
    """In order; one left out alone would take as much room as it does."""
    if len(trail) <= MOST:
        return list(trail)
    return list(_with_gaps(trail, _kept(trail)))


def _kept(trail: Sequence[Entry]) -> set[int]:
    """Of each that did something to the same person or file as many as there is room for, at most `MOST` in all."""
    series: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
    for place, entry in enumerate(trail):
        series[entry.type, entry.actor_id, entry.recipient_id].append(place)
    for count in (100, 30, 10, 3, 1):
        kept = {place for places in series.values() for place in (*places[:count], *places[-count:])}
        if len(kept) <= MOST:
            return kept
    half = MOST // 2
    return {*range(half), *range(len(trail) - half, len(trail))}


def _with_gaps(trail: Sequence[Entry], kept: set[int]) -> Iterator[Entry | Gap]:
    left: list[Entry] = []
    for place, entry in enumerate(trail):
        if place not in kept:
            left.append(entry)
            continue
        if left:
            yield left[0] if len(left) == 1 else Gap(left[0].seq, left[-1].seq)
            left = []
        yield entry
