"""What everybody else waits for while one organisation, one link or strangers send more than the workers can do.

Three floods: eight uploads at once by one key, each some seconds of a processor; four requests at once for enlarged
pages behind one link, each of which takes all the processor time that it may; twelve strangers' files at once from
three networks. Measured is another organisation's create, the page of its signer at twice the size, and the seal.
"""

import asyncio
import sqlite3
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import aiohttp

from tests.bench.installation import PROXY, BenchInstallation, command, document, install_program, padded_pdf
from tests.bench.links import make_link
from tests.bench.serving import send_copy
from tests.pdf.heavy import strokes

ROUNDS = 5
HEAVY = 60_000
ROWS = ("create", "page", "seal")
Flood = Callable[[], Awaitable[None]]


async def run() -> None:
    pdf = padded_pdf(60_000)
    async with install_program(server=PROXY) as at, hostile(at) as enemy:
        sealed = await seal_one(at, pdf)
        link = await heavy_link(enemy)
        marks = count()

        async def upload() -> None:
            await attempt(
                enemy, "POST", "/api/v1/documents", document(strokes(HEAVY, next(marks)), recipients=0)
            )

        async def enlarge() -> None:
            await attempt(enemy, "GET", f"{link}/pages/1.webp?size={2 + next(marks) % 2}")

        async def stranger() -> None:
            form = aiohttp.FormData()
            form.add_field("file", sealed, filename="a.pdf", content_type="application/pdf")
            address = {"X-Forwarded-For": f"2001:db8:0:{next(marks) % 3}::1"}
            async with enemy.client.post(f"{at.base}/verify", data=form, headers=address) as answer:
                await answer.read()

        floods: dict[str, tuple[Flood, int]] = {
            "nothing else": (upload, 0),
            "eight heavy uploads of one key": (upload, 8),
            "four enlarged pages behind one link": (enlarge, 4),
            "twelve strangers' files": (stranger, 12),
        }
        print(f"| s, median (longest) of {ROUNDS} | " + " | ".join(ROWS) + " |")
        print("|---|" + "--:|" * len(ROWS))
        for name, (flood, wide) in floods.items():
            async with flooding(flood, wide):
                waits = [await measure_creation(at, pdf) for _ in range(ROUNDS)]
            columns = list(zip(*waits, strict=True))
            shown = " | ".join(f"{statistics.median(c):.2f} ({max(c):.2f})" for c in columns)
            print(f"| {name} | {shown} |")


@asynccontextmanager
async def hostile(at: BenchInstallation) -> AsyncIterator[BenchInstallation]:
    """The same server as another organisation sees it."""
    organisation = (
        await asyncio.to_thread(command, at.folder, "orgs", "create", "--name", "Hostile")
    ).strip()
    key = (await asyncio.to_thread(command, at.folder, "keys", "create", "--name", "hostile")).strip()
    with sqlite3.connect(at.folder / "data" / "esign.db", timeout=30) as db:
        db.execute("UPDATE api_key SET organisation_id = ? WHERE name = 'hostile'", (organisation,))
    db.close()
    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0)) as client:
        yield BenchInstallation(at.folder, at.base, key, at.pid, client, at.first_answer)


@asynccontextmanager
async def flooding(flood: Flood, wide: int) -> AsyncIterator[None]:
    """So many at once, each followed by another, until the block ends."""

    async def on_and_on() -> None:
        while True:
            await flood()

    tasks = [asyncio.create_task(on_and_on()) for _ in range(wide)]
    try:
        await asyncio.sleep(3 if wide else 0)
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def attempt(at: BenchInstallation, method: str, path: str, body: Any = None) -> None:
    """A request whatever comes of it; whoever is refused waits for a moment."""
    url = path if path.startswith("http") else f"{at.base}{path}"
    async with at.client.request(method, url, json=body) as answer:
        await answer.read()
        if answer.status >= 400:
            await asyncio.sleep(0.2)


async def heavy_link(at: BenchInstallation) -> str:
    made = await at.call("POST", "/api/v1/documents", document(strokes(HEAVY, 10**6)))
    path = f"/api/v1/documents/{made['id']}"
    (person,) = (await at.call("POST", f"{path}/send", {}))["recipients"]
    return await make_link(at, path, person["id"])


async def measure_creation(at: BenchInstallation, pdf: bytes) -> tuple[float, float, float]:
    """Seconds until a document is created, until a page of it is shown enlarged, and until it is sealed."""
    began = time.perf_counter()
    id = await create_new_document(at, pdf)
    create = time.perf_counter() - began
    path, link, body = await send_copy(at, id)
    began = time.perf_counter()
    async with at.client.get(f"{link}/pages/1.webp?size=2") as answer:
        await answer.read()
        if answer.status != 200:
            raise RuntimeError(f"the page: {answer.status}")
    page = time.perf_counter() - began
    began = time.perf_counter()
    await at.call("POST", f"{link}/complete", body)
    while (await at.call("GET", path))["status"] != "completed":  # noqa: ASYNC110  (it asks another process)
        await asyncio.sleep(0.01)
    return create, page, time.perf_counter() - began


async def create_new_document(at: BenchInstallation, pdf: bytes) -> str:
    """The id of a new document, whose file nobody has sent before."""
    body = document(pdf + b"%% %d" % time.perf_counter_ns())
    body["recipients"][0]["fields"] = [{"type": "signature", "page": 1, "x": 10, "y": 70}]
    return str((await at.call("POST", "/api/v1/documents", body))["id"])


async def seal_one(at: BenchInstallation, pdf: bytes) -> bytes:
    path, link, body = await send_copy(at, await create_new_document(at, pdf))
    await at.call("POST", f"{link}/complete", body)
    while (await at.call("GET", path))["status"] != "completed":  # noqa: ASYNC110  (it asks another process)
        await asyncio.sleep(0.01)
    async with at.client.get(
        f"{at.base}{path}/files/sealed", headers={"Accept": "application/pdf"}
    ) as answer:
        return await answer.read()
