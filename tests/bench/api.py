"""Reading and creating documents over the API."""

import asyncio
import json
import socket
import statistics
import sys
import time
from typing import Any

from esign.pdf.inspection import UploadLimits
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import Workers
from tests.bench.installation import BenchInstallation, document, dumps, install_program, padded_pdf

ROUNDS = 7
SECONDS = 3.0


async def load_server(url: str, key: str, connections: int, seconds: float = SECONDS) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.bench.load",
        url,
        key,
        str(connections),
        str(seconds),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    found: dict[str, Any] = json.loads(out)
    return found


async def get() -> None:
    """GET of one document with key and rate limit against a bare hello."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    hello = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.bench.hello", str(port))
    try:
        await asyncio.sleep(1.0)
        async with install_program() as at:
            made = await at.call("POST", "/api/v1/documents", document(padded_pdf(60_000)))
            url = f"{at.base}/api/v1/documents/{made['id']}"
            rates: dict[str, list[float]] = {"hello": [], "document": []}
            for _ in range(ROUNDS):
                bare = await load_server(f"http://127.0.0.1:{port}/hello", "x", 8)
                ours = await load_server(url, at.key, 8)
                if ours["statuses"] != ["200"]:
                    raise RuntimeError(f"answers were {ours['statuses']}")
                rates["hello"].append(bare["rate"])
                rates["document"].append(ours["rate"])
        bare_rate, our_rate = statistics.median(rates["hello"]), statistics.median(rates["document"])
        print(f"bare hello             {bare_rate:8.0f} /s")
        print(f"GET /documents/{{id}}    {our_rate:8.0f} /s   1/{bare_rate / our_rate:.1f}   (at least 1/8)")
    finally:
        hello.terminate()
        await hello.wait()


async def create() -> None:
    """Create a 60 kB document from 8 clients, against the PDF workers alone; GET meanwhile."""
    pdf = padded_pdf(60_000)
    alone, created, waits = [], [], []
    workers = Workers()
    async with install_program() as at:
        made = await at.call("POST", "/api/v1/documents", document(pdf))
        await at.call("POST", "/api/v1/documents", document(pdf))
        await asyncio.gather(*(workers.inspect(pdf, UploadLimits(2**25, 500)) for _ in range(4)))
        for _ in range(ROUNDS):
            alone.append(await time_inspection(workers, pdf))
            rate, meanwhile = await creating(at, pdf, f"{at.base}/api/v1/documents/{made['id']}")
            created.append(rate)
            waits.append(meanwhile)
    await workers.close()
    ratio = statistics.median(created) / statistics.median(alone)
    print(f"PDF workers alone      {statistics.median(alone):8.1f} /s")
    print(
        f"POST /documents        {statistics.median(created):8.1f} /s   {ratio:.2f} of it   (at least 0.6 and 30 /s)"
    )
    print(f"GET meanwhile, p99     {statistics.median(waits):8.1f} ms        (at most 50 ms)")


async def time_inspection(workers: Workers, pdf: bytes) -> float:
    count, began = 60, time.perf_counter()
    turns = (QueueTurn(PdfJobKind.UPLOAD, str(n)) for n in range(count))  # one tenant may not queue so many
    await asyncio.gather(*(workers.inspect(pdf, UploadLimits(2**25, 500), turn=turn) for turn in turns))
    return count / (time.perf_counter() - began)


async def creating(at: BenchInstallation, pdf: bytes, url: str) -> tuple[float, float]:
    """Documents per second from 8 clients, and the 99th percentile of a GET meanwhile, in ms."""
    body = dumps(document(pdf))
    until = time.perf_counter() + SECONDS
    count = 0
    waits: list[float] = []

    async def one() -> None:
        nonlocal count
        while time.perf_counter() < until:
            async with at.client.post(
                f"{at.base}/api/v1/documents", data=body, headers={"Content-Type": "application/json"}
            ) as answer:
                if answer.status != 201:
                    raise RuntimeError(await answer.text())
            count += 1

    async def look() -> None:
        while time.perf_counter() < until:
            began = time.perf_counter()
            async with at.client.get(url) as answer:
                await answer.read()
            waits.append(time.perf_counter() - began)
            await asyncio.sleep(0.01)

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(8)), look())
    return count / (time.perf_counter() - began), 1000 * sorted(waits)[int(len(waits) * 0.99)]
