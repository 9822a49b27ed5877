"""T16: a server is off for three days while 10,000 documents become due; each is decided once, in bounded time."""

import asyncio
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from aiohttp import web

from esign.core.instant import DAY, Instant
from tests.bench.installation import resident
from tests.journeys.api import Api, a_request, a_session, until
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, open_to_read
from tests.reliability.moved_clock import MovedClock
from tests.reliability.served import Served, install

TARGET = (
    "10,000 documents due after 3 days, half expired, half to be reminded of, and their failed webhooks: all decided"
    " ≤ 10 min after the start, each once; reminders only as many as the day has mails, the rest the day after; GET p99"
    " ≤ 300 ms"
)
CLIENTS = 4
MAILS_A_DAY = 3_000  # for 5,000 reminders
DAYS, MOST_DAYS = 3, 6
ALL_SECONDS, P99_MS = 600.0, 300.0
LATER = {"enabled": True, "firstAfterDays": 1, "everyDays": 14, "max": 3}
WAITING = """
    SELECT (SELECT count(*) FROM document WHERE status = 'sent' AND expires_at <= :now)
        + (SELECT count(*) FROM recipient WHERE next_reminder_at <= :now)
        + (SELECT count(*) FROM outbox WHERE state = 'pending' AND due_at <= :now)
        + (SELECT count(*) FROM delivery WHERE status = 'pending' AND due_at <= :now)
"""


@dataclass
class Day:
    """What one start of the server did: seconds until nothing was due, and the mails and reminders since."""

    seconds: float
    mails: int
    reminders: int


@dataclass
class Absence:
    """What was measured."""

    days: list[Day] = field(default_factory=list)
    gets: list[float] = field(default_factory=list)
    memory: float = 0.0
    bad: list[str] = field(default_factory=list)


async def run(given: Sequence[str]) -> Figure:
    """Send 10,000 documents, stop, let three days go by, and look at what each start does then."""
    asked = arguments.read(given, documents=10_000, mails=MAILS_A_DAY)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        clock = MovedClock(Path(folder) / "clock")
        async with install(Path(folder)) as served:
            served.command = clock.command
            absence = await measure(served, clock, asked["documents"], asked["mails"])
    for line in absence.bad[:20]:
        print(line)
    gets = sorted(absence.gets)
    p99 = 1000 * gets[int(len(gets) * 0.99)]
    first, rest = absence.days[0], absence.days[1:]
    measured = (
        f"{asked['documents']} documents, {len(absence.bad)} findings: nothing was due any more {first.seconds:.0f} s"
        f" after the start, {first.mails} mails and {first.reminders} reminders (limit {asked['mails']}); on the days"
        f" after {', '.join(str(day.reminders) for day in rest)} reminders, within"
        f" {max((day.seconds for day in rest), default=0.0):.0f} s; GET median {1000 * statistics.median(gets):.0f} ms,"
        f" p99 {p99:.0f} ms; memory at most {absence.memory:.0f} MiB"
    )
    held = not absence.bad and first.seconds <= ALL_SECONDS and p99 <= P99_MS
    return Figure("T16", TARGET, measured, held, len(absence.bad), arguments.write("downtime", asked))


async def measure(served: Served, clock: MovedClock, documents: int, mails: int) -> Absence:
    """Return what came of the days, after clean stops."""
    absence = Absence()
    served.receiver.answer = lambda _: web.Response(status=500)
    await served.start()
    async with a_session() as session:
        api = Api(session, served.base, served.key)
        await api.webhook(served.receiver.url, "document.sent")
        numbers = iter(range(documents))
        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(send(api, numbers))
        await until(partial(is_idle, served, None, "mail"), "invitation of everybody", 3600)
        await served.stop()
        text = served.config.read_text("utf-8")
        assert "emails_per_day = 1000000" in text
        served.config.write_text(
            text.replace("emails_per_day = 1000000", f"emails_per_day = {mails}"), "utf-8"
        )
        served.receiver.answer = lambda _: web.Response(status=204)
        clock.pass_time(DAYS * DAY)
        told = len(served.receiver.came)
        while len(absence.days) < MOST_DAYS and (not absence.days or count_unreminded(served.database)):
            await spend_day(served, api, clock, absence)
            clock.pass_time(DAY)
        came = Counter(delivered.id for delivered in served.receiver.came[told:])
    judge(served, documents, mails, came, absence)
    return absence


async def send(api: Api, numbers: Iterator[int]) -> None:
    """Send one document after the other: even ones expire in two days, odd ones are to be reminded of."""
    for number in numbers:
        rhythm = LATER if number % 2 else {"enabled": False}
        body = a_request(
            externalId=f"due-{number}",
            send=True,
            reminders=rhythm,
            expiresInDays=60 if number % 2 else 2,
            recipients=[{"name": "Ada", "email": f"due-{number}@example.test"}],
        )
        await api.ok("POST", "/documents", body)


async def spend_day(served: Served, api: Api, clock: MovedClock, absence: Absence) -> None:
    """Start the server, wait until nothing is due any more while somebody reads, and stop it."""
    mails, reminders = len(served.office.lives), count_reminders(served.database)
    began = time.perf_counter()
    await served.start(300)
    looking = asyncio.create_task(look(served, api, absence))
    try:
        await until(partial(is_idle, served, clock, "all"), "end of what was due", 3600)
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
    seconds = time.perf_counter() - began
    if code := await served.stop():
        absence.bad.append(f"the server ended with {code}")
    absence.days.append(
        Day(seconds, len(served.office.lives) - mails, count_reminders(served.database) - reminders)
    )


async def look(served: Served, api: Api, absence: Absence) -> None:
    """Read the list again and again until cancelled."""
    assert served.process is not None
    while True:
        began = time.perf_counter()
        answer = await api.call("GET", "/documents?limit=1")
        absence.gets.append(time.perf_counter() - began)
        if answer.status != 200:
            absence.bad.append(f"a GET was answered {answer.status}")
        absence.memory = max(absence.memory, resident(served.process.pid))
        await asyncio.sleep(0.05)


async def is_idle(served: Served, clock: MovedClock | None, what: str) -> bool | None:
    """Return True when nothing is due any more (`what` is `all`) or no mail waits, else None."""
    await asyncio.sleep(0.5)
    now: Instant = round(time.time() * 1000) + (clock.wall if clock else 0)
    with closing(open_to_read(served.database)) as connection:
        if what == "mail":
            query = "SELECT count(*) FROM outbox WHERE state = 'pending' AND kind = 'mail'"
            [(count,)] = connection.execute(query)
        else:
            [(count,)] = connection.execute(WAITING, {"now": now})
    return count == 0 or None


def count_reminders(path: Path) -> int:
    """Return how many reminders were sent."""
    with closing(open_to_read(path)) as connection:
        [(count,)] = connection.execute("SELECT coalesce(sum(reminders_sent), 0) FROM recipient")
    return int(count)


def count_unreminded(path: Path) -> int:
    """Return how many of those to be reminded of were not."""
    with closing(open_to_read(path)) as connection:
        [(count,)] = connection.execute(
            "SELECT count(*) FROM recipient r JOIN document d ON d.id = r.document_id WHERE d.status = 'sent'"
            " AND r.reminders_sent = 0"
        )
    return int(count)


def judge(served: Served, documents: int, mails: int, came: Counter[str], absence: Absence) -> None:
    """Note what was not decided, or decided twice, and more mail than the day has."""
    with closing(open_to_read(served.database)) as connection:
        statuses = Counter(status for (status,) in connection.execute("SELECT status FROM document"))
        expired = connection.execute(
            "SELECT document_id, count(*) FROM event WHERE type = 'document.expired' GROUP BY document_id"
        ).fetchall()
        reminded = Counter(
            count
            for (count,) in connection.execute(
                "SELECT r.reminders_sent FROM recipient r JOIN document d ON d.id = r.document_id"
                " WHERE d.status = 'sent'"
            )
        )
        events = [id for (id,) in connection.execute("SELECT id FROM event WHERE type = 'document.sent'")]
    half = documents // 2
    if statuses != {"sent": half, "expired": documents - half}:
        absence.bad.append(f"the documents are {dict(statuses)}")
    if {count for _, count in expired} != {1} or len(expired) != documents - half:
        absence.bad.append(f"{len(expired)} documents expired, {sum(count for _, count in expired)} times")
    if reminded != {1: half}:
        absence.bad.append(f"reminders for each of those out: {dict(reminded)}")
    for day in absence.days:
        if day.reminders > mails:
            absence.bad.append(f"{day.reminders} reminders on a day of {mails} mails")
    if set(came) != set(events) or set(came.values()) != {1}:
        absence.bad.append(f"{len(events)} events, {len(came)} came after the stop, {came.total()} times")
    twice = [id for id, lives in served.office.lives.items() if len(lives) > 1]
    absence.bad += [f"mail {id} came again" for id in twice]
    absence.bad += find_faults(served.database)
    if "Traceback" in served.log:
        absence.bad.append("the log holds a traceback")
