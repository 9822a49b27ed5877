"""Delivers events to webhooks, many at once, so that no webhook delays another.

One transaction records the finished attempts and claims as many new ones. For a webhook that is not
failing it claims a few deliveries ahead, so that the next attempt need not wait for a commit. Measured: with
one transaction for each step, a delivery costs three commits and all webhooks together get 150 deliveries a
second. Without claims ahead the rate is two thirds of the present one.
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
from esign.core.webhook.delivery import DeliveryAttempt
from esign.core.webhook.webhook import Webhook
from esign.jobs.log_trouble import log_trouble
from esign.runtime import Runtime
from esign.store.engine.database import Reader, Transaction
from esign.store.queue import deliveries, set_aside, webhooks
from esign.store.queue.deliveries import DueDelivery
from esign.store.queue.set_aside import SUSPECT
from esign.system.supervision import Heartbeat

AT_ONCE = 64
CLAIMED = 256
CLAIMED_SHARE = 192  # most claims of one organisation
SHARE = 48  # most attempts at once to the webhooks of one organisation
SPARE = 16  # additional attempts at once, and claims, for organisations that have none
AHEAD = 16
LEASE = 2 * MINUTE  # longer than all claims ahead take if each is answered just before its timeout
SWEEP_SECONDS = 5.0
BURST = 8
GATHER_SECONDS = 0.005
PAUSE_SECONDS = 1.0
LAST_SECONDS = 3.0

Ended = Sequence[tuple[int, DeliveryAttempt]]


async def run(runtime: Runtime, heartbeat: Heartbeat | None = None) -> None:
    """Deliver until cancelled. A failure of the loop itself is logged, and the loop goes on."""
    desk = DeliveryWorker(runtime)
    heartbeat = heartbeat or Heartbeat("webhook worker")
    try:
        while True:
            heartbeat.beat()
            rung = runtime.bell.rung
            try:
                await desk.run_turn()
                seconds = await find_pause(runtime)
            except Exception as error:
                log_trouble("the worker of deliveries, which goes on,", error)
                heartbeat.note_run(error)
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                heartbeat.note_run()
                heartbeat.beat(max(seconds, 0))
                await desk.wait_for_news(seconds, rung)
                # Let more attempts end meanwhile, so that one transaction records all of them.
                await asyncio.sleep(GATHER_SECONDS)
    finally:
        await desk.close()


async def find_pause(runtime: Runtime) -> float:
    """Return the seconds until the next delivery is due, at most the interval of the sweep."""
    now = runtime.clock.now()
    due_at = await deliveries.find_next_due(runtime.db, now)
    return SWEEP_SECONDS if due_at is None else min(SWEEP_SECONDS, (due_at - now) / 1_000)


class DeliveryWorker:
    """The claimed deliveries: running, waiting in the order of their claims, and ended but not yet recorded."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._running: dict[asyncio.Task[DeliveryAttempt], DueDelivery] = {}
        self._busy: Counter[str] = Counter()  # attempts by webhook
        self._owners: Counter[str] = Counter()  # attempts by organisation
        self._waiting: dict[str, deque[DueDelivery]] = {}
        self._ended: list[tuple[int, DeliveryAttempt]] = []
        self._hooks: Mapping[str, Webhook] = {}
        self._news = asyncio.Event()
        self._filling: asyncio.Handle | None = None

    async def run_turn(self) -> None:
        """Record the ended attempts, claim due deliveries, and start those for which there is room."""
        runtime, claimed = self._runtime, list[DueDelivery]()
        self._news.clear()
        if self._ended or await choose_deliveries(runtime, runtime.db, self._count_claims()):
            ended, self._ended = self._ended, []
            try:
                claimed = await note_and_claim(runtime, ended, self._count_claims())
            except Exception:  # not a cancellation: then the transaction still commits
                self._ended = ended + self._ended
                raise
        await self._refresh_waiting(claimed)
        self._start_waiting()

    def _count_claims(self) -> "ClaimCounts":
        """Return the number of claims and running attempts by webhook and by organisation."""
        waiting = Counter({webhook_id: len(lane) for webhook_id, lane in self._waiting.items()})
        owners = Counter(self._owners)
        for webhook_id, number in waiting.items():
            owners[self._hooks[webhook_id].organisation_id] += number
        takes = {hook.id for hook in self._hooks.values() if hook.failing_since is None}
        claims = (*self._running.values(), *(due for lane in self._waiting.values() for due in lane))
        has_suspect = any(due.cut_offs >= SUSPECT for due in claims)
        return ClaimCounts(self._busy + waiting, owners, takes, has_suspect)

    async def _refresh_waiting(self, claimed: Sequence[DueDelivery]) -> None:
        """Keep only the waiting deliveries that are still pending, and read their webhooks as they are now."""
        waiting = [*(due for lane in self._waiting.values() for due in lane), *claimed]
        if not waiting:
            return
        db = self._runtime.db
        pending, hooks = await asyncio.gather(
            deliveries.find_still_pending(db, [due.number for due in waiting]),
            webhooks.get_many(db, list({due.webhook_id for due in waiting})),
        )
        lanes: dict[str, deque[DueDelivery]] = {}
        started = {due.number for due in self._running.values()} | {number for number, _ in self._ended}
        for due in waiting:
            if due.number in pending and due.number not in started and due.webhook_id in hooks:
                lanes.setdefault(due.webhook_id, deque()).append(due)
        self._waiting, self._hooks = lanes, hooks

    def _start_waiting(self) -> None:
        """Start waiting deliveries within the share of each webhook, those of the least busy organisation first.

        At most `BURST` start in one step of the event loop, so that the server answers requests between steps.
        """
        self._filling = None
        for _ in range(BURST):
            able = [each for each, lane in self._waiting.items() if lane and self._may_start(each)]
            if not able:
                return
            self._start(self._waiting[min(able, key=self._rank_webhook)].popleft())
        self._start_waiting_soon()

    def _may_start(self, webhook_id: str) -> bool:
        """Return whether there is room for one more attempt. No organisation can use up the room of the others."""
        under_way = self._owners[self._hooks[webhook_id].organisation_id]
        return (
            self._busy[webhook_id] < self._runtime.config.webhooks.attempts_at_once
            and under_way < SHARE
            and len(self._running) < AT_ONCE + SPARE * (under_way == 0)
        )

    def _rank_webhook(self, webhook_id: str) -> tuple[int, int]:
        return self._owners[self._hooks[webhook_id].organisation_id], self._busy[webhook_id]

    def _start_waiting_soon(self) -> None:
        if self._filling is None:
            self._filling = asyncio.get_running_loop().call_soon(self._start_waiting)

    def _start(self, due: DueDelivery) -> None:
        webhook = self._hooks[due.webhook_id]
        work = deliver_events.attempt(self._runtime, webhook, due.event_id, due.body)
        task = asyncio.create_task(work, name=f"delivery {due.number}")
        self._running[task] = due
        self._busy[due.webhook_id] += 1
        self._owners[webhook.organisation_id] += 1
        task.add_done_callback(partial(self._end_attempt, owner=webhook.organisation_id))

    def _end_attempt(self, task: asyncio.Task[DeliveryAttempt], owner: str) -> None:
        due = self._running.pop(task)
        self._busy[due.webhook_id] -= 1
        self._owners[owner] -= 1
        if not task.cancelled():
            self._ended.append((due.number, task.result()))
            self._news.set()
            self._start_waiting_soon()

    async def wait_for_news(self, seconds: float, rung: int) -> None:
        """Wait until a commit rings the bell, an attempt ends, or `seconds` have passed."""
        bell = asyncio.create_task(self._runtime.bell.wait(seconds, rung))
        news = asyncio.create_task(self._news.wait())
        try:
            await asyncio.wait({bell, news}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            bell.cancel()
            news.cancel()

    async def close(self) -> None:
        """Wait a few seconds for running attempts, cancel the rest, and record the ended ones so that they are
        not sent twice.
        """
        self._waiting = {}
        running = list(self._running)
        if running:
            _, late = await asyncio.wait(running, timeout=LAST_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await asyncio.sleep(0)  # let the callbacks of the last attempts run
        if self._ended:
            with suppress(Problem):  # if this fails, the next start sends them again
                await self._runtime.db.write(
                    lambda tx: deliver_events.note_attempts(self._runtime, tx, self._ended)
                )


@dataclass(frozen=True, slots=True)
class ClaimCounts:
    """The numbers of deliveries already claimed, by webhook and by organisation.

    `takes` are the webhooks that are not failing. Only for them are deliveries claimed ahead.
    """

    by_webhook: Counter[str] = field(default_factory=Counter)
    by_owner: Counter[str] = field(default_factory=Counter)
    takes: Set[str] = frozenset()
    has_suspect: bool = False


async def note_and_claim(runtime: Runtime, ended: Ended, held: ClaimCounts) -> list[DueDelivery]:
    """Record the ended attempts and return newly claimed deliveries, in one transaction."""

    async def write(tx: Transaction) -> list[DueDelivery]:
        if ended:
            await deliver_events.note_attempts(runtime, tx, ended)
        chosen = await choose_deliveries(runtime, tx, held)
        until = runtime.clock.now() + LEASE
        return await deliveries.claim(tx, chosen, until, runtime.boot) if chosen else []

    return await runtime.db.write(write)


async def choose_deliveries(runtime: Runtime, reader: Reader, held: ClaimCounts) -> list[int]:
    """Return the numbers of due deliveries to claim, those of the organisations with the fewest claims first.

    No webhook and no organisation gets more than its share.
    """
    most = runtime.config.webhooks.attempts_at_once
    now = runtime.clock.now()
    due = await deliveries.find_due(reader, now, most + AHEAD)
    if any(cut_offs >= SUSPECT for _, _, cut_offs in due):
        has_suspect = held.has_suspect or bool(await set_aside.find_suspects(reader, now))
        due = leave_one_suspect(due, has_suspect)
    places = {webhook_id: count(held.by_webhook[webhook_id]) for _, webhook_id, _ in due}
    ranked = [(next(places[webhook_id]), webhook_id, number) for number, webhook_id, _ in due]
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
    # An organisation that has no claims always gets one.
    first = [number for place, number in turns if place == 0]
    return mine[: max(room, min(len(first), room + SPARE), 0)]


def leave_one_suspect(due: Sequence[tuple[int, str, int]], has_suspect: bool) -> list[tuple[int, str, int]]:
    """Return the due deliveries with one suspect (`store.queue.set_aside`) at most, and none while there is another.

    `has_suspect` tells that a delivery is claimed that is one, or that a seal or mail is one.
    """
    room = count(int(has_suspect))
    return [each for each in due if each[2] < SUSPECT or next(room) == 0]


async def drain(runtime: Runtime) -> int:
    """Deliver what is due now, one delivery after the other, until nothing is due. Return the number of attempts."""
    attempts, ended = 0, list[tuple[int, DeliveryAttempt]]()
    while claimed := await note_and_claim(runtime, ended, ClaimCounts()):
        hooks = await webhooks.get_many(runtime.db, list({due.webhook_id for due in claimed}))
        ended = [
            (due.number, await deliver_events.attempt(runtime, hooks[due.webhook_id], due.event_id, due.body))
            for due in claimed
        ]
        attempts += len(ended)
    return attempts
