"""What a million documents change: `python -m tests.bench growth [FEW MANY]`.

Two installations with so many documents, made once by `grown` and copied before each run, are asked in turns: starts,
then memory, creating, reading and listing with both servers running. A ratio is the median of those of all rounds.
"""

import sqlite3
import statistics
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, closing
from pathlib import Path

from esign.store.engine.connections import FILE
from tests.bench import drive, grown
from tests.bench.creating import PATH, FileSource
from tests.bench.footprint import until_idle
from tests.bench.installation import (
    BenchInstallation,
    children,
    make_installation,
    read_memory,
    serve_program,
)
from tests.bench.table import describe_machine

SIZES = (1_000, 1_000_000)
MOST = 1.3
STARTS, ROUNDS = 7, 5
CREATED, READ = 12, 1_000
Measure = Callable[[BenchInstallation], Awaitable[float]]


async def run(sizes: list[str]) -> None:
    few, many = map(int, sizes or SIZES)
    print(describe_machine())
    print(f"\n| Work | {few:,} documents | {many:,} documents | Ratio (≤ {MOST}) |\n|---|--:|--:|--:|")
    async with AsyncExitStack() as stack:
        places = [
            await stack.enter_async_context(make_installation(data=await grown.database(size)))
            for size in (few, many)
        ]
        await compare_starts(places)
        servers = [await stack.enter_async_context(serve_program(*place)) for place in places]
        await compare(servers, "memory of the server, idle", "MB", measure_memory, rounds=1)
        ids = [find_documents(folder) for folder, _ in places]
        for at in servers:
            await FileSource(at, 2).send(CREATED)  # warms up
        sources = {at.port: FileSource(at, 2) for at in servers}
        await compare(
            servers, "create, 2 dense pages, one client: p50", "ms", lambda at: create(sources[at.port])
        )
        parts = {
            at.port: iter([found[n::ROUNDS] for n in range(ROUNDS)])
            for at, found in zip(servers, ids, strict=True)
        }
        await compare(
            servers,
            "GET document, for the first time, 8 connections",
            "/s",
            lambda at: read_documents(at, next(parts[at.port])),
        )
        known = {at.port: found for at, found in zip(servers, ids, strict=True)}
        await compare(
            servers, "GET document, again, 8 connections", "/s", lambda at: read_documents(at, known[at.port])
        )
        await compare(servers, "list of 10, 8 connections", "/s", lambda at: list_documents(at, 10))
        await compare(servers, "list of 100, 8 connections", "/s", lambda at: list_documents(at, 100))
        await compare(servers, "memory of server and workers after that", "MB", measure_memory, rounds=1)


async def compare_starts(places: Sequence[tuple[Path, str]]) -> None:
    found: list[list[float]] = [[] for _ in places]
    for _ in range(STARTS):
        for times, place in zip(found, places, strict=True):
            async with serve_program(*place) as at:
                times.append(at.first_answer)
    print_row("start to the first 200", "s", found)


async def compare(
    servers: Sequence[BenchInstallation], work: str, unit: str, measure: Measure, rounds: int = ROUNDS
) -> None:
    """Measure all servers in turns and print one row."""
    found: list[list[float]] = [[] for _ in servers]
    for _ in range(rounds):
        for values, at in zip(found, servers, strict=True):
            values.append(await measure(at))
    print_row(work, unit, found)


def print_row(work: str, unit: str, found: Sequence[Sequence[float]]) -> None:
    few, many = found
    pairs = zip(few, many, strict=True)
    ratio = statistics.median(a / b if unit == "/s" else b / a for a, b in pairs)
    cells = " | ".join(f"{statistics.median(values):.4g} {unit}".replace(" /s", "/s") for values in found)
    print(f"| {work} | {cells} | {ratio:.2f}{'' if ratio <= MOST else ' MISSED'} |", flush=True)


def find_documents(folder: Path) -> list[str]:
    """Return the ids of `READ` documents from all over the time of an installation."""
    with closing(sqlite3.connect(folder / "data" / FILE)) as db:
        ids = [row[0] for row in db.execute("SELECT id FROM document ORDER BY id")]
    step = max(1, len(ids) // READ)
    return [id for n in range(step) for id in ids[n::step]][:READ]


async def create(source: FileSource) -> float:
    return (await source.send(CREATED, connections=1)).median


async def read_documents(at: BenchInstallation, ids: Sequence[str]) -> float:
    """Ask once for each of these documents."""
    async with drive.open_requests(drive.build_get(at, f"{PATH}/{id}") for id in ids) as file:
        return (await drive.drive_requests(at.port, file)).rate


async def list_documents(at: BenchInstallation, count: int) -> float:
    return (await drive.drive_wrk(f"{at.base}{PATH}?limit={count}", at.headers)).rate


async def measure_memory(at: BenchInstallation) -> float:
    await until_idle(at.pid)
    return read_memory(at.pid, *children(at.pid))
