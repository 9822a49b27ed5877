"""The one queue in front of the PDF workers: ordered by kind, and fair between organisations and between callers.

Besides `size` regular workers there are two spare ones for callers that find the regular ones taken. The first
is given to a party that holds no worker (a key, a member, a link, the seals of an organisation), the second to
an organisation that holds none. The operating system shares the processors between them, so that no caller
waits for another's long job to end.

- Anonymous callers all together, and the previews of one organisation, hold at most all but one of the regular
  workers, and a single caller among them at most one. Anonymous callers never hold a spare worker. So seals,
  uploads and signers' pages find a worker whatever these send.
- A job of a party that holds no worker moves up by one kind each time it was overtaken `OVERTAKEN` times. It
  takes a spare worker too once it can move up no further. So no job waits for ever.
- The number of waiting jobs is limited for each party, for each organisation, for anonymous callers and in all.
  If everything is full, the newest job of the organisation that has most waiting makes room for one that has
  fewer. Seals are not refused, because the outbox limits them.
"""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count

from esign.core.errors import Problem
from esign.pdf.worker.queue_turn import STRANGERS, PdfJobKind, QueueTurn

SPARE = 2
OVERTAKEN = 4
LAST = len(PdfJobKind) - 1  # how many kinds a job can move up until it is among the first
WAITING_OF_PARTY = {PdfJobKind.ACT: 32, PdfJobKind.UPLOAD: 32, PdfJobKind.PREVIEW: 8, PdfJobKind.STRANGER: 2}
WAITING_OF_TENANT = 48
WAITING_OF_STRANGERS = 12
WAITING = 128
PATIENCE = 30.0  # seconds in the queue, after which the caller is told to retry later
LONGEST_ADVICE = 60  # seconds of Retry-After
RECENT = 60.0  # seconds for which a refusal counts as saturation

TOO_MANY = "Several of your files are already being processed. Try again in a moment."
FULL = "The server is busy with other files. Try again in a moment."


@dataclass(eq=False, slots=True)
class QueuedJob:
    """One job in the queue or at work."""

    turn: QueueTurn
    number: int
    granted: asyncio.Future[None]
    overtaken: int = 0
    began: float | None = None

    @property
    def rank(self) -> int:
        return max(0, self.turn.kind - self.overtaken // OVERTAKEN)


class WorkerQueue:
    """Grants places at `size` workers and `SPARE` more; `patience` is in seconds."""

    def __init__(self, size: int, patience: float = PATIENCE) -> None:
        self._size = size
        self.patience = patience
        self._numbers = count()
        self._waiting: list[QueuedJob] = []
        self._running: list[QueuedJob] = []
        self._spent: dict[object, float] = {}
        self._pace = 1.0
        self._refused_at = -math.inf
        self._used_at = -math.inf

    @property
    def waiting(self) -> tuple[QueueTurn, ...]:
        """Return the turns that wait, in the order in which they came."""
        return tuple(entry.turn for entry in self._waiting)

    @property
    def idle_seconds(self) -> float:
        """Return for how long no job has run or waited."""
        now = asyncio.get_running_loop().time()
        return 0.0 if self._waiting or self._running else now - self._used_at

    @property
    def is_saturated(self) -> bool:
        """Return whether a caller was refused within the last minute because of the load of others."""
        return asyncio.get_running_loop().time() - self._refused_at < RECENT

    @property
    def advice(self) -> int:
        """Return the number of seconds after which there may be room, for `Retry-After`."""
        expected = self._pace * (len(self._waiting) + 1) / self._size
        return min(LONGEST_ADVICE, max(1, math.ceil(expected)))

    @asynccontextmanager
    async def place(self, turn: QueueTurn) -> AsyncIterator[None]:
        """Hold a worker's place while the context is open.

        Raises `rate_limited` or `unavailable` if the queue is full, and `unavailable` if no worker is free
        within `patience`.
        """
        entry = self._enter(turn)
        try:
            await self._grant(entry)
            yield
        finally:
            self._leave(entry)

    def _enter(self, turn: QueueTurn) -> QueuedJob:
        if turn.kind is not PdfJobKind.SEAL:
            self._refuse_beyond(turn)
        entry = QueuedJob(turn, next(self._numbers), asyncio.get_running_loop().create_future())
        for name, others in (
            (turn.tenant, self._list_tenants()),
            (turn.party, self._list_parties(turn.tenant)),
        ):
            # A newcomer starts level with those who used least; having used nothing before gives no advantage.
            if name not in others:
                self._spent[name] = min((self._spent[other] for other in others), default=0.0)
        self._waiting.append(entry)
        self._dispatch()
        return entry

    def _refuse_beyond(self, turn: QueueTurn) -> None:
        waiting = [entry.turn for entry in self._waiting if entry.turn.kind is not PdfJobKind.SEAL]
        of_tenant = [other for other in waiting if other.tenant == turn.tenant]
        of_party = [other for other in of_tenant if other.party == turn.party and other.kind is turn.kind]
        if len(of_party) >= WAITING_OF_PARTY[turn.kind]:
            raise Problem("rate_limited", TOO_MANY, retry_after=self.advice)
        if turn.tenant == STRANGERS:
            full = len(of_tenant) >= WAITING_OF_STRANGERS
        elif len(of_tenant) >= WAITING_OF_TENANT:
            raise Problem("rate_limited", TOO_MANY, retry_after=self.advice)
        else:
            full = len(waiting) >= WAITING and not self._make_room(len(of_tenant))
        if full:
            self._refused_at = asyncio.get_running_loop().time()
            raise Problem("unavailable", FULL, retry_after=self.advice)

    def _make_room(self, own: int) -> bool:
        """Refuse the newest job of the organisation with most waiting, and return whether there is room now.

        An organisation that has at most one job more than the caller's `own` keeps its job.
        """
        waiting = [entry for entry in self._waiting if entry.turn.kind is not PdfJobKind.SEAL]
        tenant, most = Counter(entry.turn.tenant for entry in waiting).most_common(1)[0]
        if most <= own + 1:
            return False
        newest = max((e for e in waiting if e.turn.tenant == tenant), key=lambda entry: entry.number)
        self._waiting.remove(newest)
        if not newest.granted.done():  # its caller may have been cancelled, and leaves in a moment
            newest.granted.set_exception(Problem("unavailable", FULL, retry_after=self.advice))
        return True

    async def _grant(self, entry: QueuedJob) -> None:
        try:
            async with asyncio.timeout(None if entry.turn.kind is PdfJobKind.SEAL else self.patience):
                await entry.granted
        except TimeoutError:
            self._refused_at = asyncio.get_running_loop().time()
            raise Problem("unavailable", FULL, retry_after=self.advice) from None

    def _leave(self, entry: QueuedJob) -> None:
        if entry.began is None:
            if entry in self._waiting:  # it may have made room for another
                self._waiting.remove(entry)
        else:
            self._used_at = asyncio.get_running_loop().time()
            seconds = self._used_at - entry.began
            self._running.remove(entry)
            self._spent[entry.turn.tenant] += seconds
            self._spent[entry.turn.party] += seconds
            self._pace = 0.8 * self._pace + 0.2 * seconds
        for name, present in (
            (entry.turn.tenant, self._list_tenants()),
            (entry.turn.party, self._list_parties(entry.turn.tenant)),
        ):
            if name not in present:
                self._spent.pop(name, None)
        self._dispatch()

    def _dispatch(self) -> None:
        """Give every free worker to the next job."""
        while ready := [entry for entry in self._waiting if self._may_run(entry)]:
            chosen = min(ready, key=self._rank_job)
            for other in self._waiting:
                other.overtaken += other.number < chosen.number and self._is_held_up(other.turn)
            self._waiting.remove(chosen)
            self._running.append(chosen)
            chosen.began = asyncio.get_running_loop().time()
            if not chosen.granted.done():  # its caller may have been cancelled, and leaves in a moment
                chosen.granted.set_result(None)

    def _rank_job(self, entry: QueuedJob) -> tuple[float, ...]:
        """Return the sort key of a job: its kind, then who holds the fewest workers, then who has used them least."""
        turn = entry.turn
        of_tenant = [other.turn for other in self._running if other.turn.tenant == turn.tenant]
        of_party = sum(other.party == turn.party for other in of_tenant)
        return (
            entry.rank,
            len(of_tenant),
            self._spent[turn.tenant],
            of_party,
            self._spent[turn.party],
            entry.number,
        )

    def _may_run(self, entry: QueuedJob) -> bool:
        """Return whether there is a free worker that this job may take."""
        turn, taken = entry.turn, len(self._running)
        if not self._has_room(turn) or taken >= self._size + SPARE:
            return False
        if taken < self._size or entry.overtaken >= LAST * OVERTAKEN:
            return True
        if turn.kind is PdfJobKind.STRANGER or self._has_worker(turn):
            return False
        return taken == self._size or all(other.turn.tenant != turn.tenant for other in self._running)

    def _has_room(self, turn: QueueTurn) -> bool:
        """Return whether one more preview of the organisation, or file of an anonymous caller, may be at work."""
        if turn.kind not in (PdfJobKind.PREVIEW, PdfJobKind.STRANGER):
            return True
        alike = [
            entry.turn
            for entry in self._running
            if entry.turn.kind is turn.kind and entry.turn.tenant == turn.tenant
        ]
        return len(alike) < max(1, self._size - 1) and all(other.party != turn.party for other in alike)

    def _is_held_up(self, turn: QueueTurn) -> bool:
        """Return whether a job waits because of others, and not because of what its own party has at work."""
        return self._has_room(turn) and not self._has_worker(turn)

    def _has_worker(self, turn: QueueTurn) -> bool:
        return any(entry.turn.party == turn.party for entry in self._running)

    def _list_tenants(self) -> set[object]:
        return {entry.turn.tenant for entry in (*self._waiting, *self._running)}

    def _list_parties(self, tenant: str) -> set[object]:
        return {entry.turn.party for entry in (*self._waiting, *self._running) if entry.turn.tenant == tenant}
