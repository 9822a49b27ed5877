"""T26: PDF workers and background loops end again and again; the server stays up and nothing is lost."""

import asyncio
import contextlib
import os
import random
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from esign.jobs import worker
from esign.pdf.worker.queue_turn import QueueTurn
from esign.runtime import Runtime
from esign.store.queue import set_aside
from tests.fakes import FakeClock
from tests.journeys.site import a_site
from tests.journeys.test_supervision import DyingPdf
from tests.reliability import arguments
from tests.reliability.crowd import Crowd
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, find_losses
from tests.reliability.served import Served, add_webhook, find_family, install

TARGET = (
    "the server stays up, 0 lost; each loop goes on ≤ 1 s; what ends its worker is set aside after 3 times"
)
SEAL_SECONDS = 400.0  # a seal that was killed twice waits for one minute and then for five
RESTART_SECONDS = 1.0


async def run(given: Sequence[str]) -> Figure:
    """Kill 50 PDF workers under load, and end each background loop 50 times."""
    asked = arguments.read(given, kills=50, rounds=50, seed=1)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder)) as served:
            crowd, killed, bad = await kill_workers(served, asked["kills"], asked["seed"])
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        loops, waits = await end_loops(Path(folder), asked["rounds"])
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        attempts, findings = await try_a_seal_that_ends_its_worker(Path(folder))
    bad += findings
    for line in bad[:20]:
        print(line)
    measured = (
        f"{killed} PDF workers killed under load: {len(crowd.ledger.entries)} operations acknowledged, sealed at most"
        f" {crowd.ledger.slowest_seal:.1f} s after the last signature; {loops} loops ended {len(waits)} times: each"
        f" went on, at most {max(waits):.2f} s later; a seal that ends its worker was tried {attempts} times, and"
        f" another document was sealed meanwhile; {len(bad)} findings"
    )
    held = not bad and max(waits) <= RESTART_SECONDS and attempts == set_aside.MOST
    return Figure("T26", TARGET, measured, held, len(bad), arguments.write("workers", asked))


async def kill_workers(served: Served, kills: int, seed: int) -> tuple[Crowd, int, list[str]]:
    """Return the crowd, how many workers were killed, and what is wrong afterwards."""
    moments, killed = random.Random(seed), 0
    await served.start()
    await add_webhook(served)
    assert served.process is not None
    process, crowd = served.process, Crowd(served, seed, 4, seal_seconds=SEAL_SECONDS)
    working = asyncio.create_task(crowd.work())
    try:
        while killed < kills and not working.done() and process.returncode is None:
            await asyncio.wait([working], timeout=moments.uniform(0.2, 1.5))
            children = find_family(process.pid)[1:]
            if children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(moments.choice(children), signal.SIGKILL)
                    killed += 1
        crowd.ended.set()
        await working
    finally:
        working.cancel()
    bad = list(crowd.ledger.strange)
    if (code := await served.stop()) != 0:
        bad.append(f"the server ended with {code}")
    bad += [*find_losses(served.database, crowd.ledger.entries), *find_faults(served.database)]
    if "set aside" in served.log:
        bad.append("something is set aside, although its worker was killed from outside")
    await served.run_command("check")
    return crowd, killed, bad


async def end_loops(folder: Path, rounds: int) -> tuple[int, list[float]]:
    """Return how many loops there are, and the seconds until each went on after each forced end."""
    waits: list[float] = []
    async with a_site(folder / "data", working=True) as site:
        beats = site.runtime.loops.beats
        for _ in range(rounds):
            before = {name: beat.task for name, beat in beats.items() if beat.task is not None}
            began = time.perf_counter()
            for task in before.values():
                task.cancel()
            left = set(before)
            while left:
                assert time.perf_counter() - began < 60, left
                await asyncio.sleep(0.005)
                ended = {name for name in left if beats[name].task is not before[name]}
                waits += [time.perf_counter() - began] * len(ended)
                left -= ended
            document = await site.api.send_document()  # the writer writes
            assert await site.api.status(document) == "sent"
        return len(waits) // rounds, waits


class OneDyingPdf(DyingPdf):
    """PDF workers of which one is ended by each seal of one document."""

    def __init__(self, workers: Any, document: str) -> None:
        super().__init__(workers)
        self._document = document

    async def seal(self, *given: Any) -> Any:
        if any(isinstance(each, QueueTurn) and each.source == self._document for each in given):
            return await super().seal(*given)
        return await self._workers.seal(*given)


async def try_a_seal_that_ends_its_worker(folder: Path) -> tuple[int, list[str]]:
    """Return how often it was tried within days, and what is wrong."""
    clock, bad = FakeClock(), list[str]()
    async with a_site(folder / "data", clock) as site:
        poison = await site.api.send_document()
        await site.all_sign(poison)
        dying = OneDyingPdf(site.runtime.pdf, poison)
        runtime: Runtime = replace(site.runtime, pdf=cast(Any, dying))
        await worker.drain_jobs(runtime, "seal")
        other = await site.api.send_document()
        await site.all_sign(other)
        await worker.drain_jobs(runtime, "seal")
        if await site.api.status(other) != "completed":
            bad.append("another document waits for its seal")
        for _ in range(10):
            clock.advance(days=1)
            await worker.drain_jobs(runtime, "seal")
        if await set_aside.count(site.runtime.db) != {"seal": 1}:
            bad.append("the seal is not set aside")
        await site.api.ok("POST", f"/documents/{poison}/retry-seal", {})
        await site.work("seal")
        if await site.api.status(poison) != "completed":
            bad.append("the seal was not made after it was asked for again")
        return dying.asked, bad
