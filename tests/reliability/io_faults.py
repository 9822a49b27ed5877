"""T3: the disk refuses a call at the n-th time; the server ends with 70 or answers 503, and loses nothing it answered.

strace makes the call fail where it concerns the database or its log. A short write, with an error behind it, comes from
a limit of the size of files that is set while the server runs: strace can lie about a length, but not write so much.
"""

import asyncio
import os
import random
import resource
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from esign.cli.exit_codes import STORAGE
from esign.system.app_key import KeySource, open_vault
from tests.reliability import arguments
from tests.reliability.crowd import Crowd
from tests.reliability.figures import Figure
from tests.reliability.power_cuts import judge
from tests.reliability.served import Served, add_webhook, find_family, install

TARGET = "exit 70 or 503; 0 acknowledged and then lost"
SHORT = "short write"
INJECTIONS = (
    "fdatasync:error=EIO",
    "fdatasync:error=ENOSPC",
    "pwrite64:error=EIO",
    "pwrite64:error=ENOSPC",
    "ftruncate:error=EIO",
    SHORT,
)
SECONDS = 8.0  # of load in which the fault is met
FEWEST = set(INJECTIONS) - {"ftruncate:error=EIO"}  # a log is truncated only when it is large
STOPPING_SECONDS = 20.0  # an orderly end of the server lasts at most so long
RUNS = 300


@dataclass(frozen=True)
class FaultRun:
    """What became of one server: the fault, whether it was met, how it ended and what is wrong."""

    fault: str
    met: bool
    ended: str
    wrong: tuple[str, ...]


async def run(given: Sequence[str]) -> Figure:
    """Let 300 servers meet a fault each, every kind at the 1st to 50th call."""
    asked = arguments.read(given, runs=RUNS, seed=1)
    chance = random.Random(asked["seed"])
    runs: list[FaultRun] = []
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder)) as served:
            await served.start()
            await add_webhook(served)
            assert await served.stop() == 0
            shutil.copytree(served.folder / "data", served.folder / "base")
            for number in range(asked["runs"]):
                fault = INJECTIONS[number % len(INJECTIONS)]
                nth = 1 + (number // len(INJECTIONS)) % 50
                runs.append(await meet_fault(served, fault, nth, chance.randrange(1, 4096), number))
    return describe(runs, arguments.write("io_faults", asked))


def describe(runs: Sequence[FaultRun], command: str) -> Figure:
    """Return the figure of all runs."""
    wrong = [f"{each.fault}: {line}" for each in runs for line in each.wrong]
    for line in wrong[:20]:
        print(line)
    met = Counter(each.fault for each in runs if each.met)
    ends = Counter(each.ended for each in runs if each.met)
    measured = (
        f"{len(runs)} runs, {sum(met.values())} met the fault"
        f" ({', '.join(f'{count} {name}' for name, count in met.items())}); they"
        f" {', '.join(f'{how}: {count}' for how, count in ends.items())}; {len(wrong)} findings"
    )
    return Figure("T3", TARGET, measured, not wrong and set(met) >= FEWEST, len(wrong), command)


async def meet_fault(served: Served, fault: str, nth: int, odd: int, number: int) -> FaultRun:
    """Start a server on fresh data, let it meet the fault under load, and judge what it left."""
    data, record = served.folder / "data", served.folder / "injected"
    shutil.rmtree(data)
    shutil.copytree(served.folder / "base", data)
    record.unlink(missing_ok=True)
    (served.folder / "server.log").write_text("")
    served.prefix = ()
    await served.start()
    process = served.process
    assert process is not None
    crowd = Crowd(served, number, 4, f"run{number}x")
    working = asyncio.create_task(crowd.work())
    tracer: asyncio.subprocess.Process | None = None
    try:
        if fault == SHORT:
            await asyncio.sleep(0.02 * nth)
            limit_files(process.pid, served.database, odd)
        else:
            tracer = await asyncio.create_subprocess_exec(
                *("strace", "-f", "-qq", "-o", str(record), "-P", str(served.database)),
                *("-P", f"{served.database}-wal", "-e", f"trace={fault.partition(':')[0]}"),
                *("-e", f"inject={fault}:when={nth}", "-p", str(process.pid)),
            )
        ending = asyncio.create_task(process.wait())
        await asyncio.wait([ending, working], timeout=SECONDS)
        if has_met(fault, record, process, crowd):
            await asyncio.wait([ending], timeout=STOPPING_SECONDS if fault.endswith("EIO") else 1)
        code = process.returncode
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        await end(served, tracer)
    return await judge_run(served, crowd, fault, has_met(fault, record, process, crowd), code)


def has_met(fault: str, record: Path, process: asyncio.subprocess.Process, crowd: Crowd) -> bool:
    """Return whether the server has met its fault: strace says so, or what it did shows it."""
    if fault == SHORT:
        return process.returncode == STORAGE or crowd.ledger.refused > 0
    return record.exists() and "INJECTED" in record.read_text("ascii", errors="replace")


async def judge_run(served: Served, crowd: Crowd, fault: str, met: bool, code: int | None) -> FaultRun:
    """Return what is wrong with how a server ended, with its answers, and with its data, read as after a restart."""
    wrong = [*crowd.ledger.strange]
    if code not in (None, STORAGE):
        wrong.append(f"the server ended with {code}")
    if code == STORAGE and not met:
        wrong.append("the server ended with 70 without a fault")
    if met and code is None and fault.endswith("EIO") and not fault.startswith("ftruncate"):
        wrong.append("the server goes on after an error of the disk")
    if "Traceback" in served.log:
        wrong.append(f"the log holds a traceback: {served.log[-500:]}")
    vault = open_vault(KeySource(served.database))
    losses, faults = await judge(served.database.parent, crowd.ledger.entries, vault)
    ended = "ended with 70" if code == STORAGE else "answered 503" if crowd.ledger.refused else "went on"
    return FaultRun(fault, met, ended, (*wrong, *(f"lost: {line}" for line in losses), *faults))


async def end(served: Served, tracer: asyncio.subprocess.Process | None) -> None:
    """End the server by SIGKILL, with its tracer."""
    assert served.process is not None
    served.mark_down()
    for pid in find_family(served.process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    await served.process.wait()
    if tracer is not None:
        async with asyncio.timeout(20):
            await tracer.wait()


def limit_files(pid: int, database: Path, odd: int) -> None:
    """Let the server write its log a little further, to the middle of a page, and no more."""
    with suppress(ProcessLookupError):
        size = database.with_name(database.name + "-wal").stat().st_size
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (max(size, database.stat().st_size) + odd, -1))
