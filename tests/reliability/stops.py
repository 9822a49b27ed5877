"""T31: the server is asked to stop again and again under load: it ends in time with 0, and repeats nothing."""

import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.reliability import arguments
from tests.reliability.crowd import Crowd
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, find_losses
from tests.reliability.served import Served, add_webhook, install

TARGET = "exit 0 ≤ 15 s; 0 lost; no mail or webhook repeated"
STOP_SECONDS = 15.0


async def run(given: Sequence[str]) -> Figure:
    """Send SIGTERM 200 times."""
    asked = arguments.read(given, stops=200, seed=1)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder)) as served:
            crowd, seconds, bad = await stop_again_and_again(served, asked["stops"], asked["seed"])
            mails = sum(served.office.count_repeats().values())
            came = Counter(delivered.id for delivered in served.receiver.came)
            events = sum(count - 1 for count in came.values())
    for line in bad[:20]:
        print(line)
    measured = (
        f"{asked['stops']} stops, the slowest after {max(seconds):.1f} s; {len(crowd.ledger.entries)} operations"
        f" acknowledged, {len(bad)} findings; {mails} mails and {events} webhooks repeated"
    )
    held = not bad and not mails and not events and max(seconds) <= STOP_SECONDS
    return Figure("T31", TARGET, measured, held, len(bad), arguments.write("stops", asked))


async def stop_again_and_again(served: Served, stops: int, seed: int) -> tuple[Crowd, list[float], list[str]]:
    """Return the crowd, the seconds that each stop took, and what is wrong."""
    moments = random.Random(seed)
    seconds: list[float] = []
    bad: list[str] = []
    await served.start()
    await add_webhook(served)
    crowd = Crowd(served, seed)
    working = asyncio.create_task(crowd.work())
    try:
        for _ in range(stops):
            await asyncio.wait([working], timeout=moments.uniform(0.2, 3.0))
            if working.done():
                break
            began = time.perf_counter()
            code = await served.stop()
            seconds.append(time.perf_counter() - began)
            bad += [f"the server ended with {code}"] if code else []
            served.office.life += 1
            entries = list(crowd.ledger.entries)
            await served.start()
            bad += await asyncio.to_thread(find_losses, served.database, entries)
        crowd.ended.set()
        await working
    finally:
        working.cancel()
    await served.stop()
    bad += find_losses(served.database, crowd.ledger.entries)
    bad += [*find_faults(served.database), *crowd.ledger.strange]
    if "Traceback" in served.log:
        bad.append("the log holds a traceback")
    return crowd, seconds, sorted(set(bad))
