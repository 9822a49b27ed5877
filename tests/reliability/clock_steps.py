"""T15: the wall clock of a running server is set wrong and back; nothing ends early, and stamps do not see it."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from esign.core.instant import DAY, HOUR, MINUTE, SECOND, Instant, Millis, parse
from tests.journeys.api import Api, Person, a_session, until
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, open_to_read
from tests.reliability.moved_clock import MovedClock
from tests.reliability.served import Served, add_webhook, install

TARGET = (
    "steps of ±1 h, ±1 day, 31 days, ±1 year, and a leap second (a second twice, a second left out): nothing expires,"
    " nobody is reminded, stamps and webhooks keep the right time, signing goes on; a step that stays is believed after"
    " 10 minutes: each due thing once"
)
STEPS: dict[str, Millis] = {
    "+1 h": HOUR,
    "-1 h": -HOUR,
    "+1 day": DAY,
    "-1 day": -DAY,
    "+31 days": 31 * DAY,
    "+1 year": 365 * DAY,
    "-1 year": -365 * DAY,
    "a second twice": -SECOND,
    "a second left out": SECOND,
}
RIGHT = MINUTE  # within which the program believes a wall clock
BELIEVED_AFTER = 11 * MINUTE
OFTEN = {"enabled": True, "firstAfterDays": 1, "everyDays": 1, "max": 10}


async def run(given: Sequence[str]) -> Figure:
    """Hold each step for 65 seconds, in which every tick runs, and then let one stay for good."""
    asked = arguments.read(given, seconds=65)
    bad: list[str] = []
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        clock = MovedClock(Path(folder) / "clock")
        async with install(Path(folder)) as served:
            served.command = clock.command
            await served.start()
            await add_webhook(served)
            async with a_session() as session:
                api = Api(session, served.base, served.key)
                documents = await send_documents(api)
                for name, ahead in STEPS.items():
                    bad += [
                        f"{name}: {fault}"
                        for fault in await step(served, clock, api, documents, ahead, asked["seconds"])
                    ]
                bad += await step_for_good(served, clock, api, documents)
            code = await served.stop()
            bad += [f"the server ended with {code}"] if code else []
            bad += find_faults(served.database) + find_disorder(served.database)
            bad += ["the log holds a traceback"] if "Traceback" in served.log else []
    for line in bad[:20]:
        print(line)
    measured = (
        f"{len(STEPS)} steps of {asked['seconds']} s, a document signed and sealed in each; a step of two days that"
        f" stayed was believed, one document expired and one was reminded of once; {len(bad)} findings"
    )
    return Figure("T15", TARGET, measured, not bad, len(bad), arguments.write("clock_steps", asked))


async def send_documents(api: Api) -> dict[str, str]:
    """Return the ids of documents that time does something to."""
    return {
        "expiring": await api.send_document(expiresInDays=1, reminders={"enabled": False}),
        "reminded": await api.send_document(expiresInDays=365, reminders=OFTEN),
    }


async def step(
    served: Served, clock: MovedClock, api: Api, documents: dict[str, str], ahead: Millis, seconds: float
) -> list[str]:
    """Set the wall clock ahead (or back) for so many seconds, sign meanwhile, set it right; return what is wrong."""
    came = len(served.receiver.came)
    clock.set_wall(ahead)
    began = time.perf_counter()
    bad = await sign_now(api, served)
    await asyncio.sleep(max(0.0, seconds - (time.perf_counter() - began)))
    bad += await find_ended(api, documents)
    clock.set_wall(0)

    async def is_certain() -> bool | None:
        return "clock" not in str(await read_warnings(served, api)) or None

    await until(is_certain, "certain time", 60)
    bad += await find_ended(api, documents)
    now = time.time()
    stamps = [int(delivered.headers["webhook-timestamp"]) for delivered in served.receiver.came[came:]]
    bad += [
        f"a webhook is stamped {stamp - now:.0f} s off"
        for stamp in stamps
        if abs(stamp - now) > 2 * seconds + 60
    ]
    return bad if stamps else [*bad, "no webhook came"]


async def sign_now(api: Api, served: Served) -> list[str]:
    """Create, send and sign a document and wait for its seal; return what is wrong with its stamps."""
    before: Instant = round(time.time() * 1000)
    document = await api.send_document(recipients=[{"name": "Bea", "email": "bea@example.test"}])
    [recipient] = (await api.get(document))["recipients"]
    path = f"/documents/{document}/recipients/{recipient['id']}/link"
    await Person(api.session, str((await api.ok("POST", path))["url"])).sign()

    async def is_sealed() -> bool | None:
        return await api.status(document) == "completed" or None

    await until(is_sealed, "seal", 120)
    told, now = await api.get(document), round(time.time() * 1000)
    return [
        f"{name} is {told[name]}"
        for name in ("createdAt", "completedAt")
        if not before - RIGHT <= parse(told[name]) <= now + RIGHT
    ]


async def find_ended(api: Api, documents: dict[str, str]) -> list[str]:
    """Return a line for each document that time has done something to."""
    bad = []
    for name, id in documents.items():
        told = await api.get(id)
        if told["status"] != "sent" or told["recipients"][0]["remindersSent"]:
            bad.append(f"{name}: {told['status']}, {told['recipients'][0]['remindersSent']} reminders")
    return bad


async def read_warnings(served: Served, api: Api) -> list[str]:
    """Return what /readyz warns of."""
    async with api.session.get(f"{served.base}/readyz") as answer:
        return list((await answer.json()).get("warnings", []))


async def step_for_good(served: Served, clock: MovedClock, api: Api, documents: dict[str, str]) -> list[str]:
    """Set the wall clock two days ahead and let time pass until it is believed; return what is wrong."""
    clock.set_wall(2 * DAY)

    async def is_in_doubt() -> bool | None:
        return "jumped" in str(await read_warnings(served, api)) or None

    await until(is_in_doubt, "doubt about the time", 60)
    clock.pass_time(BELIEVED_AFTER)

    async def is_done() -> bool | None:
        expired = await api.status(documents["expiring"]) == "expired"
        [recipient] = (await api.get(documents["reminded"]))["recipients"]
        return (expired and recipient["remindersSent"] > 0) or None

    await until(is_done, "expiry and reminder", 180)
    trail = await api.trail(documents["reminded"])
    count = trail.count("recipient.reminded")
    return [] if count == 1 else [f"{count} reminders at once"]


def find_disorder(path: Path) -> list[str]:
    """Return a line for each document whose events are stamped earlier than those before them."""
    with closing(open_to_read(path)) as connection:
        rows = connection.execute(
            "SELECT document_id, created_at FROM event WHERE document_id IS NOT NULL ORDER BY document_id, sequence"
        ).fetchall()
    return [
        f"{document} has an event {earlier - later} ms before the one before it"
        for (document, earlier), (same, later) in pairwise(rows)
        if document == same and later < earlier - 2 * SECOND
    ]
