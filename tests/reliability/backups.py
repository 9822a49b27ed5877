"""T28: online backups while clients write, whole ones and increments; each is restored and checked by doctor."""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from esign.store.engine.connections import FILE
from tests.journeys.api import Api, a_session
from tests.journeys.program import meanwhile
from tests.reliability import arguments
from tests.reliability.crowd import Acknowledgement, Crowd
from tests.reliability.figures import Figure
from tests.reliability.kept import find_losses
from tests.reliability.served import Served, install

TARGET = "each restored, whole and with all that was acknowledged before it; writers' p99 +≤ 50 ms"
MOST_ADDED = 0.05  # seconds
ALONE = 15.0  # seconds of writing without a backup
PASSPHRASE = "correct horse battery staple"


async def run(given: Sequence[str]) -> Figure:
    """Back up 50 times under load."""
    asked = arguments.read(given, backups=50, clients=2, seed=1)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as name:
        folder = Path(name)
        async with install(folder) as served:
            alone, beside, kinds, bad = await back_up_again_and_again(
                served, asked["backups"], asked["clients"], asked["seed"]
            )
    for line in bad[:20]:
        print(line)
    before, during = find_p99(alone), find_p99(beside)
    measured = (
        f"{asked['backups']} backups, {kinds} of them increments, each restored and checked, {len(bad)} findings; p99"
        f" of {len(alone)} writes without a backup {before * 1000:.0f} ms, of {len(beside)} beside one"
        f" {during * 1000:.0f} ms"
    )
    held = not bad and during - before <= MOST_ADDED
    return Figure("T28", TARGET, measured, held, len(bad), arguments.write("backups", asked))


def find_p99(durations: Sequence[float]) -> float:
    """Return the duration, in seconds, that 99 of 100 do not exceed."""
    return sorted(durations)[int(len(durations) * 0.99)] if durations else 0.0


async def back_up_again_and_again(
    served: Served, backups: int, clients: int, seed: int
) -> tuple[list[float], list[float], int, list[str]]:
    """Return the durations of writes without and beside a backup, the number of increments, and what is wrong."""
    target = served.folder / "target"
    target.mkdir()

    settings = (
        f'\n[backup]\nto = "{target}"\npassphrase = "{PASSPHRASE}"\nfull_every_hours = 720\nkeep = 10000\n'
    )
    served.config.write_text(served.config.read_text("utf-8") + settings, "utf-8")
    durations: list[float] = []
    alone: list[float] = []
    beside: list[float] = []
    bad: list[str] = []
    await served.start()
    crowd = Crowd(served, seed, clients)
    working = [asyncio.create_task(crowd.work()), asyncio.create_task(write_on(served, durations))]
    try:
        await wait_for_first(target)
        durations.clear()
        await asyncio.sleep(ALONE)
        alone += durations
        for number in range(backups):
            durations.clear()
            entries, there = list(crowd.ledger.entries), list_files(target)
            ran = await meanwhile("backup", "--config", served.config, seconds=600)
            beside += durations
            made = list_files(target) - there
            if ran.code or len(made) != 1:
                bad.append(f"backup {number} ended with {ran.code}: {ran.err[-300:]}")
                continue
            bad += await restore(served, made.pop(), served.folder / f"back{number}", entries)
    finally:
        crowd.ended.set()
        working[1].cancel()
        await asyncio.gather(*working, return_exceptions=True)
    bad += crowd.ledger.strange
    if code := await served.stop():
        bad.append(f"the server ended with {code}")
    return alone, beside, sum(path.suffix == ".increment" for path in list_files(target)), bad


def list_files(folder: Path) -> set[Path]:
    """Return the files of a folder."""
    return {*folder.iterdir()}


async def wait_for_first(target: Path) -> None:
    """Return when the server itself has made a backup."""
    async with asyncio.timeout(120):
        while not any(path.suffix == ".backup" for path in list_files(target)):  # noqa: ASYNC110  another process
            await asyncio.sleep(0.2)


async def write_on(served: Served, durations: list[float]) -> None:
    """Create one draft after the other until cancelled, and note how long each took."""
    async with a_session() as session:
        api = Api(session, served.base, served.key)
        while True:
            began = time.perf_counter()
            await api.create()
            durations.append(time.perf_counter() - began)
            await asyncio.sleep(0.02)


async def restore(served: Served, file: Path, back: Path, entries: Sequence[Acknowledgement]) -> list[str]:
    """Return what is wrong with a backup that was restored: what doctor finds, and what it lacks."""
    restored = await meanwhile("restore", file, "--data-dir", back, "--config", served.config, seconds=600)
    if restored.code:
        return [f"{file.name} cannot be restored: {restored.err[-300:]}"]
    checked = await meanwhile(
        "doctor",
        "--data",
        "--config",
        served.config,
        env={"ESIGN_STORAGE__DATA_DIR": str(back)},
        seconds=600,
    )
    lost = await asyncio.to_thread(find_losses, back / FILE, entries)
    found = [f"{file.name}: doctor: {checked.out[-500:]}"] if checked.code else []
    await asyncio.to_thread(shutil.rmtree, back)
    return found + [f"{file.name}: {line}" for line in lost]
