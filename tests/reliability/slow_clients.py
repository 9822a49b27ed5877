"""T17: clients that send slowly, announce a large body and send nothing, or hold a connection, hold up nobody else."""

import asyncio
import contextlib
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.journeys.api import Api, a_session
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.served import Served, install
from tests.reliability.soak import take_sample

TARGET = "p99 of another client's GET ≤ 200 ms; open files back ≤ 40 s after they left; no 5xx"
ADDRESSES = 16  # from which they come: one address may hold few connections
P99_MS = 200.0
RETURN_SECONDS = 40.0
BEGIN = b"POST /api/v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


async def run(given: Sequence[str]) -> Figure:
    """Let 1,000 slow clients and 200 that announce 25 MB come, for 45 seconds."""
    asked = arguments.read(given, slow=1000, silent=200, seconds=45)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder)) as served:
            await served.start()
            waits, statuses, back, held_open = await look_meanwhile(
                served, asked["slow"], asked["silent"], asked["seconds"]
            )
            code = await served.stop()
    waits.sort()
    p99 = 1000 * waits[int(len(waits) * 0.99)]
    measured = (
        f"{asked['slow']} slow and {asked['silent']} silent clients for {asked['seconds']} s, at most {held_open} open"
        f" files: {len(waits)} GETs of another address, median {1000 * statistics.median(waits):.0f} ms, p99"
        f" {p99:.0f} ms, {sum(status != 200 for status in statuses)} without 200; open files back after"
        f" {back:.0f} s; the server ended with {code}"
    )
    held = p99 <= P99_MS and set(statuses) == {200} and back <= RETURN_SECONDS and code == 0
    return Figure(
        "T17",
        TARGET,
        measured,
        held,
        sum(status >= 500 for status in statuses),
        arguments.write("slow_clients", asked),
    )


async def look_meanwhile(
    served: Served, slow: int, silent: int, seconds: float
) -> tuple[list[float], list[int], float, int]:
    """Return what each GET took, its status, the seconds until the files were closed again, and the most files."""
    assert served.process is not None
    port, pid = int(served.base.rpartition(":")[2]), served.process.pid
    waits: list[float] = []
    statuses: list[int] = []
    async with a_session() as session:
        api = Api(session, served.base, served.key)
        await api.call("GET", "/documents")
        before = most = take_sample(pid, served.database).files
        crowd = [asyncio.create_task(dawdle(port, n, silent=n >= slow)) for n in range(slow + silent)]
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            statuses.append((await api.call("GET", "/documents")).status)
            waits.append(time.perf_counter() - began)
            most = max(most, take_sample(pid, served.database).files)
            await asyncio.sleep(0.05)
        for client in crowd:
            client.cancel()
        await asyncio.gather(*crowd, return_exceptions=True)
        began = time.perf_counter()
        while take_sample(pid, served.database).files > before + 8:
            await asyncio.sleep(0.2)
            if time.perf_counter() - began > 2 * RETURN_SECONDS:
                break
    return waits, statuses, time.perf_counter() - began, most


async def dawdle(port: int, number: int, *, silent: bool) -> None:
    """Come again and again: with a head that never ends, a body of a byte a second, or an announced one."""
    address = f"127.0.0.{2 + number % ADDRESSES}"
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            try:
                await dribble(writer, number, silent)
            finally:
                writer.close()
                del reader
        await asyncio.sleep(0.5)


async def dribble(writer: asyncio.StreamWriter, number: int, silent: bool) -> None:
    """Send as this client does until the server closes."""
    length = b"Content-Length: 25000000\r\n\r\n"
    if silent or number % 3 == 0:
        writer.write(BEGIN + length)
    elif number % 3 == 1:
        writer.write(BEGIN)
    while not writer.transport.is_closing():
        if not silent and number % 3 < 2:
            writer.write(b"x")
        await asyncio.sleep(1)
