"""T12: 10,000 mails wait while the mail server is away; then it is back with limits, and all leave within them."""

import asyncio
import re
import statistics
import tempfile
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from tests.journeys.api import Api, a_session, until
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, open_to_read
from tests.reliability.served import MailConnection, PostOffice, Served, install

TARGET = (
    "10,000 mails queued while the server resets, says nothing, or 421; then 4 connections, 50 mails each, 3,000 a"
    " minute: 0 lost, 0 twice; oldest and newest in turns, none else out of its order; ≤ 16 mails a minute over the"
    " limit; a fresh document's mail ≤ 90 s; all ≤ 10 min after the return"
)
RECIPIENTS = 50
CONNECTIONS, MAILS_EACH, MAILS_A_MINUTE = 4, 50, 3_000
MINUTE = 60.0
OVER, ALL_SECONDS, FRESH_SECONDS = 16, 600.0, 90.0
SLACK = 8 + 8  # mails that are under way at once, at each end of the queue
MESSAGE_ID = re.compile(rb"^Message-ID: <eml\.(\S+)@", re.MULTILINE)


@dataclass
class Relay:
    """A mail server's rules and what happened: `mode` is `reset`, `silent`, `busy` or `limited`."""

    mode: str = "reset"
    open: int = 0
    most_open: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    over: Counter[int] = field(default_factory=Counter)
    begun: float = 0.0
    minute: int = -1
    taken: int = 0
    deferred: set[str] = field(default_factory=set)
    arrived: dict[str, float] = field(default_factory=dict)
    came: list[tuple[str, str]] = field(default_factory=list)  # the key of each mail and its recipient

    def may_take(self) -> bool:
        """Return whether this minute has room for one more mail, and count it; else count who came too soon."""
        minute = int((time.perf_counter() - self.begun) / MINUTE)
        if minute != self.minute:
            self.minute, self.taken = minute, 0
        if self.taken >= MAILS_A_MINUTE:
            self.over[minute] += 1
            return False
        self.taken += 1
        return True


class LimitedConnection(MailConnection):
    """One connection to a relay that has rules."""

    def __init__(self, office: PostOffice, relay: Relay) -> None:
        super().__init__(office)
        self.relay = relay
        self.mails = 0
        self.counted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.relay.asked[self.relay.mode] += 1
        self.transport = cast(asyncio.Transport, transport)
        match self.relay.mode:
            case "reset":
                self.transport.abort()
            case "silent":
                pass
            case "busy":
                self.refuse("421 4.3.2 not now")
            case _ if self.relay.open >= CONNECTIONS:
                self.relay.asked["one connection too many"] += 1
                self.refuse("421 4.7.0 too many connections")
            case _:
                self.counted = True
                self.relay.open += 1
                self.relay.most_open = max(self.relay.most_open, self.relay.open)
                super().connection_made(transport)

    def refuse(self, answer: str) -> None:
        """Say why, and close."""
        self.say(answer)
        self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self.relay.open -= self.counted

    def answer(self, line: bytes) -> None:
        verb = line[:4].upper()
        if self.in_data:
            if found := MESSAGE_ID.search(line):
                self.relay.came.append((found[1].decode(), self.to))
            self.relay.arrived.setdefault(self.to, time.perf_counter())
        elif verb == b"MAIL":
            self.mails += 1
            if self.mails > MAILS_EACH:
                self.refuse("421 4.7.0 enough for one connection")
                return
        elif verb == b"RCPT" and not self.relay.may_take():
            self.relay.deferred.add(line.partition(b"<")[2].partition(b">")[0].decode())
            self.say("451 4.7.1 too many mails in this minute")
            return
        super().answer(line)


async def run(given: Sequence[str]) -> Figure:
    """Send 200 documents of 50 people while the server is away, and look at what it gets once it is back."""
    asked = arguments.read(given, documents=200)
    relay = Relay()
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder), connect=lambda office: LimitedConnection(office, relay)) as served:
            seconds, fresh, bad = await measure(served, relay, asked["documents"])
    for line in bad[:20]:
        print(line)
    over = max(relay.over.values(), default=0)
    while_away = sum(relay.asked[mode] for mode in ("reset", "silent", "busy"))
    measured = (
        f"{asked['documents'] * RECIPIENTS} mails, {len(bad)} findings; {while_away} connections while it was away; all"
        f" within {seconds:.0f} s of its return, over at most {relay.most_open} connections, {over} mails in one minute"
        f" over the limit, {relay.asked['one connection too many']} connections too many; {len(fresh)} fresh mails"
        f" meanwhile, median {statistics.median(fresh):.1f} s, the slowest {max(fresh):.1f} s"
    )
    held = not bad and seconds <= ALL_SECONDS and over <= OVER and max(fresh) <= FRESH_SECONDS
    return Figure("T12", TARGET, measured, held, len(bad), arguments.write("mail_outage", asked))


async def measure(served: Served, relay: Relay, documents: int) -> tuple[float, list[float], list[str]]:
    """Return the seconds until all had come, those of each fresh mail, and what is wrong."""
    await served.start()
    async with a_session() as session:
        api = Api(session, served.base, served.key)
        for number in range(documents):
            relay.mode = ("reset", "silent", "busy")[number * 3 // documents]
            await send(api, [f"waiting-{number}-{n}@example.test" for n in range(RECIPIENTS)])
        if relay.arrived:
            return 0.0, [0.0], ["mails came while the server was away"]
        relay.mode, relay.begun = "limited", time.perf_counter()
        began = relay.begun
        sent: dict[str, float] = {}
        fresh = asyncio.create_task(send_fresh(api, relay, sent))

        async def are_all() -> bool | None:
            count = sum(to.startswith("waiting") for to in relay.arrived)
            return count >= documents * RECIPIENTS or None

        try:
            await until(are_all, "mail for everybody", 3600)
        finally:
            fresh.cancel()
            with suppress(asyncio.CancelledError):
                await fresh

        async def are_fresh() -> bool | None:
            return sent.keys() <= relay.arrived.keys() or None

        await until(are_fresh, "fresh mail", 300)
        last = max(at for to, at in relay.arrived.items() if to.startswith("waiting"))
    code = await served.stop()
    bad = [f"the server ended with {code}"] if code else []
    bad += [f"{id} came {len(lives)} times" for id, lives in served.office.lives.items() if len(lives) > 1]
    bad += find_faults(served.database) + find_disorder(served, relay)
    bad += ["the log holds a traceback"] if "Traceback" in served.log else []
    return last - began, [relay.arrived[to] - at for to, at in sent.items()] or [0.0], bad


async def send(api: Api, addresses: Sequence[str]) -> None:
    """Send one document to so many people at once."""
    people = [{"name": "Somebody", "email": address, "order": 1} for address in addresses]
    await api.send_document(recipients=people)


async def send_fresh(api: Api, relay: Relay, sent: dict[str, float]) -> None:
    """Send a document every ten seconds once mails leave, until cancelled; note when each was sent."""
    while True:
        if relay.arrived:
            address = f"fresh-{len(sent)}@example.test"
            began = time.perf_counter()
            await send(api, [address])
            sent[address] = began
        await asyncio.sleep(10)


def find_disorder(served: Served, relay: Relay) -> list[str]:
    """Return a line for each waiting mail that overtook more than are under way at once, from either end.

    Mails of one rank leave from the oldest and from the newest end in turns. A mail that the server put off is left
    out: its place is taken by those behind it.
    """
    with closing(open_to_read(served.database)) as connection:
        places = {
            key.replace(":", "."): number
            for number, key in connection.execute("SELECT id, key FROM outbox WHERE kind = 'mail'")
        }
    order = [places[key] for key, to in relay.came if to.startswith("waiting") and to not in relay.deferred]
    waiting, disorder = sorted(set(order)), []
    for place in order:
        at = bisect_left(waiting, place)
        newer = len(waiting) - 1 - at
        if min(at, newer) > SLACK:
            disorder.append(f"mail {place} left with {at} older and {newer} newer ones waiting")
        waiting.pop(at)
    return disorder
