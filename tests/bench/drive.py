"""Asks servers from other processes: `wrk` for what can be asked again and again, `load` for prepared requests.

Both cost far less than the servers that they measure: `wrk` alone takes some 100,000 answers a second.
"""

import asyncio
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tests.bench.installation import BenchInstallation, dumps, until_answers
from tests.bench.load import LENGTH
from tests.ports import reserve_port

REPORT = Path(__file__).with_name("wrk.lua")
CONNECTIONS = 8
ROUNDS = 5
SECONDS = 2  # wrk takes whole seconds
WITHOUT_WRK = (
    "This bench needs wrk, which asks faster than any client in Python: apt install wrk (Debian, Ubuntu)."
)


@dataclass(frozen=True)
class LoadResult:
    """Answers per second, and what the middle one and the slowest hundredth took in ms."""

    rate: float
    median: float
    p99: float
    count: int
    began: float = 0.0


@dataclass(frozen=True)
class Comparison:
    """Medians of the program over interleaved rounds, and how many times as fast the bare hello was."""

    rate: float
    p99: float
    times: float
    bare: float


# ---------- GETs ----------


async def drive_wrk(
    url: str,
    headers: Mapping[str, str] | None = None,
    connections: int = CONNECTIONS,
    seconds: int = SECONDS,
) -> LoadResult:
    """Ask for `url` as fast as it is answered; raise unless every answer is a 200."""
    named = [part for name, value in (headers or {}).items() for part in ("-H", f"{name}: {value}")]
    command = [find_wrk(), "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(REPORT), *named, url]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    found = json.loads(out.splitlines()[-1])
    if found["failed"]:
        raise RuntimeError(f"{found['failed']} of {found['count']} answers of {url} were no 200")
    return LoadResult(found["count"] / found["seconds"], found["median"], found["p99"], found["count"])


async def compare_rates(url: str, headers: Sequence[Mapping[str, str]]) -> Comparison:
    """Ask the bare hello and `url` in turns, in each round with the next of the `headers`."""
    async with serve_hello() as port:
        bare, ours = [], []
        await drive_wrk(url, headers[0], seconds=1)  # warms up
        for number in range(ROUNDS):
            bare.append(await drive_wrk(f"http://127.0.0.1:{port}/healthz"))
            ours.append(await drive_wrk(url, headers[number % len(headers)]))
    return Comparison(
        statistics.median(one.rate for one in ours),
        statistics.median(one.p99 for one in ours),
        statistics.median(a.rate / b.rate for a, b in zip(bare, ours, strict=True)),
        statistics.median(one.rate for one in bare),
    )


def find_wrk() -> str:
    """Return the path of wrk, or end the bench with the way to install it."""
    return shutil.which("wrk") or sys.exit(WITHOUT_WRK)


@asynccontextmanager
async def serve_hello() -> AsyncIterator[int]:
    """The bare hello in a process of its own; its port."""
    port = reserve_port()
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.bench.hello", str(port))
    try:
        await until_answers(port, process)
        yield port
    finally:
        process.terminate()
        await process.wait()


# ---------- prepared requests ----------


@asynccontextmanager
async def open_requests(requests: Iterable[bytes]) -> AsyncIterator[Path]:
    """A file of requests for `load`, until the block ends."""
    with tempfile.NamedTemporaryFile(prefix="esign-bench-") as file:
        write_requests(file, requests)  # type: ignore[arg-type]  # the wrapper of tempfile is no BinaryIO
        yield Path(file.name)


def write_requests(file: BinaryIO, requests: Iterable[bytes]) -> None:
    for request in requests:
        file.write(LENGTH.pack(len(request)) + request)
    file.flush()


def build_post(at: BenchInstallation, path: str, body: object) -> bytes:
    """Return one request over a connection that stays open."""
    content = body if isinstance(body, bytes) else dumps(body)
    return (
        f"POST {path.removeprefix(at.base)} HTTP/1.1\r\nHost: {at.base.removeprefix('http://')}\r\n"
        f"Authorization: Bearer {at.key}\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    ).encode() + content


def build_get(at: BenchInstallation, path: str) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: {at.base.removeprefix('http://')}\r\nAuthorization: Bearer {at.key}\r\n\r\n"
    ).encode()


async def drive_requests(
    port: int,
    file: Path,
    connections: int = CONNECTIONS,
    seconds: float = 600.0,
    every: float = 0.0,
    accepted: Sequence[str] = ("200", "201"),
) -> LoadResult:
    """Send the requests of a file; raise if an answer has a status that is not `accepted`."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.load", str(port), file, str(connections)),
        *(str(seconds), str(every)),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        out, _ = await process.communicate()
    except BaseException:
        process.kill()
        raise
    found = json.loads(out)
    if set(found["statuses"]) - set(accepted):
        raise RuntimeError(f"answers were {found['statuses']}")
    waits = sorted(1000 * wait for wait in found["waits"])
    return LoadResult(
        len(waits) / found["seconds"],
        statistics.median(waits),
        waits[int(len(waits) * 0.99)],
        len(waits),
        found["began"],
    )
