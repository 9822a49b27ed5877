"""Mutations through a served program: uploaded, sent, signed by simulation and sealed, while others ask it too."""

import asyncio
import re
import sys
import time
import warnings
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import aiohttp
import pybase64

from tests.journeys.api import Answer, Api
from tests.journeys.program import Program, configuration, esign
from tests.manifest import TAKEN
from tests.mutants.alone import GIVES_UP, LONGEST, Outcome
from tests.mutants.mutants import REFUSALS, Mutant, make
from tests.mutants.readers import find_fault

LIMITS = """
[limits]
requests_per_minute = 100000
verifies_per_minute = 100000
emails_per_day = 10000000
documents_per_month = 0
"""
AT_ONCE = 2
GAVE_UP = re.compile(r"gave up on a job \(inspect\): ([^\n\"]*)")
MIB = 2**20


@dataclass
class Course:
    """What was seen of the server: answers of /healthz and the machine's own delays in ms, memory in bytes.

    `server` is its resident memory each time it was looked at; `mapped` and `resident` are the most of any worker.
    """

    waits: list[float] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    server: list[int] = field(default_factory=list)
    resident: int = 0
    mapped: int = 0
    workers: set[int] = field(default_factory=set)


@dataclass
class MutantServer:
    """A running program, a key of test mode for it, and whoever makes the files."""

    program: Program
    api: Api
    makers: ProcessPoolExecutor
    folder: Path
    read: int = 0

    async def carry(self, mutant: Mutant) -> Outcome:
        """Upload it; what is taken is signed, sealed and, where harmless, verified."""
        loop = asyncio.get_running_loop()
        file = await loop.run_in_executor(self.makers, make, mutant)
        began = time.monotonic()
        answer = await self.api.call("POST", "/documents", body(mutant, file))
        seconds = time.monotonic() - began
        late = f"the answer took {seconds:.1f} s" if seconds > LONGEST else None
        if answer.status != 201:
            fault = self.judge_refusal(mutant, answer) or late
            code, reason = answer.code if answer.status < 500 else str(answer.status), describe_answer(answer)
            return Outcome(mutant, code, seconds, fault, reason=reason)
        began = time.monotonic()
        taken = Outcome(mutant, TAKEN, seconds, late)
        try:
            await self.seal(mutant, answer.body)
        except AssertionError as fault:
            return replace(taken, fault=str(fault))
        sealing = time.monotonic() - began
        return taken if sealing <= LONGEST else replace(taken, fault=f"sealing took {sealing:.1f} s")

    def judge_refusal(self, mutant: Mutant, answer: Answer) -> str | None:
        """What is wrong with a refusal."""
        gave_up = [reason for reason in self.reasons() if not reason.startswith(GIVES_UP)]
        if mutant.harmless or answer.status != 400 or answer.code not in REFUSALS:
            return f"refused: {describe_answer(answer)} {gave_up or ''}"
        return gave_up[0] if gave_up else None

    def reasons(self) -> list[str]:
        """Why workers gave up since the last time this was asked."""
        with self.program.log.open("rb") as log:
            log.seek(self.read)
            said = log.read()
            self.read += len(said)
        return GAVE_UP.findall(said.decode())

    async def seal(self, mutant: Mutant, document: Any) -> None:
        """Raises `AssertionError` in words where no valid sealed file comes of it."""
        answer = await self.api.call(
            "POST", f"/test/documents/{document['id']}/simulate", {"action": "complete"}
        )
        assert answer.status == 200, f"not signed: {answer.status} {answer.content[:500]!r}"
        until = time.monotonic() + 2 * LONGEST
        while document["status"] != "completed":
            assert time.monotonic() < until, f"not sealed: {document['status']}"
            await asyncio.sleep(0.02)
            document = await self.api.get(document["id"])
            assert not document["sealError"], f"not sealed: {document['sealError']}"
        pages = document["seal"]["pageCount"] - document["pageCount"]
        assert pages in (1, 2), f"{pages} pages more than it had"
        if mutant.harmless:
            file = await self.api.file(document["id"])
            verdict = await self.api.ok("POST", "/verify", {"file": pybase64.b64encode(file).decode()})
            assert verdict["result"] == "valid", f"verified as {verdict['result']}"
            wrong = await asyncio.to_thread(find_fault, file, self.folder / f"{document['id']}.pdf")
            assert not wrong, wrong


def body(mutant: Mutant, file: bytes) -> dict[str, Any]:
    """A document that is sent to one signer at once."""
    fields = [{"type": "signature", "page": 1, "x": 10, "y": 10}]
    signer = {"name": "Ada Lovelace", "email": "ada@example.test", "fields": fields}
    encoded = pybase64.b64encode(file).decode()
    return {
        "title": mutant.change,
        "fileName": "a.pdf",
        "file": encoded,
        "recipients": [signer],
        "send": True,
    }


def describe_answer(answer: Answer) -> str:
    return str(answer.body["error"]["message"]) if answer.status < 500 else repr(answer.content[:500])


@asynccontextmanager
async def serve_program(folder: Path) -> AsyncIterator[MutantServer]:
    program = Program(configuration(folder, LIMITS))
    await program.start()
    try:
        made = await asyncio.to_thread(
            esign, "keys", "create", "--name", "mutants", "--test", "--config", program.config
        )
        timeout = aiohttp.ClientTimeout(total=4 * LONGEST)
        with ProcessPoolExecutor(1, get_context("spawn"), warnings.simplefilter, ("ignore",)) as makers:
            async with aiohttp.ClientSession(timeout=timeout) as session:
                yield MutantServer(program, Api(session, program.base, made.out.strip()), makers, folder)
    finally:
        if program.process.returncode is None:
            await program.stop()


@asynccontextmanager
async def watch_program(program: Program) -> AsyncIterator[Course]:
    """What is seen of the server as long as this lasts."""
    course = Course()
    port = program.base.rpartition(":")[2]
    command = (sys.executable, "-m", "tests.mutants.watch", port)
    watcher = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    tasks = [asyncio.create_task(listen(watcher, course)), asyncio.create_task(weigh(program, course))]
    try:
        yield course
        assert watcher.returncode is None, "the watcher ended: the server did not answer it"
    finally:
        with suppress(ProcessLookupError):
            watcher.kill()
        await watcher.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def listen(watcher: asyncio.subprocess.Process, course: Course) -> None:
    assert watcher.stdout is not None
    async for line in watcher.stdout:
        wait, delay = map(float, line.split())
        course.waits.append(wait)
        course.delays.append(delay)


async def weigh(program: Program, course: Course) -> None:
    """Peaks belong to a process, so that now and then is enough."""
    while True:
        course.server.append(memory(program.process.pid)["VmRSS"])
        for pid in program.children():
            with suppress(FileNotFoundError, ProcessLookupError, KeyError):
                of = memory(pid)
                course.resident = max(course.resident, of["VmHWM"])
                course.mapped = max(course.mapped, of["VmPeak"])
                course.workers.add(pid)
        await asyncio.sleep(0.1)


def memory(pid: int) -> dict[str, int]:
    """Bytes, by the names of the kernel."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {
        name: int(rest.split()[0]) * 1024
        for name, _, rest in (line.partition(":") for line in lines)
        if name[:2] == "Vm"
    }


async def run(
    mutants: list[Mutant], folder: Path, tell: Callable[[Outcome], None]
) -> tuple[list[Outcome], Course]:
    """What came of each, and of the server meanwhile; raises if it is no longer the same process."""
    places = asyncio.Semaphore(AT_ONCE)
    async with serve_program(folder) as server:
        pid = server.program.process.pid

        async def one(mutant: Mutant) -> Outcome:
            async with places:
                outcome = await server.carry(mutant)
            tell(outcome)
            return outcome

        async with watch_program(server.program) as course:
            outcomes = await asyncio.gather(*map(partial(one), mutants))
        assert server.program.process.returncode is None and server.program.process.pid == pid
    return outcomes, course
