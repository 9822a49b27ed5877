"""Damaged, hostile and harmlessly changed PDFs to a served program: python -m tests.mutants [--cases N] [--seed N]

They are made of the corpus. A harmless one has to be taken, sealed and found valid by esign, qpdf and pdfsig; of any
other one nothing but a seal or a refusal in words may come, within 30 s, while /healthz answers and no worker outgrows
its limit. What goes wrong is told by name: `--only NAME` does it again, `--keep FOLDER NAME` writes the file down.
"""

import argparse
import asyncio
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

from esign.pdf.worker import sandbox
from esign.pdf.worker.workers import Workers
from tests.conftest import CORPUS
from tests.mutants import alone
from tests.mutants.alone import Outcome
from tests.mutants.mutants import Mutant, find_mutant, keep, plan
from tests.mutants.served import MIB, Course, run

P99 = 100  # ms of /healthz
GROWTH = 64 * MIB  # of the server, from when it is warm to the end
WORKER = sandbox.LIMITS[resource.RLIMIT_AS]
AGAIN = "do it again with: python -m tests.mutants --only"


def share(sorted_values: list[float], part: float) -> float:
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * part))]


def report(outcomes: list[Outcome], course: Course, seconds: float) -> bool:
    """Print what came of it; whether all is well."""
    for word, chosen in (("harmless", True), ("harmful", False)):
        of = [outcome for outcome in outcomes if outcome.mutant.harmless is chosen]
        print(
            f"{len(of)} {word}:",
            *(f"{n} {answer}" for answer, n in Counter(o.answer for o in of).most_common()),
        )
    slowest = sorted(outcomes, key=lambda outcome: -outcome.seconds)[:5]
    print("slowest answers:", *slowest, sep="\n  ")
    waits, delays = sorted(course.waits), sorted(course.delays)
    warm, last = max(course.server[: len(course.server) // 4 + 1]), course.server[-1]
    figures = ", ".join(f"p{part} {share(waits, part / 100):.1f} ms" for part in (50, 99, 100))
    print(f"/healthz, asked {len(waits)} times: {figures} (at most {P99} ms in 99 %)")
    print(f"the machine's own delay, p99: {share(delays, 0.99):.1f} ms")
    print(
        f"server: {warm / MIB:.0f} MiB warm, {last / MIB:.0f} MiB at the end (at most {GROWTH // MIB} MiB more)"
    )
    print(
        f"workers: {len(course.workers)} processes, at most {course.resident / MIB:.0f} MiB in memory"
        f" and {course.mapped / MIB:.0f} MiB mapped (at most {WORKER // MIB} MiB)"
    )
    faults = [outcome for outcome in outcomes if outcome.fault]
    print(f"{len(outcomes)} mutations in {seconds:.0f} s, {len(faults)} faults")
    calm = share(waits, 0.99) <= P99 and last - warm <= GROWTH and course.mapped <= WORKER
    return not faults and calm


def tell(outcome: Outcome) -> None:
    if outcome.fault:
        print(f"FAULT {outcome}\n  {AGAIN} {outcome.mutant.name}", file=sys.stderr, flush=True)


async def once(mutant: Mutant) -> Outcome:
    workers = Workers()
    try:
        return await alone.carry(workers, mutant)
    finally:
        await workers.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--harmless", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--keep", nargs=2, metavar=("FOLDER", "NAME"))
    asked = parser.parse_args()
    if not CORPUS.is_dir():
        parser.error(f"there is no corpus at {CORPUS}")
    warnings.simplefilter("ignore")  # of pikepdf, about files that are meant to be odd
    if asked.keep:
        print(keep(find_mutant(asked.keep[1]), Path(asked.keep[0])))
        return 0
    if asked.only:
        outcome = asyncio.run(once(find_mutant(asked.only)))
        print(outcome)
        return 1 if outcome.fault else 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        mutants = plan(asked.cases, asked.harmless, asked.seed)
        outcomes, course = asyncio.run(run(mutants, Path(folder), tell))
    return 0 if report(outcomes, course, time.monotonic() - began) else 1


if __name__ == "__main__":
    sys.exit(main())
