"""The last act of a document until it is completed: alone on an idle server, and many at once."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.bench import drive, mail
from tests.bench.dense import make_distinct_pdfs
from tests.bench.installation import (
    BenchInstallation,
    ProcessorWatch,
    document,
    install_program,
)
from tests.bench.links import open_link
from tests.bench.table import Figure

PATH = "/api/v1/documents"
ALONE, WARM = 15, 4
TOGETHER, ROUNDS = 96, 2
AT_ONCE = 6


@dataclass(frozen=True, slots=True)
class FinalAct:
    """What completes a document, or the part of one recipient, who has read it."""

    document: str
    address: str
    body: Mapping[str, Any]


async def measure_seal(most: float) -> Figure:
    """The middle from the request of the last recipient until the document is completed, one after the other."""
    async with install_mailing_program() as at:
        acts = await prepare_acts(at, WARM + ALONE)
        times = [1000 * await time_seal(at, act) for act in acts][WARM:]
    middle = statistics.median(times)
    return Figure(f"{middle:.0f} ms, slowest {max(times):.0f} ms", middle <= most)


async def time_seal(at: BenchInstallation, act: FinalAct) -> float:
    """Seconds; a poll each 4 ms takes less than a tenth of a processor."""
    began = time.perf_counter()
    await at.call("POST", act.address, act.body)
    while (await at.call("GET", act.document))["status"] != "completed":  # noqa: ASYNC110  (it asks another process)
        await asyncio.sleep(0.004)
    return time.perf_counter() - began


async def measure_seals(least: float) -> Figure:
    """Documents a second when eight clients send the last acts, until the last of them is completed.

    Mails that nobody has to answer leave up to four seconds after their seals, so most of them are not a part of it.
    """
    rates, notes = [], []
    async with install_mailing_program() as at:
        await send_acts(at, await prepare_acts(at, 2 * drive.CONNECTIONS))
        for _ in range(ROUNDS):
            acts = await prepare_acts(at, TOGETHER)
            watch = ProcessorWatch(at)
            rates.append(TOGETHER / await complete_all(at, acts))
            notes.append(watch.describe(TOGETHER))
            await require_completed(at, acts)
    rate = statistics.median(rates)
    return Figure(f"{rate:.1f}/s", rate >= least, notes[-1])


async def send_acts(at: BenchInstallation, acts: list[FinalAct]) -> None:
    """Send the last acts and return when all documents are completed."""
    await complete_all(at, acts)
    await require_completed(at, acts)


async def complete_all(at: BenchInstallation, acts: list[FinalAct]) -> float:
    """Return the seconds from the first request until no document waits for its seal.

    Asking each 50 ms takes a fiftieth of a processor.
    """
    async with drive.open_requests(drive.build_post(at, act.address, act.body) for act in acts) as file:
        result = await drive.drive_requests(at.port, file)
    while (await at.call("GET", f"{PATH}?status=sealing&limit=1"))["data"]:  # noqa: ASYNC110  (it asks another process)
        await asyncio.sleep(0.05)
    return time.perf_counter() - result.began


async def require_completed(at: BenchInstallation, acts: list[FinalAct]) -> None:
    """Raise RuntimeError unless all of them are completed."""
    for act in acts:
        if (status := (await at.call("GET", act.document))["status"]) != "completed":
            raise RuntimeError(f"{act.document} is {status}")


# ---------- what comes before ----------


@asynccontextmanager
async def install_mailing_program() -> AsyncIterator[BenchInstallation]:
    """The program with a mail server on the same machine, which takes every mail at once."""
    async with mail.relaying() as relay:
        relay.away = False
        async with install_program(mail.SETTINGS.format(port=relay.port)) as at:
            yield at


async def prepare_acts(at: BenchInstallation, count: int) -> list[FinalAct]:
    """Create that many documents of two dense pages, of which each lacks its last act."""
    places = asyncio.Semaphore(AT_ONCE)

    async def prepare(pdf: bytes) -> FinalAct:
        async with places:
            return await prepare_act(at, pdf)

    return await asyncio.gather(*(prepare(pdf) for pdf in make_distinct_pdfs(2, count)))


async def prepare_act(at: BenchInstallation, pdf: bytes) -> FinalAct:
    made = await at.call("POST", PATH, document(pdf, recipients=2))
    path = f"{PATH}/{made['id']}"
    people = (await at.call("POST", f"{path}/send", {}))["recipients"]
    *others, last = people
    for person in others:
        act = await open_part(at, path, person)
        await at.call("POST", act.address, act.body)
    return await open_part(at, path, last)


async def open_part(at: BenchInstallation, path: str, person: Mapping[str, Any]) -> FinalAct:
    """Read the document as the recipient; return what they complete it with."""
    link = await open_link(at, path, person["id"])
    answers = {
        field["id"]: {"kind": "typed", "text": person["name"], "hand": "b"}
        for field in person["fields"]
        if field["type"] == "signature"
    }
    return FinalAct(path, f"{link.address}/complete", link.build_completion(answers))
