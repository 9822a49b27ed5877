"""Verifies the seal of every completed document with a PDF worker: what `esign doctor --seals` adds."""

from collections.abc import AsyncIterator
from contextlib import closing

from esign import authority
from esign.actions.server.diagnosis import CheckLine, CheckState
from esign.actions.verification.verify_trails import is_sealed_here
from esign.config import Config
from esign.core.errors import Problem
from esign.pdf.report import VerificationCase
from esign.pdf.worker.workers import WorkerBusy, WorkerFailed, Workers
from esign.store.document import sealed_files
from esign.store.engine.connections import FILE
from esign.store.engine.snapshot_reader import SnapshotQueries, SnapshotReader
from esign.system.clock import SystemClock

REMEDY = "Put these files back from a backup, and find out who changed them: docs/verifying.md."


async def check_seals(config: Config) -> CheckLine:
    """Verify each sealed file and each certificate of completion; it takes a tenth of a second for each."""
    place, given = config.storage.data_dir, authority.find_configured_seal(config.seal)
    try:
        roots = (*authority.read_trusted_roots(config.seal.trust), *authority.find_known_roots(place, given))
        own = authority.find_known_own(place, given)
    except authority.AuthorityError as error:
        return CheckLine("seals_verified", CheckState.NOT_CHECKED, error.sentence)
    workers, faults, count = Workers(), list[str](), 0
    try:
        with closing(SnapshotReader(place / FILE)) as reader:
            async for document_id, content in walk_sealed_files(SnapshotQueries(reader)):
                count += 1
                case = VerificationCase(roots, SystemClock().now(), own)
                if fault := await find_seal_fault(workers, content, case):
                    faults.append(f"{document_id}: {fault}")
    finally:
        await workers.close()
    if faults:
        words = f"{len(faults)} of {count} seals do not hold"
        return CheckLine("seals_verified", CheckState.WRONG, words, REMEDY, faults)
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
    """Return why the seal of a file does not hold, or None."""
    try:
        found = await workers.verify(content, case)
    except (Problem, WorkerFailed, WorkerBusy) as failure:
        return f"its seal cannot be verified: {failure}"
    return None if is_sealed_here(found) else "its seal does not hold, or is not of this installation"
