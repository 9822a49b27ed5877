"""How much the serving process grows while its workers seal."""

import asyncio
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.installation import BenchInstallation, document, install_program, resident
from tests.bench.links import open_link

DOCUMENTS, FIRST = 100, 5
FIELDS: tuple[Mapping[str, Any], ...] = (
    {"type": "signature", "x": 10, "y": 70},
    {"type": "initials", "x": 60, "y": 70},
    {"type": "name", "x": 10, "y": 80},
    {"type": "date", "x": 60, "y": 80},
    {"type": "email", "x": 10, "y": 88},
    {"type": "checkbox", "x": 60, "y": 88},
)
ANSWERS: Mapping[str, Any] = {
    "signature": {"kind": "typed", "text": "Signer 0", "hand": "b"},
    "initials": {"kind": "typed", "text": "S0", "hand": "b"},
    "checkbox": True,
}


async def growth(pdf: bytes) -> None:
    """Documents that all finish at once, after a few that have warmed everything up."""
    async with install_program() as at:
        body = document(pdf)
        body["recipients"][0]["fields"] = [{"page": 1, **field} for field in FIELDS]
        first = await at.call("POST", "/api/v1/documents", body)
        signings = [await send_copy(at, first["id"]) for _ in range(FIRST + DOCUMENTS)]
        await wait_until_sealed(at, signings[:FIRST])
        before = resident(at.pid)
        watching = asyncio.create_task(watch_memory(at.pid))
        began = time.perf_counter()
        try:
            await wait_until_sealed(at, signings[FIRST:])
        finally:
            watching.cancel()
        rate = DOCUMENTS / (time.perf_counter() - began)
        grown = await watching - before
    missed = "" if grown <= 30 else ": MISSED"
    print(f"| the server grows while {DOCUMENTS} seal | {grown:.0f} (at most 30{missed}) |")
    print(
        f"\n{rate:.1f} documents per second through the server, from the requests to complete to the mails."
    )


async def send_copy(at: BenchInstallation, original: str) -> tuple[str, str, dict[str, Any]]:
    """A copy of the document, sent and looked at: where it is, its link, and what its signer finishes with."""
    path = f"/api/v1/documents/{(await at.call('POST', f'/api/v1/documents/{original}/duplicate', {}))['id']}"
    (person,) = (await at.call("POST", f"{path}/send", {}))["recipients"]
    link = await open_link(at, path, person["id"])
    answers = {field["id"]: ANSWERS[field["type"]] for field in person["fields"] if field["type"] in ANSWERS}
    return path, link.address, link.build_completion(answers)


async def wait_until_sealed(at: BenchInstallation, signings: list[tuple[str, str, dict[str, Any]]]) -> None:
    """Return when all of them are sealed."""
    for _, link, body in signings:
        await at.call("POST", f"{link}/complete", body)
    for path, _, _ in signings:
        while (await at.call("GET", path))["status"] != "completed":  # noqa: ASYNC110  (it asks another process)
            await asyncio.sleep(0.05)


async def watch_memory(pid: int) -> float:
    """The most memory that the process has until this is cancelled, in MiB."""
    most = 0.0
    try:
        while True:
            most = max(most, resident(pid))
            await asyncio.sleep(0.02)
    except asyncio.CancelledError:
        return most


def peak(pid: int) -> float:
    """The most memory that a process had since it began, in MiB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0
