"""T1: the server and its workers are killed at random moments while clients use it; what was acknowledged stays."""

import asyncio
import random
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from esign.config import MailSettings
from tests.journeys.api import until
from tests.reliability import arguments
from tests.reliability.crowd import SEAL_SECONDS, Crowd
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, find_losses, open_to_read
from tests.reliability.served import Served, add_webhook, install

TARGET = (
    "0 lost, 0 doubled; ready ≤ 3 s; sealed ≤ 60 s after start; ≤ 1 repeated mail per kill and connection to the mail"
    " server"
)
READY_SECONDS = 3.0
OPERATIONS = 10_000
CONNECTIONS = MailSettings().connections  # on each, one mail may have been taken without our knowing


async def run(given: Sequence[str]) -> Figure:
    """Kill 200 times, up to `longest` ms after each start, and go on until 10,000 operations are acknowledged."""
    asked = arguments.read(given, kills=200, operations=OPERATIONS, seed=1, longest=4_000)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder)) as served:
            crowd, losses, faults = await kill_again_and_again(
                served, asked["kills"], asked["operations"], asked["seed"], asked["longest"] / 1_000
            )
            repeats = served.office.count_repeats()
            doubled = await find_undelivered(served)
    most, count = max(repeats.values(), default=0), sum(repeats.values())
    bad = [*losses, *faults, *crowd.ledger.strange, *doubled]
    for line in bad[:20]:
        print(line)
    ready = max(served.starts)
    measured = (
        f"{asked['kills']} kills, {len(crowd.ledger.entries)} operations acknowledged, {len(losses)} lost,"
        f" {len(faults) + len(doubled)} doubled or damaged, {len(crowd.ledger.strange)} strange answers; ready after"
        f" {statistics.median(served.starts):.1f} s, at most {ready:.1f} s; sealed at most"
        f" {crowd.ledger.slowest_seal:.1f} s after the last signature; {count} mails came again, at most {most} of one"
        " kill"
    )
    held = (
        not bad
        and ready <= READY_SECONDS
        and crowd.ledger.slowest_seal <= SEAL_SECONDS
        and most <= CONNECTIONS
    )
    return Figure("T1", TARGET, measured, held, len(bad), arguments.write("kills", asked))


async def kill_again_and_again(
    served: Served, kills: int, operations: int, seed: int, longest: float
) -> tuple[Crowd, list[str], list[str]]:
    """Return the crowd, what was lost and what is doubled or damaged, after a clean stop and both commands."""
    moments = random.Random(seed)
    losses: list[str] = []
    faults: list[str] = []
    await served.start()
    await add_webhook(served)
    crowd = Crowd(served, seed)
    working = asyncio.create_task(crowd.work())
    try:
        for _ in range(kills):
            await asyncio.wait([working], timeout=moments.uniform(0.2, longest))
            if working.done():
                break
            entries = list(crowd.ledger.entries)
            await served.kill()
            served.office.life += 1
            await served.start()
            losses += await asyncio.to_thread(find_losses, served.database, entries)
            faults += await asyncio.to_thread(find_faults, served.database)
        while not working.done() and len(crowd.ledger.entries) < operations:  # noqa: ASYNC110  counted by tasks
            await asyncio.sleep(0.1)
        crowd.ended.set()
        await working
    finally:
        working.cancel()
    await until(lambda: nothing_waits(served.database), "end of all deliveries", 300)
    if await served.stop():
        faults.append(f"the server ended with {served.process.returncode if served.process else None}")
    losses += await asyncio.to_thread(find_losses, served.database, crowd.ledger.entries)
    faults += await asyncio.to_thread(find_faults, served.database)
    await served.run_command("check")
    await served.run_command("verify-audit")
    if "Traceback" in served.log:
        faults.append("the log holds a traceback")
    if "set aside" in served.log:
        faults.append("something is set aside, although it did not end the server")
    return crowd, sorted(set(losses)), sorted(set(faults))


async def nothing_waits(path: Path) -> bool | None:
    """Return True when neither a job nor a delivery waits, else None."""
    with closing(open_to_read(path)) as connection:
        [(jobs,)] = connection.execute("SELECT count(*) FROM outbox WHERE state = 'pending'")
        [(left,)] = connection.execute("SELECT count(*) FROM delivery WHERE status = 'pending'")
    return jobs + left == 0 or None


async def find_undelivered(served: Served) -> list[str]:
    """Return a line for each event that never arrived, or arrived with other bytes than are stored."""
    with closing(open_to_read(served.database)) as connection:
        stored = dict(connection.execute("SELECT id, body FROM event WHERE type <> 'audit.recorded'"))
    came = {delivered.id for delivered in served.receiver.came}
    lines = [f"event {id} never arrived" for id in stored.keys() - came]
    return lines + [
        f"event {delivered.id} arrived with other bytes"
        for delivered in served.receiver.came
        if stored.get(delivered.id) != delivered.body
    ]
