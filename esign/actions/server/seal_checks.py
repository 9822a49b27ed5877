"""Verifies the seal of every completed document with a PDF worker: what `esign doctor --seals` adds."""

from collections.abc import AsyncIterator
from contextlib import closing

from esign import authority
from esign.actions.server.diagnosis import CheckLine, CheckState
from esign.actions.verification.as_sealed import verify_as_sealed
from esign.actions.verification.verify_trails import is_sealed_here
from esign.config import Config
from esign.core.errors import Problem
from esign.pdf.report import VerificationCase
from esign.pdf.worker.workers import WorkerBusy, WorkerFailed, Workers
from esign.store.document import sealed_files
from esign.store.engine.connections import FILE
from esign.store.engine.snapshot_reader import SnapshotQueries, SnapshotReader
from esign.system.clock import SystemClock

AGAIN = "Run the command again; if it stays so, verify these files with: esign verify FILE"
REMEDY = "Put these files back from a backup, and find out who changed them: docs/verifying.md."


async def check_seals(config: Config, workers: Workers) -> CheckLine:
    """Verify each sealed file and each certificate of completion; it takes a tenth of a second for each.

    Closes the workers. What they could not verify is a warning, and no damage.
    """
    place, given = config.storage.data_dir, authority.find_configured_seal(config.seal)
    try:
        roots = (*authority.read_trusted_roots(config.seal.trust), *authority.find_known_roots(place, given))
        own = authority.find_known_own(place, given)
    except authority.AuthorityError as error:
        return CheckLine("seals_verified", CheckState.NOT_CHECKED, error.sentence)
    faults, unsure, count = list[str](), list[str](), 0
    try:
        with closing(SnapshotReader(place / FILE)) as reader:
            async for document_id, content in walk_sealed_files(SnapshotQueries(reader)):
                count += 1
                case = VerificationCase(roots, SystemClock().now(), own)
                try:
                    fault = await find_seal_fault(workers, content, case)
                except (Problem, WorkerFailed, WorkerBusy) as failure:
                    unsure.append(f"{document_id}: its seal could not be verified: {failure}")
                else:
                    faults += [f"{document_id}: {fault}"] if fault else []
    finally:
        await workers.close()
    if faults:
        words = f"{len(faults)} of {count} seals do not hold"
        return CheckLine("seals_verified", CheckState.WRONG, words, REMEDY, [*faults, *unsure])
    if unsure:
        words = f"{len(unsure)} of {count} seals could not be verified, which says nothing of them"
        return CheckLine("seals_verified", CheckState.WARNING, words, AGAIN, unsure)
    return CheckLine("seals_verified", CheckState.OK, f"every seal holds ({count:,} files)")


async def walk_sealed_files(queries: SnapshotQueries) -> AsyncIterator[tuple[str, bytes]]:
    """Yield the document and the content of each file that was sealed here."""
    place = ""
    while found := await sealed_files.find_after(queries, place, 100):
        for each in found:
            for sha256 in (each.sealed, each.certificate):
                yield each.document_id, await sealed_files.read_content(queries, sha256)
        place = found[-1].document_id


async def find_seal_fault(workers: Workers, content: bytes, case: VerificationCase) -> str | None:
    """Return why the seal of a file does not hold, or None.

    Raise Problem, WorkerFailed or WorkerBusy where no worker could verify it, which says nothing of the seal.
    """
    try:
        found = await verify_as_sealed(lambda case: workers.verify(content, case), case)
    except Problem as failure:
        if failure.code == "unavailable" or isinstance(failure.__cause__, WorkerFailed):
            raise
        return f"its seal cannot be verified: {failure}"
    return None if is_sealed_here(found) else "its seal does not hold, or is not of this installation"
