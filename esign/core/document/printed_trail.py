"""Chooses the entries of a long audit trail that are printed: up to a limit all, beyond it the ends of each
series.

A program that fetches a file each minute adds thousands of entries, which would fill a page for each fifty. No
worker could draw these within its limits, and the document would never be sealed. The attached file holds the
whole trail in any case.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from esign.core.document.audit import AuditEntry

MOST = 1000


@dataclass(frozen=True, slots=True)
class Gap:
    """The numbers of the first and the last of several entries that are left out."""

    first: int
    last: int


def choose_entries(trail: Sequence[AuditEntry]) -> list[AuditEntry | Gap]:
    """Return the entries to print, in order, with a Gap for each run that is left out.

    A single omitted entry is kept: the note that replaces it would be as tall.
    """
    if len(trail) <= MOST:
        return list(trail)
    return list(_insert_gaps(trail, _choose_places(trail)))


def _choose_places(trail: Sequence[AuditEntry]) -> set[int]:
    """Return the places of the entries to print, at most `MOST`.

    Entries of one type, actor and recipient form a series. The first and last of each are kept, as many of each
    series as fit in all.
    """
    series: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
    for place, entry in enumerate(trail):
        series[entry.type, entry.actor_id, entry.recipient_id].append(place)
    for count in (100, 30, 10, 3, 1):
        kept = {place for places in series.values() for place in (*places[:count], *places[-count:])}
        if len(kept) <= MOST:
            return kept
    half = MOST // 2
    return {*range(half), *range(len(trail) - half, len(trail))}


def _insert_gaps(trail: Sequence[AuditEntry], kept: set[int]) -> Iterator[AuditEntry | Gap]:
    """Yield the entries to print, and a Gap where two or more in a row are left out."""
    left: list[AuditEntry] = []
    for place, entry in enumerate(trail):
        if place not in kept:
            left.append(entry)
            continue
        if left:
            yield left[0] if len(left) == 1 else Gap(left[0].seq, left[-1].seq)
            left = []
        yield entry
