"""What comes of every file of the corpus, as a table in Markdown: python -m tests.corpus

Each is inspected, and sealed with a field of every type where it is taken, by the limited workers of the product; what
is sealed is judged by esign, qpdf and pdfsig. Ends with an error if anything is not as the manifest demands.
"""

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from esign.core.errors import Problem
from esign.pdf.inspection import UploadLimits
from esign.pdf.report import VerificationCase
from esign.pdf.seal_order import SealOrder
from esign.pdf.worker.workers import WorkerFailed, Workers
from tests.conftest import CORPUS
from tests.manifest import TAKEN, find_expected_code, rows
from tests.mutants.readers import pdfsig, qpdf
from tests.pdf.sealing import every_type, the_facts
from tests.pki import NOW, a_seal, an_authority

COLUMNS = (
    "File",
    "Class",
    "Demanded",
    "Outcome",
    "Repaired",
    "Removed",
    "Pages",
    "Sealed",
    "esign",
    "qpdf",
    "pdfsig",
)
NONE = "–"
AT_ONCE = 8  # fewer than the queue lets one party have waiting


@dataclass(frozen=True)
class CorpusRow:
    """One file; `judged` is what esign, qpdf and pdfsig say of it once it is sealed."""

    name: str
    kind: str
    demanded: str
    outcome: str
    repaired: str = NONE
    removed: str = NONE
    pages: str = NONE
    sealed: str = NONE
    judged: tuple[str, str, str] = (NONE, NONE, NONE)

    @property
    def right(self) -> bool:
        good = ("valid", "ok", "ok") if self.demanded == TAKEN else (NONE,) * 3
        return self.outcome == self.demanded and self.judged == good

    def __str__(self) -> str:
        cells = (self.name, self.kind, self.demanded, self.outcome, self.repaired, self.removed, self.pages)
        return f"| {' | '.join((*cells, self.sealed, *self.judged))} |"


def files() -> Iterator[tuple[Path, dict[str, str]]]:
    for folder in (CORPUS, CORPUS / "attack"):
        for row in rows(folder):
            yield folder / row["file"], row


async def judge(workers: Workers, path: Path, row: dict[str, str], folder: Path) -> CorpusRow:
    known = CorpusRow(
        path.relative_to(CORPUS).as_posix(), row.get("class", "attack"), find_expected_code(row), ""
    )
    authority = an_authority()
    try:
        inspection = await workers.inspect(
            await asyncio.to_thread(path.read_bytes), UploadLimits(25 * 2**20, 500)
        )
    except Problem as problem:
        return CorpusRow(known.name, known.kind, known.demanded, problem.code)
    seen = (
        "yes" if inspection.repaired else "no",
        ", ".join(inspection.removed) or NONE,
        str(len(inspection.pages)),
    )
    order = SealOrder(inspection.prepared, every_type(len(inspection.pages)), the_facts(), NOW)
    try:
        made = await workers.seal(order, a_seal(authority).credential)
    except (Problem, WorkerFailed) as failure:
        return CorpusRow(known.name, known.kind, known.demanded, TAKEN, *seen, f"no: {failure}")
    verdict = await workers.verify(made.sealed, VerificationCase((authority.der,), NOW))
    others = await asyncio.to_thread(read, made.sealed, folder / path.name)
    judged = (verdict["result"], *others)
    return CorpusRow(known.name, known.kind, known.demanded, TAKEN, *seen, f"{made.page_count} pages", judged)


def read(file: bytes, path: Path) -> tuple[str, str]:
    path.write_bytes(file)
    return qpdf(path), pdfsig(path)


async def table() -> list[CorpusRow]:
    workers = Workers()
    try:
        with tempfile.TemporaryDirectory() as folder:
            places = asyncio.Semaphore(AT_ONCE)

            async def judge_in_turn(path: Path, row: dict[str, str]) -> CorpusRow:
                async with places:
                    return await judge(workers, path, row, Path(folder))

            return await asyncio.gather(*(judge_in_turn(path, row) for path, row in files()))
    finally:
        await workers.close()


def main() -> int:
    if not CORPUS.is_dir():
        sys.exit(f"there is no corpus at {CORPUS}")
    found = asyncio.run(table())
    print(f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}", *found, sep="\n")
    wrong = [row for row in found if not row.right]
    taken = sum(row.outcome == TAKEN for row in found)
    print(
        f"\n{len(found)} files: {taken} taken and sealed, {len(found) - taken} refused, {len(wrong)} not as demanded"
    )
    for row in wrong:
        print(f"NOT AS DEMANDED {row}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
