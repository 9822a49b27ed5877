"""T29: a start that migrates a database of each schema in the history is killed, or meets a full disk, many times."""

import asyncio
import os
import random
import shutil
import sqlite3
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from esign.actions.verification import verify_trails
from esign.store.engine import migrate
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.migration_copy import FOLDER
from esign.store.server import installation
from esign.system.app_key import KeySource, open_vault
from tests.journeys.program import COMMAND, configuration, environment
from tests.reliability import arguments
from tests.reliability.figures import Figure

TARGET = "each schema, 100,000 documents, 20 kills: the next start migrates; 0 rows lost; trails hold"
ARCHIVE = Path(__file__).parents[1] / "store" / "history.tar.xz"
FULL_EVERY = 4  # every fourth start meets a full disk instead of a kill
WRITES = 400  # among the first so many writes of the database, the disk is full from one on


@dataclass(frozen=True)
class Content:
    """What must be in a database after its migration as before."""

    documents: frozenset[str]
    entries: frozenset[tuple[str, int, bytes]]
    contents: frozenset[str]


async def run(given: Sequence[str]) -> Figure:
    """Migrate 21 databases with 100,000 documents each, 20 times from the beginning."""
    asked = arguments.read(given, schemas=21, documents=100_000, kills=20, seed=1)
    chance, bad, counts = random.Random(asked["seed"]), list[str](), {"killed": 0, "full": 0, "whole": 0}
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as name:
        folder = Path(name)
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(folder / "history", filter="data")
        schemas = sorted(path for path in (folder / "history").iterdir())
        for schema in chance.sample(schemas, min(asked["schemas"], len(schemas))):
            await asyncio.to_thread(fill, schema / FILE, asked["documents"])
            found = await upgrade_again_and_again(schema, folder, asked["kills"], chance, counts)
            bad += [f"{schema.name}: {line}" for line in found]
    for line in bad[:20]:
        print(line)
    measured = (
        f"{asked['schemas']} schemas with {asked['documents']:,} documents each: {counts['killed']} starts killed,"
        f" {counts['full']} ended by a full disk, {counts['whole']} that ended before; {len(bad)} findings"
    )
    return Figure("T29", TARGET, measured, not bad, len(bad), arguments.write("upgrades", asked))


def fill(path: Path, documents: int) -> None:
    """Repeat the newest document under other ids until there are so many: its row alone, without a trail."""
    with closing(sqlite3.connect(path)) as connection:
        [(there,)] = connection.execute("SELECT count(*) FROM document")
        names = [row[1] for row in connection.execute("PRAGMA table_info(document)")]
        copied = ", ".join("id || '_' || n" if name == "id" else name for name in names)
        connection.execute(
            f"""
            WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < :more)
            INSERT INTO document ({", ".join(names)}) SELECT {copied} FROM many, document
            WHERE id = (SELECT max(id) FROM document) AND :more > 0
            """,
            {"more": documents - there},
        )
        connection.commit()


async def upgrade_again_and_again(
    schema: Path, folder: Path, kills: int, chance: random.Random, counts: dict[str, int]
) -> list[str]:
    """Return what is wrong after each start that was disturbed and the one after it."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    config, data, bad = configuration(home), home / "data", list[str]()
    before = await asyncio.to_thread(read_content, schema / FILE)
    seconds = 0.0
    for number in range(kills + 1):
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(schema, data)
        data.chmod(0o700)
        if number == 0:  # how long it takes undisturbed
            began = time.perf_counter()
            code = await start(config, None, None)
            seconds = time.perf_counter() - began
            bad += [f"a start ended with {code}"] if code else []
        elif number % FULL_EVERY == 0:
            ended = await start(config, None, chance.randrange(1, WRITES))
            counts["full" if ended else "whole"] += 1
        else:
            ended = await start(config, chance.uniform(0.5, 1.0) * seconds, None)
            counts["killed" if ended < 0 else "whole"] += 1
        bad += [f"start {number}: {line}" for line in await judge(data, before)]
    return bad


async def start(config: Path, seconds: float | None, full_after: int | None) -> int:
    """Run a command, which migrates as a start does. Return its exit code, negative if it was killed after `seconds`.

    With `full_after`, each write of the database after the first so many finds no room.
    """
    prefix: tuple[str, ...] = ()
    if full_after is not None:
        inject = f"inject=pwrite64:error=ENOSPC:when={full_after}+"
        prefix = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e", inject)
    process = await asyncio.create_subprocess_exec(
        *(*prefix, *COMMAND, "keys", "list", "--config", str(config)),
        env=environment({"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(seconds):
            return await process.wait()
    except TimeoutError:
        process.kill()
        return await process.wait()


def read_content(path: Path) -> Content:
    """Return what is in a database of any schema."""
    with closing(sqlite3.connect(path)) as connection:
        return Content(
            frozenset(id for (id,) in connection.execute("SELECT id FROM document")),
            frozenset(connection.execute("SELECT document_id, seq, hash FROM audit")),
            frozenset(sha256 for (sha256,) in connection.execute("SELECT sha256 FROM blob")),
        )


async def judge(data: Path, before: Content) -> list[str]:
    """Return what is wrong in a data folder after another start, which nothing disturbs."""
    bad = []
    try:
        vault = open_vault(KeySource(data / FILE))
        async with open_for_command(data / FILE, copy_first=True) as db:
            await installation.confirm_key(db, vault)
            await verify_trails.complete_heads(db, vault)
            bad += [
                f"trail {chain.document_id}"
                async for chain in verify_trails.recompute(db, vault)
                if chain.broken
            ]
    except Exception as error:
        return [f"it cannot be opened: {error!r}"]
    after = await asyncio.to_thread(read_content, data / FILE)
    if after.documents != before.documents or after.entries < before.entries:
        bad.append("documents or entries of trails are missing")
    if not after.contents >= before.contents:
        bad.append("contents are missing")
    with closing(sqlite3.connect(data / FILE)) as connection:
        if not migrate.is_complete(connection):
            bad.append("the schema is not the present one")
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            bad.append("the pages are damaged")
        if connection.execute("PRAGMA foreign_key_check").fetchall():
            bad.append("rows refer to rows that do not exist")
    left = [*(data / FOLDER).glob("*.part*")] if (data / FOLDER).is_dir() else []
    return bad + [f"{part.name} is left" for part in left]
