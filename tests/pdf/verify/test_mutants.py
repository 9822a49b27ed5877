"""A handful of the mutations of `python -m tests.mutants`: taken and sealed, or refused in words."""

from collections import Counter
from pathlib import Path

import pytest
import pytest_asyncio

from esign.core.errors import Problem
from esign.pdf.inspection import UploadLimits
from esign.pdf.intake.inspect import inspect_upload
from esign.pdf.worker.workers import WorkerFailed, Workers
from tests.manifest import TAKEN
from tests.mutants.alone import Outcome, carry, each, judge_refusal
from tests.mutants.harmful import HARMFUL
from tests.mutants.harmless import AROUND, WRITTEN
from tests.mutants.hostile import HOSTILE
from tests.mutants.mutants import REFUSALS, find_mutant, make, plan
from tests.mutants.readers import pdfsig, qpdf

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.filterwarnings("ignore::UserWarning"),  # of pikepdf, about files that are meant to be odd
]

CASES, HARMLESS, SEED = 150, 45, 6
BROKEN = (  # ended a worker once
    "13-mixed_sizes-sizes~other-numbers~2.2185",  # a page is lost when it is written
    "17-empty_sigfield-doc~odd-numbers~2.2583",  # a number of an annotation is beyond every integer
)
READ = 10  # sealed files that programs of others look at


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def outcomes() -> list[Outcome]:
    workers = Workers()
    try:
        return await each(plan(CASES, HARMLESS, SEED, light=True), lambda one: carry(workers, one), 2)
    finally:
        await workers.close()


def test_each_is_sealed_or_refused_in_words(outcomes: list[Outcome]) -> None:
    faults = [outcome for outcome in outcomes if outcome.fault]
    again = "do it again with: python -m tests.mutants --only"
    assert not faults, "\n".join(f"{fault}\n  {again} {fault.mutant.name}" for fault in faults)


@pytest.mark.parametrize("name", BROKEN)
def test_what_ended_a_worker_once_is_called_damaged(name: str, limits: UploadLimits) -> None:
    with pytest.raises(Problem, match="The file is damaged"):
        inspect_upload(make(find_mutant(name)), limits)


def test_the_harmless_ones_are_taken_and_others_read_what_is_sealed(
    outcomes: list[Outcome], tmp_path: Path
) -> None:
    harmless = [outcome for outcome in outcomes if outcome.mutant.harmless]
    assert [outcome.answer for outcome in harmless] == [TAKEN] * HARMLESS
    for number, outcome in enumerate(harmless[:READ]):
        file = tmp_path / f"{number}.pdf"
        file.write_bytes(outcome.sealed)
        assert (qpdf(file), pdfsig(file)) == ("ok", "ok"), outcome


def test_the_others_end_in_both_ways_and_every_change_had_its_turn(outcomes: list[Outcome]) -> None:
    answers = Counter(outcome.answer for outcome in outcomes if not outcome.mutant.harmless)
    assert answers[TAKEN] > 10 and answers["invalid_file"] > 10
    assert answers.keys() <= REFUSALS | {TAKEN}
    changes = {outcome.mutant.change for outcome in outcomes}
    assert changes == {*WRITTEN, *AROUND, *HARMFUL, *HOSTILE}


def test_a_mutation_is_made_of_its_name_alone() -> None:
    mutants = plan(80, 40, SEED, light=True)
    assert mutants == plan(80, 40, SEED, light=True) != plan(80, 40, SEED + 1, light=True)
    for mutant in mutants:
        assert find_mutant(mutant.name) == mutant
        if mutant.change not in ("restricted", "bombs"):  # a password is salted, a bomb takes a while
            assert make(mutant) == make(mutant), mutant.name


def test_what_a_refusal_may_not_be_is_told() -> None:
    harmful, harmless = sorted(plan(2, 1, SEED, light=True), key=lambda mutant: mutant.harmless)
    assert judge_refusal(harmful, Problem("invalid_file")) is None
    assert judge_refusal(harmless, Problem("invalid_file"))
    assert judge_refusal(harmful, Problem("document_not_ready"))
    for reason, fine in (("it took longer than 30 seconds", True), ("KeyError: '/Kids'", False)):
        problem = Problem("invalid_file")
        problem.__cause__ = WorkerFailed(reason)
        assert (judge_refusal(harmful, problem) is None) is fine
