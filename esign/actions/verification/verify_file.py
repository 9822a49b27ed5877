"""Verifies the signatures of a PDF, for an organisation or for the public. The file is not stored."""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.actor import Owner
from esign.core.errors import Problem
from esign.core.sentence import say
from esign.pdf.report import Verification, VerificationCase
from esign.pdf.worker.queue_turn import STRANGERS, PdfJobKind, QueueTurn
from esign.runtime import Runtime
from esign.store.document import documents, public_records
from esign.store.document.public_records import PublicRecord

# Processor time for a file that anyone may send. A file of 36 MiB with a dozen signatures takes less than two.
CPU_SECONDS = 5


class Match(StrEnum):
    """The relation of a file to a document sealed here.

    It may be the sealed file or the certificate byte for byte, other bytes with the same seal, the seal of a
    document that was deleted, or unrelated.
    """

    SEALED = "sealed"
    CERTIFICATE = "certificate"
    OTHER_BYTES = "other_bytes"
    DELETED = "deleted"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class VerifiedFile:
    """The result of a public verification.

    `record` is that of the document that was asked for, otherwise of the document that the seal names.
    """

    verification: Verification
    document_id: str | None
    record: PublicRecord | None
    match: Match


async def verify(runtime: Runtime, owner: Owner, file: bytes) -> Verification:
    """Return the verdict against the roots of this installation and those it trusts.

    `documentId` is set only if the file is byte for byte the sealed file, or the certificate, of a document of
    the owner. Raises `file_too_large`, `too_many_pages`, `invalid_file`, `file_encrypted`, and what the queue
    refuses with.
    """
    verification = await verify_in_worker(
        runtime, file, QueueTurn(PdfJobKind.PREVIEW, owner.organisation_id, cpu_seconds=CPU_SECONDS)
    )
    if verification["issuedHere"]:
        verification["documentId"] = await documents.find_sealed(runtime.db, owner, verification["sha256"])
    return verification


async def verify_for_anybody(
    runtime: Runtime, file: bytes, asked: str | None = None, *, source: str = "", owner: Owner | None = None
) -> VerifiedFile:
    """Return the same verdict as `verify`, and the relation of the file to the document `asked` for.

    Requests without an owner wait behind all others, one file at a time for each `source`, which is their
    network.
    """
    stranger = QueueTurn(PdfJobKind.STRANGER, STRANGERS, source)
    turn = (
        QueueTurn(PdfJobKind.PREVIEW, owner.organisation_id, cpu_seconds=CPU_SECONDS) if owner else stranger
    )
    verification = await verify_in_worker(runtime, file, turn)
    named = (
        verification["audit"]["documentId"] if verification["issuedHere"] and verification["audit"] else None
    )
    document_id = asked or named
    record = await public_records.find(runtime.db, document_id) if document_id else None
    same = named is not None and named == document_id
    return VerifiedFile(verification, document_id, record, match_file(verification["sha256"], record, same))


def match_file(sha256: str, record: PublicRecord | None, same_seal: bool) -> Match:
    """Return the relation of a file to the document of the record."""
    if record is None:
        return Match.NOTHING
    if sha256 == record.sealed:
        return Match.SEALED
    if sha256 == record.certificate:
        return Match.CERTIFICATE
    if not same_seal:
        return Match.NOTHING
    return Match.DELETED if record.deleted_at is not None else Match.OTHER_BYTES


async def verify_in_worker(runtime: Runtime, file: bytes, turn: QueueTurn) -> Verification:
    """Verify the file in a worker. Raises `file_too_large` and `too_many_pages`."""
    limits = runtime.config.limits
    if len(file) > limits.file_mib * 2**20:
        raise Problem("file_too_large", say("The file is larger than {mib} MiB.", mib=limits.file_mib))
    roots = (*runtime.trusted, *runtime.roots)
    case = VerificationCase(roots, runtime.clock.now(), tuple(runtime.own))
    verification = await runtime.pdf.verify(file, case, turn)
    if verification["pageCount"] > limits.pages:
        raise Problem(
            "too_many_pages",
            say("The file has more than {n} pages.", one="The file has more than {n} page.", n=limits.pages),
        )
    return verification
