"""Deliveries while half of the webhooks fail: how many the healthy half gets, and what a GET waits meanwhile.

10,000 are queued over 20 webhooks, of which 10 fail: 4 never answer, 3 answer 500, 2 reset, 1 answers 429.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from esign.core.actor import Mode
from esign.core.document.state.outcome import Event
from esign.core.instant import Instant
from esign.core.webhook import webhook
from esign.store.document import outcomes
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Transaction
from esign.system.entropy import make_id
from tests.bench.installation import BenchInstallation, document, install_program, padded_pdf, resident
from tests.factories import a_sent_document

ROUNDS = 7
EVENTS = 500
HEALTHY = 10
FAILING = ("silent",) * 4 + ("500",) * 3 + ("reset",) * 2 + ("429",)
PATIENCE = 120.0


async def run() -> None:
    rates, waits, memory = [], [], 0.0
    for _ in range(ROUNDS):
        async with receiving() as receiver, install_program() as at:
            rate, wait = await storm(at, receiver)
            rates.append(rate)
            waits.append(wait)
            memory = max(memory, resident(at.pid))
    print(f"healthy deliveries     {statistics.median(rates):8.0f} /s       (at least 400 /s, aim 1,000 /s)")
    print(f"slowest, fastest round {min(rates):8.0f} /s, {max(rates):.0f} /s")
    print(f"GET meanwhile, p99     {statistics.median(waits):8.1f} ms       (at most 200 ms)")
    print(f"memory                 {memory:8.1f} MiB      (at most 400 MiB)")


async def storm(at: BenchInstallation, receiver: str) -> tuple[float, float]:
    """Healthy deliveries per second from the first to the last, and the 99th percentile of a GET in ms."""
    made = await at.call("POST", "/api/v1/documents", document(padded_pdf(60_000)))
    for place in (*(f"healthy{n}" for n in range(HEALTHY)), *FAILING):
        await at.call("POST", "/api/v1/webhooks", {"url": f"{receiver}/{place}", "events": ["document.sent"]})
    await queue(at)
    looking = asyncio.create_task(look(at, f"{at.base}/api/v1/documents/{made['id']}"))
    try:
        seconds = await time_arrivals(receiver)
    finally:
        looking.cancel()
        waits = sorted(await looking)
    return EVENTS * HEALTHY / seconds, 1000 * waits[int(len(waits) * 0.99)]


async def queue(at: BenchInstallation) -> None:
    """Events of a typical size, committed together as by a program that sends many documents."""

    async def write(tx: Transaction) -> None:
        row = await tx.one("SELECT id FROM organisation")
        assert row is not None
        now: Instant = round(time.time() * 1000)
        for _ in range(EVENTS):
            sent = a_sent_document(organisation_id=row["id"])
            body = webhook.make_payload(Event("document.sent", now), make_id("evt", now), 1, sent)
            await outcomes.announce(tx, body, row["id"], Mode.LIVE, now)

    async with open_for_command(at.folder / "data" / FILE) as db:
        await db.write(write)


async def look(at: BenchInstallation, url: str) -> list[float]:
    """Read a document a hundred times a second until cancelled; what each took."""
    waits: list[float] = []
    try:
        while True:
            began = time.perf_counter()
            async with at.client.get(url) as answer:
                await answer.read()
            waits.append(time.perf_counter() - began)
            await asyncio.sleep(0.01)
    except asyncio.CancelledError:
        return waits


async def time_arrivals(receiver: str) -> float:
    """Seconds between the first and the last healthy delivery."""
    async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as session:
        while True:
            async with session.get(f"{receiver}/count") as answer:
                told = await answer.json()
            if told["healthy"] >= EVENTS * HEALTHY:
                return float(told["seconds"])
            await asyncio.sleep(0.1)


@asynccontextmanager
async def receiving() -> AsyncIterator[str]:
    """The receiver in a process of its own; its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.receiver"), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.terminate()
        await process.wait()
