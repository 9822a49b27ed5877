"""Mutations of the corpus: which ones, and each made of nothing but its name."""

import io
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from pikepdf import Pdf, PikepdfError, StreamDecodeLevel

from tests.conftest import CORPUS
from tests.manifest import TAKEN, find_expected_code, rows
from tests.mutants.harmful import HARMFUL
from tests.mutants.harmless import AROUND, WRITTEN, save_pdf
from tests.mutants.hostile import HOSTILE, rework_file

# Each of these costs seconds whatever is done to it: one mutation where others have ten.
HEAVY = ("02-", "03-", "15-", "40-")
HARMLESS = (*WRITTEN, *AROUND)
REFUSALS = frozenset(
    {"invalid_file", "file_encrypted", "file_signed", "file_unsupported", "file_too_large", "too_many_pages"}
)


@dataclass(frozen=True)
class Mutant:
    """One file: `source` below the corpus without its ending, what is done to it, and a word for the dice."""

    source: str
    change: str
    word: str

    @property
    def name(self) -> str:
        return f"{self.source}~{self.change}~{self.word}"

    @property
    def harmless(self) -> bool:
        return self.change in HARMLESS


def find_mutant(name: str) -> Mutant:
    return Mutant(*name.split("~"))


@cache
def sources() -> dict[str, str]:
    """Every file of the corpus, and what its manifest demands: `TAKEN` or the code of the refusal."""
    return {
        (folder / row["file"]).relative_to(CORPUS).with_suffix("").as_posix(): find_expected_code(row)
        for folder in (CORPUS, CORPUS / "attack")
        for row in rows(folder)
    }


@cache
def content(source: str) -> bytes:
    return (CORPUS / f"{source}.pdf").read_bytes()


@cache
def plainly(source: str) -> bytes:
    """The file with nothing in it compressed, so that damage reaches what is written there; else as it is."""
    if "bomb" in source:
        return content(source)
    try:
        with Pdf.open(io.BytesIO(content(source))) as pdf:
            return save_pdf(pdf, qdf=True, stream_decode_level=StreamDecodeLevel.generalized)
    except PikepdfError:
        return content(source)


@cache
def openable(source: str) -> bool:
    try:
        with Pdf.open(io.BytesIO(content(source))) as pdf:
            return len(pdf.pages) > 0
    except PikepdfError:
        return False


def plan(cases: int, harmless: int, seed: int, light: bool = False) -> list[Mutant]:
    """That many mutations in all, so many of them harmless, every change as often as the others.

    `light` leaves out the files that cost most.
    """
    random = Random(f"plan {seed}")
    every = [source for source in sources() if not light or cheap(source)]
    taken = [source for source in every if sources()[source] == TAKEN]
    kinds = ((HARMLESS, taken, harmless), ((*HARMFUL, *HOSTILE), every, cases - harmless))
    planned = [
        mutant(random, changes, choices, number, seed)
        for changes, choices, count in kinds
        for number in range(count)
    ]
    return random.sample(planned, len(planned))


def mutant(random: Random, changes: Sequence[str], choices: Sequence[str], number: int, seed: int) -> Mutant:
    source = random.choices(choices, [0.1 if name.startswith(HEAVY) else 1 for name in choices])[0]
    change = changes[number % len(changes)]
    if change in {**WRITTEN, **HOSTILE} and not openable(source):
        change = random.choice(list(AROUND if change in WRITTEN else HARMFUL))
    return Mutant(source, change, f"{seed}.{number}")


def cheap(source: str) -> bool:
    return len(content(source)) < 100_000 and not source.startswith(HEAVY)


def make(mutant: Mutant) -> bytes:
    """The file; the same for the same name, but for the salt of a password."""
    random = Random(mutant.name)
    if mutant.harmless:
        return {**WRITTEN, **AROUND}[mutant.change](content(mutant.source), random)
    if mutant.change in HOSTILE:
        with suppress(PikepdfError, ValueError):  # some files cannot be written once they are so wrong
            return rework_file(content(mutant.source), mutant.change, random)
        return HARMFUL["bits-flipped"](content(mutant.source), random)
    file = random.choice([content, plainly])(mutant.source)
    return HARMFUL[mutant.change](file, random)


def keep(mutant: Mutant, folder: Path) -> Path:
    """Write it down to be looked at."""
    file = folder / f"{mutant.name.replace('/', '-')}.pdf"
    file.write_bytes(make(mutant))
    return file
