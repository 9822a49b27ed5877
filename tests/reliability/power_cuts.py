"""T2: the power fails at any moment of a load; what was answered before is found afterwards.

strace records every write, sync and answer of the server. From the record follow the files that a power cut at a chosen
moment can leave: without all that was not synced, with a random part of it, with the last write torn. Each is opened,
read and checked as `esign doctor --data` does. The same load by a server with `synchronous = NORMAL` must lose answers
here: otherwise the test would not notice a missing sync.
"""

import asyncio
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from esign.actions.server.data_checks import HARMLESS, inspect_data
from esign.store.engine.connections import FILE, open_for_command
from esign.store.server import installation
from esign.system.app_key import KeySource, open_vault
from esign.system.clock import SystemClock
from esign.system.vault import Vault
from tests.journeys.program import COMMAND
from tests.reliability import arguments
from tests.reliability.crowd import Acknowledgement, Crowd
from tests.reliability.disk_trace import VARIANTS, Disk, DiskOperation, make_prefix, read_trace
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, find_losses
from tests.reliability.served import add_webhook, find_family, install

TARGET = "0 acknowledged lost, 0 damaged; the same with NORMAL loses some"
FILES = (FILE, f"{FILE}-wal")
WEAK = (sys.executable, "-m", "tests.reliability.serve_normal")


async def run(given: Sequence[str]) -> Figure:
    """Cut the power at 500 moments of 1,000 operations, three ways each; then once more with NORMAL."""
    asked = arguments.read(given, cuts=500, operations=1000, seed=1)
    found = []
    for command in (COMMAND, WEAK):
        with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
            entries, operations, base = await record_load(
                Path(folder), command, asked["operations"], asked["seed"]
            )
            cuts = await cut_power(Path(folder), base, operations, entries, asked["cuts"], asked["seed"])
            found.append((len(entries), *cuts))
    (acknowledged, states, lost, bad), (_, weak_states, weak_lost, _) = found
    for line in bad[:20]:
        print(line)
    measured = (
        f"{states} states after power cuts among {acknowledged} acknowledged operations: {lost} with a loss, {len(bad)}"
        f" findings; with NORMAL {weak_lost} of {weak_states} states lost something"
    )
    held = not lost and not bad and weak_lost > 0
    return Figure(
        "T2", TARGET, measured, held, len(bad) + (weak_lost == 0), arguments.write("power_cuts", asked)
    )


async def record_load(
    folder: Path, command: Sequence[str], operations: int, seed: int
) -> tuple[list[Acknowledgement], list[DiskOperation], Path]:
    """Return what was acknowledged, what the disk was told, and the data as they were before."""
    trace, base = folder / "trace", folder / "base"
    async with install(folder) as served:
        await served.start()
        await add_webhook(served)
        assert await served.stop() == 0
        shutil.copytree(served.folder / "data", base)
        served.prefix, served.command = make_prefix(trace), command
        await served.start(120)
        crowd = Crowd(served, seed)
        working = asyncio.create_task(crowd.work())
        while len(crowd.ledger.entries) < operations and not working.done():  # noqa: ASYNC110  counted by tasks
            await asyncio.sleep(0.05)
        assert served.process is not None
        _, *traced = find_family(served.process.pid)
        for pid in traced:  # strace ends with what it follows, and writes all it knows
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await served.process.wait()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        assert not crowd.ledger.strange, crowd.ledger.strange[:3]
        steps = await asyncio.to_thread(lambda: list(read_trace(trace, served.folder / "data")))
    answered = {operation.data.decode() for operation in steps if operation.kind == "answer"}
    missing = [entry for entry in crowd.ledger.entries if entry.request_id not in answered]
    assert crowd.ledger.entries, "nothing was acknowledged"
    assert not missing, f"{len(missing)} answers are not in the trace, such as {missing[:2]}"
    return crowd.ledger.entries, steps, base


async def cut_power(
    folder: Path,
    base: Path,
    operations: Sequence[DiskOperation],
    entries: Sequence[Acknowledgement],
    cuts: int,
    seed: int,
) -> tuple[int, int, list[str]]:
    """Return how many states were opened, in how many something was lost, and all findings."""
    chance = random.Random(seed)
    first = next(n for n, operation in enumerate(operations) if operation.kind == "answer")
    moments = sorted(chance.sample(range(first, len(operations)), min(cuts, len(operations) - first)))
    vault = open_vault(KeySource(base / FILE))
    disk, states, lossy = Disk(base, FILES), 0, 0
    findings: list[str] = []
    at = 0
    for moment in moments:
        while at <= moment:
            disk.play(operations[at])
            at += 1
        known = [entry for entry in entries if entry.request_id in disk.answered]
        for variant in VARIANTS:
            state = folder / "cut"
            await asyncio.to_thread(disk.leave, state, variant, chance)
            losses, faults = await judge(state, known, vault)
            states, lossy = states + 1, lossy + bool(losses)
            findings += [f"{variant} at {moment}: {line}" for line in (*losses, *faults)]
            shutil.rmtree(state)
    return states, lossy, findings


async def judge(data: Path, known: Sequence[Acknowledgement], vault: Vault) -> tuple[list[str], list[str]]:
    """Return what is lost and what is damaged in a data folder, opened as the program opens it.

    The vault has the key of the installation: without it, neither the ends of trails nor secrets are checked.
    """
    try:
        async with open_for_command(data / FILE) as db:  # brings the log into the file
            vault = await installation.confirm_key(db, vault)
        found = await asyncio.to_thread(inspect_data, data, vault, SystemClock().now())
        damage = [f"{fault.check.value}: {fault}" for fault in found.faults if fault.check not in HARMLESS]
        damage += [found.unread] if found.unread else []
        losses = find_losses(data / FILE, known)
        faults = find_faults(data / FILE)
    except Exception as error:
        return [], [f"it cannot be opened: {error!r}"]
    return losses, damage + faults
