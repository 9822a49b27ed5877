"""From the last completion to `completed`, the pyHanko step alone, and the memory of the server afterwards."""

import asyncio
import re
import statistics
import time
from typing import Any

from esign.demo import contract
from esign.pdf.seal import cms
from esign.system.clock import SystemClock
from tests.bench.installation import BenchInstallation, children, install_program, resident
from tests.pdf.sealing import sign_file

ROUNDS = 9


async def run() -> None:
    async with install_program() as at:
        cold = await one(at)
        warm = [await one(at) for _ in range(ROUNDS)]
        print(f"completion to completed, cold  {1000 * cold:8.0f} ms")
        print(f"completion to completed, warm  {1000 * statistics.median(warm):8.0f} ms   (at most 500 ms)")
        print(f"memory with PDF workers        {resident(at.pid):8.1f} MiB")
        for _ in range(90):
            if not children(at.pid):
                break
            await asyncio.sleep(1)
        print(f"memory, PDF workers gone       {resident(at.pid):8.1f} MiB  (at most 90 MB)")
    sealing()


async def one(at: BenchInstallation) -> float:
    """Seconds from the answer to the last completion until the document is completed."""
    made = await at.call("POST", "/api/v1/documents", contract.build_create_body())
    path = f"/api/v1/documents/{made['id']}"
    await at.call("POST", f"{path}/send", {})
    began = 0.0
    for person in (contract.CAFE, contract.GARDENER):
        link = await at.link(person[1])
        body = await answer_fields(at, path, link, person)
        await at.call("POST", f"{link}/view", {})
        began = time.perf_counter()
        await at.call("POST", f"{link}/complete", body)
    while (await at.call("GET", path))["status"] != "completed":  # noqa: ASYNC110  (it asks another process)
        await asyncio.sleep(0.005)
    return time.perf_counter() - began


async def answer_fields(
    at: BenchInstallation, path: str, link: str, person: tuple[str, str]
) -> dict[str, Any]:
    """What this person finishes with."""
    consent = re.search(r'data-consent="([0-9a-f]{64})"', await at.text(link))
    if consent is None:
        raise RuntimeError("the signing page did not open")
    document = await at.call("GET", path)
    mine = next(r for r in document["recipients"] if r["email"] == person[1])
    answers = {f["id"]: v for f in mine["fields"] if (v := contract.choose_answer(person, f)) is not None}
    return {"answers": answers, "consent": consent[1]}


def sealing() -> None:
    """The step that signs, on the three pages of the sample contract, the key loaded once."""
    import tempfile
    from pathlib import Path

    from esign import authority

    now = SystemClock().now()
    with tempfile.TemporaryDirectory() as name:
        keys = authority.load_or_make_authority(Path(name), "Bench", now)
    key = cms.load_key(keys.live)
    pdf = contract.read_pdf()
    times = []
    for _ in range(30):
        began = time.perf_counter()
        sign_file(pdf, key, now, "Bench")
        times.append(time.perf_counter() - began)
    print(f"pyHanko step                   {1000 * statistics.median(times):8.1f} ms   (at most 20 ms)")
