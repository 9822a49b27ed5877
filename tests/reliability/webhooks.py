"""T11: events of 500 documents for 20 webhooks, of which half fail; the server is killed twice in the midst of it."""

import asyncio
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp

from esign.core.instant import SECOND
from tests.bench import receiver
from tests.bench.installation import resident
from tests.journeys.api import Answer, Api, a_request, a_session, until
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, open_to_read
from tests.reliability.served import Served, install

TARGET = (
    "10,000 deliveries over 20 webhooks, 10 failing (4 silent, 3 × 500, 2 reset, 1 × 429), 2 kills: healthy ones get"
    " each event 1 to 3 times, p95 ≤ 5 s after the commit, all ≤ 120 s; no second attempt before its time; GET p99 ≤"
    " 200 ms; memory ≤ 400 MiB"
)
HEALTHY = 10
FAILING = ("silent",) * 4 + ("500",) * 3 + ("reset",) * 2 + ("429",)
CLIENTS = 4
FIRST_DELAY = 5 * SECOND
P95_SECONDS, ALL_SECONDS, P99_MS, MEMORY_MIB, MOST = 5.0, 120.0, 200.0, 400.0, 3


@dataclass
class Arrivals(receiver.Counter):
    """What came to the healthy places: when, in which order, how often."""

    times: dict[tuple[bytes, bytes], float] = field(default_factory=dict)
    counts: Counter[tuple[bytes, bytes]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        super().__init__()

    def take(self, place: bytes, delivery: bytes) -> None:
        """Note one delivery; the first of each is what counts as its time."""
        super().take(place, delivery)
        self.counts[place, delivery] += 1
        self.times.setdefault((place, delivery), time.time())


@dataclass
class Storm:
    """What was measured; times in seconds."""

    created: int = 0
    waits: list[float] = field(default_factory=list)
    gets: list[float] = field(default_factory=list)
    memory: float = 0.0
    seconds: float = 0.0
    second_attempts: list[float] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)


async def run(given: Sequence[str]) -> Figure:
    """Make 500 documents by four clients, and kill the server after a third and after two thirds of them."""
    asked = arguments.read(given, documents=500, kills=2)
    arrivals = Arrivals()
    listener = await asyncio.get_running_loop().create_server(
        lambda: receiver.Connection(arrivals), "127.0.0.1", 0
    )
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
            async with install(Path(folder)) as served:
                storm = await measure(served, arrivals, url, asked["documents"], asked["kills"])
    finally:
        listener.close()
    for line in storm.bad[:20]:
        print(line)
    p95 = sorted(storm.waits)[int(len(storm.waits) * 0.95)]
    p99 = 1000 * sorted(storm.gets)[int(len(storm.gets) * 0.99)]
    retried = sorted(storm.second_attempts)
    again, most = sum(arrivals.counts.values()) - len(arrivals.came), max(arrivals.counts.values())
    number = asked["documents"] * (HEALTHY + len(FAILING))
    measured = (
        f"{number} deliveries, {asked['kills']} kills, {len(storm.bad)} findings: {len(arrivals.came)} came to healthy"
        f" ones, {again} of them again, each at most {most} times; median {statistics.median(storm.waits):.2f} s and"
        f" p95 {p95:.1f} s after the commit, the last {storm.seconds:.1f} s after the last document; second attempts"
        f" where 500 was answered came {retried[0]:.1f} to {retried[-1]:.1f} s after the first; GET p99 {p99:.0f} ms;"
        f" memory at most {storm.memory:.0f} MiB"
    )
    held = (
        not storm.bad
        and p95 <= P95_SECONDS
        and storm.seconds <= ALL_SECONDS
        and p99 <= P99_MS
        and storm.memory <= MEMORY_MIB
        and retried[0] >= 0.9 * FIRST_DELAY / SECOND
    )
    return Figure("T11", TARGET, measured, held, len(storm.bad), arguments.write("webhooks", asked))


async def measure(served: Served, arrivals: Arrivals, url: str, documents: int, kills: int) -> Storm:
    """Return what came of the storm, after a clean stop."""
    storm = Storm()
    await served.start()
    async with a_session() as session:
        api = Api(session, served.base, served.key)
        for place in (*(f"healthy{n}" for n in range(HEALTHY)), *FAILING):
            await api.webhook(f"{url}/{place}", "document.created")
        looking = asyncio.create_task(look(served, api, storm))
        try:
            async with asyncio.TaskGroup() as group:
                names = iter(range(documents))
                for _ in range(CLIENTS):
                    group.create_task(create(served, api, names, storm))
                for kill in range(kills):
                    await until(partial(reach, storm, (kill + 1) * documents // (kills + 1)), "kill", 3600)
                    await served.kill()
                    await served.start()
            done = time.perf_counter()
            await until(lambda: are_all(arrivals, documents), "delivery to every healthy webhook", 600)
            storm.seconds = time.perf_counter() - done
            await until(lambda: are_retried(served.database, documents), "second attempt", 600)
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
    code = await served.stop()
    judge(served, arrivals, storm)
    storm.bad += [f"the server ended with {code}"] if code else []
    return storm


async def create(served: Served, api: Api, names: Any, storm: Storm) -> None:
    """Make one document after the other; whoever gets no answer asks again with the same key."""
    for number in names:
        while True:
            await served.alive.wait()
            with suppress(aiohttp.ClientError, ConnectionError):
                name = f"storm-{number}"
                made = await api.call("POST", "/documents", a_request(externalId=name), idempotency_key=name)
                if made.status == 201:
                    storm.created += 1
                    break
                note_refusal(storm, made)
            await asyncio.sleep(0.1)


def note_refusal(storm: Storm, answer: Answer) -> None:
    """Note an answer that is none of those that ask to come again."""
    if answer.status not in (409, 429, 503):
        storm.bad.append(f"{answer.status} {answer.content[:200]!r}")


async def look(served: Served, api: Api, storm: Storm) -> None:
    """Read the list twenty times a second while the server is up, until cancelled; note times and memory."""
    while True:
        await served.alive.wait()
        began = time.perf_counter()
        with suppress(aiohttp.ClientError, ConnectionError):
            answer = await api.call("GET", "/documents?limit=1")
            storm.gets.append(time.perf_counter() - began)
            note_refusal(storm, answer) if answer.status != 200 else None
        if served.alive.is_set() and served.process is not None:
            with suppress(FileNotFoundError, ProcessLookupError):
                storm.memory = max(storm.memory, resident(served.process.pid))
        await asyncio.sleep(0.05)


async def reach(storm: Storm, number: int) -> bool | None:
    """Return True when so many documents are made, else None."""
    return storm.created >= number or None


async def are_all(arrivals: Arrivals, documents: int) -> bool | None:
    """Return True when every healthy webhook has heard of every document, else None."""
    return len(arrivals.came) >= documents * HEALTHY or None


async def are_retried(path: Path, documents: int) -> bool | None:
    """Return True when each event was tried twice where 500 is answered, else None."""
    with closing(open_to_read(path)) as connection:
        [(count,)] = connection.execute(
            "SELECT count(*) FROM delivery d JOIN webhook w ON w.id = d.webhook_id WHERE w.url LIKE '%/500'"
            " AND d.tries >= 2"
        )
    return count >= documents * FAILING.count("500") or None


def judge(served: Served, arrivals: Arrivals, storm: Storm) -> None:
    """Note the wait of each delivery, and what is wrong in the database or in what came."""
    with closing(open_to_read(served.database)) as connection:
        events = dict(connection.execute("SELECT id, created_at FROM event WHERE type = 'document.created'"))
        attempts = connection.execute(
            "SELECT d.number, a.at FROM attempt a JOIN delivery d ON d.number = a.delivery"
            " JOIN webhook w ON w.id = d.webhook_id WHERE w.url LIKE '%/500' ORDER BY d.number, a.number"
        ).fetchall()
    for (place, id), at in arrivals.times.items():
        if id.decode() not in events:
            storm.bad.append(f"{place.decode()} got {id.decode()}, which is no event")
            continue
        storm.waits.append(at - events[id.decode()] / 1000)
    storm.bad += [f"{key} came {n} times" for key, n in arrivals.counts.items() if n > MOST]
    if len(arrivals.came) != len(events) * HEALTHY:
        storm.bad.append(f"{len(events)} events, {len(arrivals.came)} deliveries")
    tried: dict[int, list[int]] = defaultdict(list)
    for number, at in attempts:
        tried[number].append(at)
    storm.second_attempts = [(at[1] - at[0]) / 1000 for at in tried.values() if len(at) > 1]
    storm.bad += find_faults(served.database)
    if "Traceback" in served.log:
        storm.bad.append("the log holds a traceback")
