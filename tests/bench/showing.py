"""Pictures of pages: of a document that was just created, and of a long one that ten people open at once."""

import asyncio
import statistics
import time
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.bench.dense import make_dense_pdf, make_distinct_pdfs
from tests.bench.installation import (
    PROXY,
    BenchInstallation,
    document,
    install_program,
    read_workers_time,
)
from tests.bench.links import make_link
from tests.bench.reading import PATH, sign_in
from tests.bench.table import Figure

DOCUMENTS, WARM = 20, 3
LONG, VIEWERS = 100, 10
AT_ONCE = 6  # as a browser over HTTP/1.1


async def measure_first_page(most: float) -> Figure:
    """The middle of what a member waits for the first page of a document that was created the moment before."""
    async with (
        install_program() as at,
        aiohttp.ClientSession(headers={"Cookie": await sign_in(at)}) as browser,
    ):
        times = []
        for pdf in make_distinct_pdfs(2, WARM + DOCUMENTS):
            made = await at.call("POST", PATH, document(pdf, recipients=2))
            times.append(1000 * await time_page(browser, f"{at.base}/documents/{made['id']}/sheets/1.webp"))
    found = sorted(times[WARM:])
    middle, slow = statistics.median(found), found[int(0.9 * len(found))]
    return Figure(f"{middle:.1f} ms, p90 {slow:.0f} ms", slow <= most)


async def measure_crowd(most: float) -> Figure:
    """How often each page of a long document is drawn when ten recipients open it at once, by processor time.

    Drawing it once is what one recipient of another document of that length costs.
    """
    async with install_program(server=PROXY) as at:
        await at.call("POST", PATH, document(make_dense_pdf(2)))  # the workers are there
        alone = await open_long(at, 1)
        together = await open_long(at, VIEWERS)
    drawn = together.spent / alone.spent
    text = f"drawn {drawn:.2f} times, first page after {together.first:.0f} ms"
    note = (
        f"Processor time of the workers {alone.spent:.2f} s for one, {together.spent:.2f} s for {VIEWERS}, who "
        f"have all pages after {together.seconds:.1f} s; one waits {alone.first:.0f} ms for the first."
    )
    return Figure(text, drawn <= most, note)


@dataclass(frozen=True, slots=True)
class Opening:
    """Seconds of the workers from the upload on, ms until all had the first page, seconds until all had all pages."""

    spent: float
    first: float
    seconds: float


async def open_long(at: BenchInstallation, viewers: int) -> Opening:
    """Create a long document, and let its recipients read all of its pages at once."""
    before = read_workers_time(at.pid)
    made = await at.call("POST", PATH, build_body(viewers))
    path = f"{PATH}/{made['id']}"
    people = (await at.call("POST", f"{path}/send", {}))["recipients"]
    links = [await make_link(at, path, person["id"]) for person in people]
    began = time.perf_counter()
    first = max(await asyncio.gather(*(read_pages(link, f"192.0.2.{n}") for n, link in enumerate(links))))
    seconds = time.perf_counter() - began
    return Opening(read_workers_time(at.pid) - before, 1000 * first, seconds)


def build_body(viewers: int) -> dict[str, Any]:
    body = document(make_dense_pdf(LONG, viewers), recipients=viewers)
    for person in body["recipients"]:
        person["order"] = 1
    return body


async def read_pages(link: str, address: str) -> float:
    """Read all pages in order from an address, AT_ONCE at a time; return the seconds until the first was there."""
    pages, began = iter(range(1, LONG + 1)), time.perf_counter()
    arrived: dict[int, float] = {}
    connector = aiohttp.TCPConnector(limit=AT_ONCE)
    async with aiohttp.ClientSession(headers={"X-Forwarded-For": address}, connector=connector) as browser:

        async def read_on() -> None:
            for number in pages:
                await time_page(browser, f"{link}/pages/{number}.webp")
                arrived[number] = time.perf_counter() - began

        await asyncio.gather(*(read_on() for _ in range(AT_ONCE)))
    return arrived[1]


async def time_page(browser: aiohttp.ClientSession, url: str) -> float:
    """Return the seconds until a picture has arrived."""
    began = time.perf_counter()
    async with browser.get(url) as answer:
        content = await answer.read()
    if answer.status != 200 or not answer.content_type.startswith("image/") or not content:
        raise RuntimeError(f"{url} answered {answer.status}")
    return time.perf_counter() - began
