"""T30: a server works for an hour; memory, open files, threads and the log of the database stay what they were."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.installation import resident
from tests.reliability import arguments
from tests.reliability.crowd import Crowd
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, find_losses
from tests.reliability.served import Served, add_webhook, install

TARGET = "memory, open files and threads flat; log of the database ≤ 64 MiB; 0 lost"
SAMPLES = 120
LOG_MIB = 64.0
GROWTH = 1.10  # of the last quarter against the second one
SLACK = {"memory in MiB": 8.0, "open files": 8.0, "threads": 2.0}


@dataclass(frozen=True)
class Sample:
    """What a server holds at one moment; sizes in MiB."""

    memory: float
    files: int
    threads: int
    log: float


async def run(given: Sequence[str]) -> Figure:
    """Use a server for an hour by four clients."""
    asked = arguments.read(given, seconds=3600, clients=4, seed=1)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder)) as served:
            await served.start()
            await add_webhook(served)
            crowd = Crowd(served, asked["seed"], asked["clients"])
            samples = await sample_while_working(served, crowd, asked["seconds"])
            code = await served.stop()
            bad = [
                *crowd.ledger.strange,
                *find_losses(served.database, crowd.ledger.entries),
                *find_faults(served.database),
                *([f"the server ended with {code}"] if code else []),
            ]
    for line in bad[:20]:
        print(line)
    trends = {
        "memory in MiB": compare([sample.memory for sample in samples]),
        "open files": compare([sample.files for sample in samples]),
        "threads": compare([sample.threads for sample in samples]),
    }
    log = max(sample.log for sample in samples)
    flat = all(late <= max(early * GROWTH, early + SLACK[name]) for name, (early, late) in trends.items())
    measured = (
        f"{asked['seconds']} s, {len(crowd.ledger.entries)} operations acknowledged, {len(bad)} findings; median of the"
        " second and of the last quarter: "
        + ", ".join(f"{name} {early:.0f} and {late:.0f}" for name, (early, late) in trends.items())
        + f"; log at most {log:.0f} MiB"
    )
    held = not bad and flat and log <= LOG_MIB
    return Figure("T30", TARGET, measured, held, len(bad), arguments.write("soak", asked))


async def sample_while_working(served: Served, crowd: Crowd, seconds: float) -> list[Sample]:
    """Return samples in equal distances while the crowd works."""
    assert served.process is not None
    working = asyncio.create_task(crowd.work())
    samples: list[Sample] = []
    end = time.perf_counter() + seconds
    try:
        while time.perf_counter() < end and not working.done():
            await asyncio.wait([working], timeout=seconds / SAMPLES)
            samples.append(take_sample(served.process.pid, served.database))
        crowd.ended.set()
        await working
    finally:
        working.cancel()
    return samples


def take_sample(pid: int, database: Path) -> Sample:
    """Return what the serving process holds now."""
    log = database.with_name(database.name + "-wal")
    return Sample(
        resident(pid),
        len(list(Path(f"/proc/{pid}/fd").iterdir())),
        len(list(Path(f"/proc/{pid}/task").iterdir())),
        log.stat().st_size / 2**20 if log.exists() else 0.0,
    )


def compare(values: Sequence[float]) -> tuple[float, float]:
    """Return the medians of the second and of the last quarter."""
    quarter = max(1, len(values) // 4)
    return statistics.median(values[quarter : 2 * quarter] or values), statistics.median(values[-quarter:])
