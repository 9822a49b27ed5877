"""Mutations through the workers alone: inspected, and sealed where they are taken."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from esign.core.errors import Problem
from esign.pdf.inspection import UploadLimits
from esign.pdf.report import VerificationCase
from esign.pdf.seal_order import DrawnField, SealOrder
from esign.pdf.worker.workers import WorkerFailed, Workers
from tests.manifest import TAKEN
from tests.mutants.mutants import REFUSALS, Mutant, make
from tests.pdf.sealing import a_field, the_facts
from tests.pki import NOW, a_seal, an_authority

LONGEST = 30  # seconds that one answer may take
SIGNATURE: DrawnField = a_field("signature", kind="typed", text="Ada Lovelace", hand="a")

# Why a worker may give up on a file; anything else is a program that met what its authors did not think of.
GIVES_UP = ("it took longer", "it used more processor time", "it needed more memory", "the system ended it")


@dataclass(frozen=True)
class Outcome:
    """What came of a mutation: `TAKEN` or a code, how long it took, and what was wrong with that if anything was."""

    mutant: Mutant
    answer: str
    seconds: float
    fault: str | None = None
    sealed: bytes = b""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.mutant.name}: {self.answer} after {self.seconds:.1f} s: {self.fault or self.reason}"


def limits() -> UploadLimits:
    return UploadLimits(file_bytes=25 * 2**20, pages=500)


def judge_refusal(mutant: Mutant, problem: Problem) -> str | None:
    """What is wrong with a refusal."""
    cause = problem.__cause__
    if mutant.harmless:
        return f"harmless, and refused: {problem.message} {cause or ''}"
    if problem.code not in REFUSALS:
        return f"refused with a code that no file is refused with: {problem.message}"
    if isinstance(cause, WorkerFailed) and not cause.reason.startswith(GIVES_UP):
        return cause.reason
    return None


async def carry(workers: Workers, mutant: Mutant) -> Outcome:
    """Inspect it, and seal and verify it if it is taken."""
    file = await asyncio.to_thread(make, mutant)
    began = time.monotonic()
    authority = an_authority()
    try:
        inspection = await workers.inspect(file, limits())
    except Problem as problem:
        seconds = time.monotonic() - began
        late = f"the answer took {seconds:.1f} s" if seconds > LONGEST else None
        reason = str(problem.__cause__ or problem.message)
        return Outcome(mutant, problem.code, seconds, judge_refusal(mutant, problem) or late, reason=reason)
    seconds, began = time.monotonic() - began, time.monotonic()
    order = SealOrder(inspection.prepared, (SIGNATURE,), the_facts(), NOW)
    try:
        made = await workers.seal(order, a_seal(authority).credential)
    except (WorkerFailed, Problem) as failure:
        return Outcome(mutant, TAKEN, seconds, f"not sealed: {failure}")
    seconds = max(seconds, time.monotonic() - began)
    wrong = [] if made.page_count == len(inspection.pages) + 1 else [f"{made.page_count} pages"]
    if mutant.harmless:
        verdict = await workers.verify(made.sealed, VerificationCase((authority.der,), NOW))
        wrong += [] if verdict["result"] == "valid" else [f"verified as {verdict['result']}"]
    wrong += [f"took {seconds:.1f} s"] if seconds > LONGEST else []
    return Outcome(mutant, TAKEN, seconds, ", ".join(wrong) or None, made.sealed)


async def each(
    mutants: list[Mutant], act: Callable[[Mutant], Awaitable[Outcome]], at_once: int
) -> list[Outcome]:
    """What comes of all, so many at once."""
    places = asyncio.Semaphore(at_once)

    async def one(mutant: Mutant) -> Outcome:
        async with places:
            return await act(mutant)

    return await asyncio.gather(*map(one, mutants))
