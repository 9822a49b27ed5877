"""The exchange of the application key is killed at random moments beside a working server, and sometimes both are."""

import asyncio
import os
import random
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from esign.actions.server.data_checks import HARMLESS, inspect_data
from esign.store.engine.connections import FILE, open_for_command
from esign.store.server import installation, key_exchange
from esign.store.server.key_exchange import STORED, ExchangeCount
from esign.system.app_key import KeySource, open_vault
from esign.system.clock import SystemClock
from tests.journeys.program import COMMAND, environment
from tests.reliability import arguments
from tests.reliability.crowd import Crowd
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, find_losses
from tests.reliability.served import Served, add_webhook, install

TARGET = "each start and the exchange go on; 0 lost; one key; nothing unreadable"
MOST_SECONDS = 14.0  # an exchange beside a server takes about that
CLIENTS = 2


async def run(given: Sequence[str]) -> Figure:
    """Kill `esign keys rotate-app` 20 times, in every third case with the server; then let one end."""
    asked = arguments.read(given, kills=20, seed=1)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder)) as served:
            crowd, killed, bad = await kill_exchanges(served, asked["kills"], asked["seed"])
            tried = await judge(served, bad)
    for line in bad[:20]:
        print(line)
    measured = (
        f"{killed} exchanges killed and {asked['kills'] - killed} that ended before, {len(crowd.ledger.entries)}"
        f" operations acknowledged meanwhile; after the last one {tried} stored secrets tried with the key in the file"
        f" alone; {len(bad)} findings"
    )
    return Figure("T32", TARGET, measured, not bad, len(bad), arguments.write("exchange_kills", asked))


async def kill_exchanges(served: Served, kills: int, seed: int) -> tuple[Crowd, int, list[str]]:
    """Return the crowd, how many exchanges were killed, and what is wrong after one that was let end."""
    chance = random.Random(seed)
    bad: list[str] = []
    killed = 0
    await served.start()
    await add_webhook(served)
    crowd = Crowd(served, seed, CLIENTS)
    working = asyncio.create_task(crowd.work())
    try:
        for number in range(kills):
            killed += await run_exchange(served, chance.uniform(0.5, MOST_SECONDS)) != 0
            if number % 3 == 0:
                entries = list(crowd.ledger.entries)
                await served.kill()
                served.office.life += 1
                await served.start()
                bad += await asyncio.to_thread(find_losses, served.database, entries)
            if working.done():
                break
        if (code := await run_exchange(served, None)) != 0:
            bad.append(f"the exchange ended with {code}")
        crowd.ended.set()
        await working
    finally:
        working.cancel()
    if (code := await served.stop()) != 0:
        bad.append(f"the server ended with {code}")
    bad += [*find_losses(served.database, crowd.ledger.entries), *find_faults(served.database)]
    bad += crowd.ledger.strange
    if "Traceback" in served.log:
        bad.append("the log holds a traceback")
    return crowd, killed, sorted(set(bad))


async def run_exchange(served: Served, seconds: float | None) -> int:
    """Exchange the key, and kill the command after so many seconds. Return its exit code, negative if it was killed."""
    with (served.folder / "exchange.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *("keys", "rotate-app", "--config", str(served.config)),
            env=environment({"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}),
            stdout=log,
            stderr=log,
        )
    try:
        async with asyncio.timeout(seconds):
            return await process.wait()
    except TimeoutError:
        process.kill()
        return await process.wait()


async def judge(served: Served, bad: list[str]) -> int:
    """Add what is wrong with the data to `bad`. Return how many values were tried with the key of the file alone."""
    data, count = served.database.parent, ExchangeCount()
    await served.run_command("check")
    await served.run_command("verify-audit", "--chains")
    vault = open_vault(KeySource(data / FILE))
    async with open_for_command(data / FILE) as db:
        await installation.confirm_key(db, vault)
        for secret in STORED:
            place = None
            while rows := await key_exchange.find_rows(db, secret, place):
                list(key_exchange.find_changes(secret, vault, rows, count))
                place = [rows[-1][name] for name in secret.keys]
    if vault.is_exchanging or count.unreadable or count.renewed:
        bad.append(f"not all is by the new key: {count}")
    found = await asyncio.to_thread(inspect_data, data, vault, SystemClock().now())
    bad += [str(fault) for fault in found.faults if fault.check not in HARMLESS]
    bad += [f"{part.name} is left" for part in data.glob(".*.part")]
    with closing(sqlite3.connect(served.database)) as connection:
        found_names = connection.execute(
            "SELECT count(*) FROM installation WHERE name IN (?, ?, ?)",
            (installation.NEXT, installation.PREVIOUS, installation.ADOPTED),
        )
        if found_names.fetchone() != (0,):
            bad.append("a second key is in the database")
    return count.read
