"""Brings events to webhooks, many at once, and never lets one of them delay the others.

One transaction notes what came of the attempts that have ended and claims as many more; for a webhook that takes
what it gets it claims a few ahead, so that nobody waits for the commit. Measured: written one by one, a delivery
costs three commits and all webhooks together get 150 a second; without claims ahead two thirds of what it is with.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from operator import itemgetter

from esign.actions.webhook import deliver_events
from esign.core.errors import Problem
from esign.core.instant import MINUTE
from esign.core.webhook.delivery import Attempt
from esign.core.webhook.webhook import Webhook
from esign.jobs.log_trouble import log_trouble
from esign.runtime import Runtime
from esign.store.engine.database import Reader, Transaction
from esign.store.queue import deliveries, webhooks
from esign.store.queue.deliveries import Due

AT_ONCE = 64
CLAIMED = 256
CLAIMED_SHARE = 192  # claims of one organisation
SHARE = 48  # attempts at once to the webhooks of one organisation
SPARE = 16  # more attempts at once, and claims, for organisations that have none
AHEAD = 16
LEASE = 2 * MINUTE  # outlives what is claimed ahead, all of it answered at the last moment
SWEEP_SECONDS = 5.0
BURST = 8
GATHER_SECONDS = 0.005
PAUSE_SECONDS = 1.0
LAST_SECONDS = 3.0

Ended = Sequence[tuple[int, Attempt]]


async def run(runtime: Runtime) -> None:
    """Work until cancelled; a failure of the loop itself is logged and the loop goes on."""
    desk = Desk(runtime)
    try:
        while True:
            rung = runtime.bell.rung
            try:
                await desk.turn()
                seconds = await pause(runtime)
            except Exception as error:
                log_trouble("the worker of deliveries, which goes on,", error)
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                await desk.something_happens(seconds, rung)
                await asyncio.sleep(GATHER_SECONDS)  # others end meanwhile: one transaction for all of them
    finally:
        await desk.close()


async def pause(runtime: Runtime) -> float:
    """Seconds until the next retry is due, or the sweep."""
    now = runtime.clock.now()
    due_at = await deliveries.next_due(runtime.db, now)
    return SWEEP_SECONDS if due_at is None else min(SWEEP_SECONDS, (due_at - now) / 1_000)


class Desk:
    """What is claimed: under way, waiting for its turn in the order of the claims, and ended but not noted."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._running: dict[asyncio.Task[Attempt], Due] = {}
        self._busy: Counter[str] = Counter()  # attempts by webhook
        self._owners: Counter[str] = Counter()  # attempts by organisation
        self._waiting: dict[str, deque[Due]] = {}
        self._ended: list[tuple[int, Attempt]] = []
        self._hooks: Mapping[str, Webhook] = {}
        self._news = asyncio.Event()
        self._filling: asyncio.Handle | None = None

    async def turn(self) -> None:
        """Note what has ended, forget what was taken back, and start what is due and fits beside what runs."""
        runtime, claimed = self._runtime, list[Due]()
        self._news.clear()
        if self._ended or await choose(runtime, runtime.db, self._held()):
            ended, self._ended = self._ended, []
            try:
                claimed = await exchange(runtime, ended, self._held())
            except Exception:  # not a cancellation: the transaction goes on without us
                self._ended = ended + self._ended
                raise
        await self._look_again(claimed)
        self._fill()

    def _held(self) -> "Held":
        waiting = Counter({webhook_id: len(lane) for webhook_id, lane in self._waiting.items()})
        owners = Counter(self._owners)
        for webhook_id, number in waiting.items():
            owners[self._hooks[webhook_id].organisation_id] += number
        takes = {hook.id for hook in self._hooks.values() if hook.failing_since is None}
        return Held(self._busy + waiting, owners, takes)

    async def _look_again(self, claimed: Sequence[Due]) -> None:
        """Nothing leaves that was dropped meanwhile, or for a webhook as it was before a change."""
        waiting = [*(due for lane in self._waiting.values() for due in lane), *claimed]
        if not waiting:
            return
        db = self._runtime.db
        pending, hooks = await asyncio.gather(
            deliveries.still_pending(db, [due.number for due in waiting]),
            webhooks.get_many(db, list({due.webhook_id for due in waiting})),
        )
        lanes: dict[str, deque[Due]] = {}
        started = {due.number for due in self._running.values()} | {number for number, _ in self._ended}
        for due in waiting:
            if due.number in pending and due.number not in started and due.webhook_id in hooks:
                lanes.setdefault(due.webhook_id, deque()).append(due)
        self._waiting, self._hooks = lanes, hooks

    def _fill(self) -> None:
        """Start what waits, no webhook above its share, those with least under way first; a few in each step of
        the loop, so that whoever asks the server is answered between them."""
        self._filling = None
        for _ in range(BURST):
            able = [each for each, lane in self._waiting.items() if lane and self._may_start(each)]
            if not able:
                return
            self._start(self._waiting[min(able, key=self._standing)].popleft())
        self._fill_soon()

    def _may_start(self, webhook_id: str) -> bool:
        """Whether there is room for one more attempt, which none of another organisation may use up."""
        under_way = self._owners[self._hooks[webhook_id].organisation_id]
        return (
            self._busy[webhook_id] < self._runtime.config.webhooks.attempts_at_once
            and under_way < SHARE
            and len(self._running) < AT_ONCE + SPARE * (under_way == 0)
        )

    def _standing(self, webhook_id: str) -> tuple[int, int]:
        return self._owners[self._hooks[webhook_id].organisation_id], self._busy[webhook_id]

    def _fill_soon(self) -> None:
        if self._filling is None:
            self._filling = asyncio.get_running_loop().call_soon(self._fill)

    def _start(self, due: Due) -> None:
        webhook = self._hooks[due.webhook_id]
        work = deliver_events.attempt(self._runtime, webhook, due.event_id, due.body)
        task = asyncio.create_task(work, name=f"delivery {due.number}")
        self._running[task] = due
        self._busy[due.webhook_id] += 1
        self._owners[webhook.organisation_id] += 1
        task.add_done_callback(partial(self._end, owner=webhook.organisation_id))

    def _end(self, task: asyncio.Task[Attempt], owner: str) -> None:
        due = self._running.pop(task)
        self._busy[due.webhook_id] -= 1
        self._owners[owner] -= 1
        if not task.cancelled():
            self._ended.append((due.number, task.result()))
            self._news.set()
            self._fill_soon()

    async def something_happens(self, seconds: float, rung: int) -> None:
        """A commit rings, an attempt ends, or so much time is over."""
        bell = asyncio.create_task(self._runtime.bell.wait(seconds, rung))
        news = asyncio.create_task(self._news.wait())
        try:
            await asyncio.wait({bell, news}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            bell.cancel()
            news.cancel()

    async def close(self) -> None:
        """Let what is under way come to its end and note it, so that it need not be sent twice; cut off the rest."""
        self._waiting = {}
        running = list(self._running)
        if running:
            _, late = await asyncio.wait(running, timeout=LAST_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await asyncio.sleep(0)  # the last of them are put down as ended
        if self._ended:
            with suppress(Problem):  # then the next start sends them again
                await self._runtime.db.write(lambda tx: deliver_events.note(self._runtime, tx, self._ended))


@dataclass(frozen=True, slots=True)
class Held:
    """How many are claimed already, by webhook and by organisation; `takes` are webhooks that take what they get."""

    by_webhook: Counter[str] = field(default_factory=Counter)
    by_owner: Counter[str] = field(default_factory=Counter)
    takes: Set[str] = frozenset()


async def exchange(runtime: Runtime, ended: Ended, held: Held) -> list[Due]:
    """The outcomes for new work, in one transaction."""

    async def write(tx: Transaction) -> list[Due]:
        if ended:
            await deliver_events.note(runtime, tx, ended)
        chosen = await choose(runtime, tx, held)
        until = runtime.clock.now() + LEASE
        return await deliveries.claim(tx, chosen, until, runtime.boot) if chosen else []

    return await runtime.db.write(write)


async def choose(runtime: Runtime, reader: Reader, held: Held) -> list[int]:
    """What is due, no webhook and no organisation above its share, those with least in hand first."""
    most = runtime.config.webhooks.attempts_at_once
    due = await deliveries.find_due(reader, runtime.clock.now(), most + AHEAD)
    places = {webhook_id: count(held.by_webhook[webhook_id]) for _, webhook_id in due}
    ranked = [(next(places[webhook_id]), webhook_id, number) for number, webhook_id in due]
    fitting = sorted(
        (rank for rank in ranked if rank[0] < most + AHEAD * (rank[1] in held.takes)), key=itemgetter(0)
    )
    owners = await webhooks.find_owners(reader, list(places)) if places else {}
    counts = {owner: count(held.by_owner[owner]) for owner in owners.values()}
    turns = sorted(
        (
            (next(counts[owners[webhook_id]]), number)
            for _, webhook_id, number in fitting
            if webhook_id in owners
        ),
        key=itemgetter(0),
    )
    room = CLAIMED - held.by_webhook.total()
    mine = [number for place, number in turns if place < CLAIMED_SHARE]
    first = [number for place, number in turns if place == 0]  # of those who have none there is always one
    return mine[: max(room, min(len(first), room + SPARE), 0)]


async def drain(runtime: Runtime) -> int:
    """Deliver what is due now, one after the other, until nothing is; the number of attempts made."""
    attempts, ended = 0, list[tuple[int, Attempt]]()
    while claimed := await exchange(runtime, ended, Held()):
        hooks = await webhooks.get_many(runtime.db, list({due.webhook_id for due in claimed}))
        ended = [
            (due.number, await deliver_events.attempt(runtime, hooks[due.webhook_id], due.event_id, due.body))
            for due in claimed
        ]
        attempts += len(ended)
    return attempts
