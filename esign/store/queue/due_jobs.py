"""Which jobs of the outbox come next: those that are due, in turns between organisations."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from zlib import crc32

from esign.core.instant import Instant
from esign.core.mail_urgency import Urgency
from esign.store.engine.database import Reader
from esign.store.engine.sql import list_parameters

SHARE = 8  # one of so many claims takes the oldest job, however urgent others are
# `boot > ''` selects the index of the few that are under way instead of all that wait. A job whose lease is over is
# not: its worker is gone without having said so.
UNDER_WAY = """
    SELECT organisation_id, kind, urgency FROM outbox
    WHERE state = 'pending' AND boot IS NOT NULL AND boot > '' AND due_at > :now
"""


async def find_due(reader: Reader, kind: str, now: Instant, limit: int) -> list[int]:
    """Return the ids of up to `limit` due jobs, oldest first."""
    rows = await reader.all(
        """
        SELECT id FROM outbox WHERE state = 'pending' AND kind = :kind AND due_at <= :now
        ORDER BY due_at, id LIMIT :limit
        """,
        kind=kind,
        now=now,
        limit=limit,
    )
    return [row["id"] for row in rows]


async def has_due(reader: Reader, kind: str, now: Instant) -> bool:
    """Return whether a job of a kind is due."""
    return bool(await find_due(reader, kind, now, 1))


MAIL_LANES = """
    WITH RECURSIVE lane (id) AS (
        SELECT ''
        UNION ALL
        SELECT (SELECT organisation_id FROM outbox
            WHERE kind = 'mail' AND state = 'pending' AND organisation_id > lane.id
            ORDER BY organisation_id, urgency, due_at, id LIMIT 1)
        FROM lane WHERE lane.id IS NOT NULL
    ), level (id, due_by) AS (VALUES (0, :now), (1, :now), (2, :held), (3, :held))
"""


@dataclass(slots=True)
class MailLane:
    """The mails of one organisation: how many are under way, how many more may be, and its next mail.

    `chance` decides between organisations of equal rank.
    """

    under_way: int
    awaited: int
    room: int
    chance: int
    due: Iterator[tuple[int, int]] = field(default_factory=lambda: iter(()))
    first: tuple[int, int] | None = None

    @property
    def rank(self) -> tuple[bool, int, int, int]:
        """Return the rank of the organisation; the least goes first.

        First comes a single mail that a person waits for, then the organisation with the fewest mails under
        way.
        """
        urgency = self.first[1] if self.first else Urgency.NEWS
        is_express = urgency == Urgency.AWAITED and not self.awaited
        return (not is_express, self.under_way, urgency, self.chance)

    def take(self) -> int:
        """Return the next mail and count it as under way."""
        assert self.first is not None
        job_id, urgency = self.first
        self.under_way, self.room = self.under_way + 1, self.room - 1
        self.awaited += urgency == Urgency.AWAITED
        self.first = next(self.due, None) if self.room > 0 else None
        return job_id


@dataclass(frozen=True, slots=True)
class MailTimes:
    """Until when a mail was due that may leave now: until `now`, or until `held` if nobody has to answer it."""

    now: Instant
    held: Instant


async def find_due_mails(reader: Reader, times: MailTimes, limit: int, turn: int, most: int) -> list[int]:
    """Return the ids of due mails, in turns between organisations, the most urgent of each first.

    Organisations with the fewest mails under way come first, and none has more than `most`. So neither many
    mails of one organisation, nor addresses at which the mail server hangs, hold up another. If the mail server
    defers all mails of an organisation, one is tried when its probe is due. `turn` is any number that differs
    from call to call.
    """
    lanes = await _find_lanes(reader, times, limit, turn, most)
    if lanes:
        ends = {
            order: await _find_ends(reader, list(lanes), times, limit, order) for order in ("ASC", "DESC")
        }
        for name, lane in lanes.items():
            lane.due = _take_turns(ends["ASC"].get(name, []), ends["DESC"].get(name, []), turn)
            lane.first = next(lane.due, None)
    found: list[int] = []
    while len(found) < limit and (ready := [lane for lane in lanes.values() if lane.first is not None]):
        found.append(min(ready, key=lambda lane: lane.rank).take())
    return found


async def _find_lanes(
    reader: Reader, times: MailTimes, limit: int, turn: int, most: int
) -> dict[str, MailLane]:
    """Return the organisations with due mails whose turn it is, by id, at most `limit`."""
    waiting = reader.all(
        f"""
        {MAIL_LANES}
        SELECT lane.id, deferral.stopped_at, MIN(level.id) AS urgency
        FROM lane CROSS JOIN level LEFT JOIN deferral ON deferral.organisation_id = lane.id
        WHERE (deferral.stopped_at IS NULL OR deferral.probe_at <= :now) AND EXISTS (
            SELECT 1 FROM outbox next WHERE next.organisation_id = lane.id AND next.urgency = level.id
            AND next.kind = 'mail' AND next.state = 'pending' AND next.due_at <= level.due_by)
        GROUP BY lane.id, deferral.stopped_at
        """,
        now=times.now,
        held=times.held,
    )
    claimed, rows = await asyncio.gather(
        reader.all(UNDER_WAY, now=times.now), waiting
    )  # one turn of a thread for both
    busy = [(row["organisation_id"], row["urgency"]) for row in claimed if row["kind"] == "mail"]
    under_way, levels = Counter(name for name, _ in busy), Counter(busy)
    lanes = {
        row["id"]: MailLane(
            under_way=under_way[row["id"]],
            awaited=levels[row["id"], Urgency.AWAITED],
            room=(most if row["stopped_at"] is None else 1) - under_way[row["id"]],
            chance=crc32(f"{row['id']}{turn}".encode()),
            first=(0, row["urgency"]),
        )
        for row in rows
    }
    open_ones = sorted(
        (name for name, lane in lanes.items() if lane.room > 0), key=lambda name: lanes[name].rank
    )
    return {name: lanes[name] for name in open_ones[:limit]}


async def _find_ends(
    reader: Reader, lanes: Sequence[str], times: MailTimes, limit: int, order: str
) -> dict[str, list[tuple[Instant, int, int]]]:
    """Return (due, id, urgency) of the `limit` oldest or newest due mails of each organisation and urgency."""
    names, given = list_parameters("lane", lanes)
    rows = await reader.all(
        f"""
        WITH lane (id) AS (VALUES {names[1:-1].replace(":", "(:").replace(",", "),") + ")"}),
            level (id, due_by) AS (VALUES (0, :now), (1, :now), (2, :held), (3, :held))
        SELECT waiting.organisation_id, waiting.due_at, waiting.id, waiting.urgency
        FROM lane CROSS JOIN level CROSS JOIN outbox waiting
        WHERE waiting.id IN (
            SELECT id FROM outbox next
            WHERE next.organisation_id = lane.id AND next.urgency = level.id
            AND next.kind = 'mail' AND next.state = 'pending' AND next.due_at <= level.due_by
            ORDER BY next.due_at {order}, next.id {order} LIMIT :limit)
        """,
        now=times.now,
        held=times.held,
        limit=limit,
        **given,
    )
    found: dict[str, list[tuple[Instant, int, int]]] = {}
    for row in rows:
        found.setdefault(row["organisation_id"], []).append((row["due_at"], row["id"], row["urgency"]))
    return found


def _take_turns(
    oldest: Sequence[tuple[Instant, int, int]], newest: Sequence[tuple[Instant, int, int]], turn: int
) -> Iterator[tuple[int, int]]:
    """Yield (id, urgency), the most urgent first; one of each eight is the oldest of all, so that none starves.

    Among equals, the oldest and the newest take turns. A mail that is queued now does not wait behind thousands
    that waited for the mail server to come back, and those go on too.
    """
    urgency = {job_id: level for _, job_id, level in (*oldest, *newest)}
    by_age = [job_id for _, job_id, _ in sorted(oldest)]
    ends = [
        (
            [job_id for _, job_id, level in sorted(oldest) if level == wanted],
            [job_id for _, job_id, level in sorted(newest, reverse=True) if level == wanted],
        )
        for wanted in Urgency
    ]
    for place in count(turn):
        urgent = next((pair for pair in ends if any(one in urgency for one in pair[0])), None)
        if urgent is None:
            return
        chosen = by_age if place % SHARE == 0 else urgent[place % 2]
        job_id = next(one for one in (*chosen, *urgent[0]) if one in urgency)
        yield job_id, urgency.pop(job_id)


SEAL_LANES = """
    WITH RECURSIVE lane (id) AS (
        SELECT ''
        UNION ALL
        SELECT (SELECT organisation_id FROM outbox
            WHERE kind = 'seal' AND state = 'pending' AND organisation_id > lane.id
            ORDER BY organisation_id, due_at, id LIMIT 1)
        FROM lane WHERE lane.id IS NOT NULL
    )
"""


async def has_waiting_seal(reader: Reader, now: Instant) -> bool:
    """Return whether a seal is due that no worker has taken yet."""
    rows = await reader.all(
        """
        SELECT 1 FROM outbox WHERE kind = 'seal' AND state = 'pending' AND due_at <= :now AND boot IS NULL LIMIT 1
        """,
        now=now,
    )
    return bool(rows)


async def find_due_seals(reader: Reader, now: Instant, limit: int, most: int | None = None) -> list[int]:
    """Return the ids of due seals, in turns between organisations.

    Organisations with the fewest seals under way come first, and none has more than `most`, so that many seals
    of one organisation hold up no other, however long each takes.
    """
    waiting = reader.all(
        f"""
        {SEAL_LANES}
        SELECT waiting.id, waiting.organisation_id FROM lane CROSS JOIN outbox waiting
        WHERE waiting.id IN (
            SELECT id FROM outbox next
            WHERE next.organisation_id = lane.id AND next.kind = 'seal' AND next.state = 'pending'
            AND next.due_at <= :now ORDER BY next.due_at, next.id LIMIT :limit)
        ORDER BY waiting.due_at, waiting.id
        """,
        now=now,
        limit=limit,
    )
    claimed, rows = await asyncio.gather(
        reader.all(UNDER_WAY, now=now), waiting
    )  # one turn of a thread for both
    under_way = Counter(row["organisation_id"] for row in claimed if row["kind"] == "seal")
    turns: list[tuple[int, int]] = []
    for row in rows:
        turns.append((under_way[row["organisation_id"]], row["id"]))
        under_way[row["organisation_id"]] += 1
    fitting = [turn for turn in turns if most is None or turn[0] < most]
    return [job_id for _, job_id in sorted(fitting, key=lambda turn: turn[0])[:limit]]
