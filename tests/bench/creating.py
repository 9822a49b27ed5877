"""Creating documents: what one client waits for, and how many a second eight of them get."""

import statistics
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

from tests.bench import drive
from tests.bench.dense import make_distinct_pdfs
from tests.bench.installation import (
    BenchInstallation,
    ProcessorWatch,
    document,
    install_program,
)
from tests.bench.table import Figure

PATH = "/api/v1/documents"
ROUNDS = 3
ALONE = 25
WARM = 6
SECONDS = 3.0
MOST_A_SECOND = {2: 320, 20: 90}  # more files than a server takes in SECONDS
HEADROOM = 5


async def measure_alone(pages: int, most: float) -> Figure:
    """The middle of what one client waits for while nobody else asks."""
    async with install_program() as at:
        files = FileSource(at, pages)
        await files.send(WARM, connections=1)
        watch = ProcessorWatch(at)
        result = await files.send(ALONE, connections=1)
        spent = watch.describe(result.count)
    text = f"{result.median:.1f} ms, p99 {result.p99:.0f} ms"
    return Figure(text, result.median <= most, f"{result.count} documents; {spent}")


async def measure_rate(pages: int, least: float) -> Figure:
    """The middle of a few rounds of eight clients, each beside a round of the bare hello with the same bodies."""
    results, bare = [], []
    async with install_program() as at, drive.serve_hello() as port:
        files = FileSource(at, pages)
        await files.send(WARM)
        watch = ProcessorWatch(at)
        for _ in range(ROUNDS):
            async with files.prepare(int(MOST_A_SECOND[pages] * SECONDS)) as file:
                results.append(await drive.drive_requests(at.port, file, seconds=SECONDS))
                bare.append(await drive.drive_requests(port, file, seconds=1.0))
        spent = watch.describe(sum(result.count for result in results))
    rate = statistics.median(result.rate for result in results)
    ceiling = statistics.median(result.rate for result in bare)
    if ceiling < HEADROOM * rate:
        raise RuntimeError(f"the client sends only {ceiling:.0f} of these a second to a bare hello")
    p99 = statistics.median(result.p99 for result in results)
    note = f"The client alone reaches {ceiling:.0f}/s against the bare hello; {spent}"
    return Figure(f"{rate:.1f}/s, p99 {p99:.0f} ms", rate >= least, note)


class FileSource:
    """Create requests of which each has another file."""

    def __init__(self, at: BenchInstallation, pages: int) -> None:
        self.at = at
        self.pages = pages
        self.first = count()

    @asynccontextmanager
    async def prepare(self, number: int) -> AsyncIterator[Path]:
        """A file of that many requests, until the block ends."""
        async with drive.open_requests(self.build(number)) as file:
            yield file

    def build(self, number: int) -> Iterator[bytes]:
        for _ in range(number):
            (pdf,) = make_distinct_pdfs(self.pages, 1, next(self.first))
            yield drive.build_post(self.at, PATH, document(pdf, recipients=2))

    async def send(self, number: int, connections: int = drive.CONNECTIONS) -> drive.LoadResult:
        async with self.prepare(number) as file:
            return await drive.drive_requests(self.at.port, file, connections)
