"""T27: no authority gives a time stamp for 30 days, by a clock of the tests: each seal waits, and is made later."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from esign.core.instant import MINUTE
from esign.jobs import retry_one_seal
from esign.store.engine.connections import FILE
from esign.store.queue import set_aside
from tests.fakes import FakeClock
from tests.journeys.test_timestamps import DOWN, run_with_authority, sign_documents
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults
from tests.tsa import granting

TARGET = "never given up, never completed without a file; 0 lost; one probe (two requests) each look; healed ≤ 60 s"
DAY_MINUTES = 24 * 60
HEALED_SECONDS = 60
PER_PROBE = 2  # the sealed file and its certificate are stamped at once


async def run(given: Sequence[str]) -> Figure:
    """Let 20 seals wait for 30 days; the clock goes on by `hours` at a time, in the first hour by a minute."""
    asked = arguments.read(given, days=30, documents=20, hours=1)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        requests, looks, attempts, seconds, bad = await wait_for_stamps(
            Path(folder), asked["days"], asked["documents"], asked["hours"]
        )
        bad += find_faults(Path(folder) / FILE)
    for line in bad[:20]:
        print(line)
    measured = (
        f"{asked['documents']} documents without a time stamp for {asked['days']} days of the clock, looked at"
        f" {looks} times: {attempts} attempts, {requests} requests to the authority; all sealed {seconds} s after it"
        f" answered again, {len(bad)} findings"
    )
    held = not bad and requests <= PER_PROBE * looks and seconds <= HEALED_SECONDS
    return Figure("T27", TARGET, measured, held, len(bad), arguments.write("seal_outages", asked))


async def wait_for_stamps(
    folder: Path, days: int, count: int, hours: int
) -> tuple[int, int, int, int, list[str]]:
    """Return the requests during the outage, the looks, the attempts, the seconds to heal, and findings."""
    clock, bad, looks, attempts = FakeClock(), list[str](), 0, 0
    async with run_with_authority(folder, clock) as (site, tsa):
        tsa.how = DOWN
        documents = await sign_documents(site, count)
        end = clock.now() + days * DAY_MINUTES * MINUTE
        while True:
            await retry_one_seal.tick(site.runtime)
            attempts += await site.work("seal")
            looks += 1
            if clock.now() >= end:
                break
            clock.advance(minutes=1 if looks < 60 else 60 * hours)
        requests = tsa.asked
        states = [await site.api.status(document) for document in documents]
        if states != ["sealing"] * count:
            bad.append(f"after {days} days the documents are {sorted(set(states))}")
        if aside := await set_aside.count(site.runtime.db):
            bad.append(f"set aside: {aside}")
        tsa.how = granting()
        seconds = 0
        while seconds <= 2 * HEALED_SECONDS:
            seconds += 5
            clock.advance(seconds=5)
            if not seconds % 60:
                await retry_one_seal.tick(site.runtime)
            await site.work("seal")
            states = [await site.api.status(document) for document in documents]
            if states == ["completed"] * count:
                break
        else:
            bad.append(f"{states.count('sealing')} documents are not sealed")
    return requests, looks, attempts, seconds, bad
