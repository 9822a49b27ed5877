"""Put a sealed file that somebody kept back into an installation that was restored from an older backup.

The file has to be as it was sealed here, and its audit trail has to be the one here, or to go on from its end. Then the
document is completed with the bytes of the file, instead of being sealed again with others.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from esign.actions.verification import verify_trails
from esign.actions.verification.as_sealed import verify_as_stamped
from esign.authority import SealChange
from esign.core.actor import Mode
from esign.core.document import audit_file
from esign.core.document import put_back as state
from esign.core.document.audit import AuditEntry
from esign.core.document.document import Document, Seal, Status
from esign.core.errors import Problem
from esign.core.instant import HOUR, MINUTE, SECOND, Instant, parse, rfc3339
from esign.core.language import choose_language
from esign.core.seal_credential import TEST_MARK, Credential
from esign.pdf.report import AuditHead, Signature, Timestamp, Verification, VerificationCase
from esign.pdf.seal_order import CertificateOrder, SealedParts
from esign.pdf.verdict_sentences import EXPIRED
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import WorkerBusy, WorkerFailed, Workers
from esign.store.document import blobs, documents, trails
from esign.store.document import put_back as store
from esign.store.document.put_back import SealedContents
from esign.store.engine.database import Database, Transaction
from esign.store.people import organisations
from esign.store.queue import audit_entries
from esign.system.vault import Vault

SEALING = QueueTurn(PdfJobKind.SEAL)
SAME_AGAIN = "run the command again"
ALTERED = "what no hash covers in its seal is not as it was written here; ask for the file as it was sent"
# By how much a time stamp may differ from the clock when it is accepted (`docs/timestamps.md`).
STAMP_SKEW = HOUR


class CannotPutBack(Exception):
    """The file is refused; the message is a clause that begins in lower case and has no full stop."""


@dataclass(frozen=True, slots=True)
class PutBackTools:
    """What putting back works with. `case` says what is trusted and what was sealed here, and has the time.

    `changes` are those of the seal certificate, the newest first.
    """

    db: Database
    vault: Vault
    workers: Workers
    case: VerificationCase
    credentials: dict[Mode, Credential]
    changes: Sequence[SealChange]


@dataclass(frozen=True, slots=True)
class PutBack:
    """A file that is in its document: `done` unless it was there before, with so many entries of its trail adopted."""

    document_id: str
    done: bool
    adopted: int = 0


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A file with one seal of this installation over all of it, what it carries, and the trail under the seal.

    `stamp` is its time stamp, which is trusted.
    """

    content: bytes
    sha256: str
    pages: int
    signature: Signature
    head: AuditHead
    parts: SealedParts
    trail: Sequence[AuditEntry]
    sealed_at: Instant
    stamp: Timestamp | None


@dataclass(frozen=True, slots=True)
class Meeting:
    """A document here and what the file adds to it: the document after those entries, and the entries.

    `end` has number and hash of the last entry here.
    """

    before: Document
    end: tuple[int, bytes]
    after: Document
    adopted: Sequence[AuditEntry]


async def put_back(tools: PutBackTools, content: bytes) -> PutBack:
    """Complete the document of a sealed file with this file.

    Raises `CannotPutBack`, and then nothing was changed.
    """
    file = await read_sealed_file(tools, content)
    document = await find_document(tools, file)
    if document.seal is not None:
        if document.seal.sha256 != file.sha256:
            refuse(f"{document.id} has another sealed file here; both stay valid, and nothing is replaced")
        await require_content(tools.db, document)
        return PutBack(document.id, done=False)
    meeting = await meet(tools, document, file)
    certificate = await make_certificate(tools, document, file)
    seal = make_seal(file, hashlib.sha256(certificate).hexdigest())
    now = tools.case.now
    outcome = state.put_back(meeting.after, seal, len(meeting.adopted), now)

    async def write(tx: Transaction) -> None:
        current = await documents.get(tx, document.id)
        end = await trails.find_end(tx, document.id)
        moved = meeting.adopted and (end.seq, end.hash) != meeting.end
        if current != meeting.before or moved:
            refuse(f"{document.id} was changed meanwhile; {SAME_AGAIN}")
        contents = SealedContents(file.content, certificate)
        await store.save(tx, outcome, current, meeting.adopted, contents, tools.vault, now)

    await tools.db.write(write)
    return PutBack(document.id, done=True, adopted=len(meeting.adopted))


def refuse(reason: str) -> NoReturn:
    """Raise `CannotPutBack` with the reason."""
    raise CannotPutBack(reason)


# ---------- the file ----------


async def read_sealed_file(tools: PutBackTools, content: bytes) -> SealedFile:
    """Return the file if it is as it was sealed here. Raises `CannotPutBack`."""
    try:
        found = await verify_as_stamped(lambda case: tools.workers.verify(content, case), tools.case)
        signature, head = judge(found)
        parts = await tools.workers.ask("parts", SealedParts, content)
    except Problem as problem:
        reason = "it is not a PDF" if b"%PDF-" not in content[:1024] else problem.message.rstrip(".")
        refuse(reason[0].lower() + reason[1:])
    except (WorkerFailed, WorkerBusy) as failure:
        refuse(f"it cannot be examined: {failure}")
    if not parts.as_written:
        refuse(ALTERED)
    if parts.alone:
        refuse("it is the certificate of completion alone; name the sealed document, which contains it")
    chain = audit_file.recompute(parts.trail)
    if (
        not chain.entries
        or chain.broken
        or (chain.document_id, chain.entries, chain.head.hex())
        != (
            head["documentId"],
            head["entries"],
            head["hash"],
        )
    ):
        refuse("the audit trail in it is not the one that its seal names")
    trail = audit_file.list_entries(parts.trail)
    sealed_at = require_seal_time(tools, signature, trail[-1].at)
    stamp = find_trusted_stamp(tools, signature, parts, trail[-1].at)
    return SealedFile(
        content, found["sha256"], found["pageCount"], signature, head, parts, trail, sealed_at, stamp
    )


def judge(found: Verification) -> tuple[Signature, AuditHead]:
    """Return the one seal of a file and the audit head under it. Raises `CannotPutBack`."""
    if found["result"] == "unsigned" or not found["signatures"]:
        refuse("it has no seal")
    if found["result"] == "invalid":
        refuse("it was changed after it was sealed, or its seal is damaged; ask for the file as it was sent")
    for one in found["signatures"]:
        day = one["certificate"]["notAfter"][:10] if one["certificate"] else ""
        if EXPIRED[1].format(day=day) in one["reasons"]:
            refuse(f"its seal is not confirmed: {EXPIRED[1].format(day=day).rstrip('.')}")
    if not found["issuedHere"]:
        refuse("its seal is not one of this installation, nor of a certificate that it used before")
    (signature, *others), head = found["signatures"], found["audit"]
    whole = found["unchanged"] and signature["coverage"] == "entire_file" and signature["issuedHere"]
    if others or found["documentTimestamps"] or not whole:
        refuse("something was added to it after it was sealed; ask for the file as it was sent")
    if head is None or not head["embedded"] or signature["certificate"] is None:
        refuse("its seal does not cover an audit trail, so it cannot be matched with a document")
    if found["result"] != "valid":
        refuse(f"its seal is not confirmed: {' '.join(signature['reasons']).rstrip('.')}")
    return signature, head


def require_seal_time(tools: PutBackTools, signature: Signature, last: Instant) -> Instant:
    """Return when a seal says that it was made, behind the last entry of its trail. Raises `CannotPutBack`.

    The time is in whole seconds, and the word of the one who had the key.
    """
    certificate = signature["certificate"]
    if signature["signedAt"] is None or certificate is None:
        refuse("its seal does not say when it was made")
    at = parse(signature["signedAt"])
    if at + SECOND <= last:
        refuse("its seal says that it was made before the last entry of the audit trail in it")
    if at > tools.case.now:
        refuse(f"its seal says that it was made at {rfc3339(at)}, which is later than now; check the clock")
    if not parse(certificate["notBefore"]) <= at <= parse(certificate["notAfter"]):
        refuse("its seal says that it was made when its certificate was not valid")
    if not was_in_use(tools.changes, certificate["sha256"], at):
        refuse("its seal says that it was made when this installation sealed with another certificate")
    return at


def was_in_use(changes: Sequence[SealChange], certificate: str, at: Instant) -> bool:
    """Return whether a certificate was in use at a time, give or take a minute: a seal may have been under way.

    One that no change names (the record is younger, or it is of test mode) counts as in use. So does the first one
    that is named at any time before.
    """
    if all(change.fingerprint != certificate for change in changes):
        return True
    named = list(reversed(changes))
    times = [change.at for change in named[1:]]
    begins = (0, *(time - MINUTE for time in times))
    ends = (*(time + MINUTE for time in times), at)
    return any(
        change.fingerprint == certificate and begin <= at <= end
        for change, begin, end in zip(named, begins, ends, strict=True)
    )


def find_trusted_stamp(
    tools: PutBackTools, signature: Signature, parts: SealedParts, last: Instant
) -> Timestamp | None:
    """Return the time stamp of a seal, None if it has none. Raises `CannotPutBack` for one that may not be its own.

    No hash covers it: anybody can put another in its place. A file that was taken with such a one would keep the
    genuine file out.
    """
    stamp = signature["timestamp"]
    if stamp is None:
        return None
    if not stamp["valid"] or parts.made == "B-B":
        refuse(ALTERED)
    if not last - STAMP_SKEW <= parse(stamp["time"]) <= tools.case.now + STAMP_SKEW:
        refuse(
            f"its time stamp says {stamp['time']}, which is not between the last entry of the audit trail in it"
            " and now"
        )
    if not stamp["trusted"]:
        refuse(
            f"its time stamp is by “{stamp['authority']}”, which is not trusted here, so it may have been put in place"
            " of another; if you chose this authority, name its root in [seal] trust"
        )
    return stamp


def make_seal(file: SealedFile, certificate_sha256: str) -> Seal:
    """Return what the document keeps about the seal of the file."""
    signature, stamp = file.signature, file.stamp
    assert signature["certificate"] is not None
    level = file.parts.made or (signature["level"] if stamp else None) or "B-B"
    return Seal(
        level=level,
        sealed_at=file.sealed_at,
        sha256=file.sha256,
        size=len(file.content),
        page_count=file.pages,
        certificate=signature["certificate"]["sha256"],
        timestamped=stamp is not None,
        certificate_sha256=certificate_sha256,
        asked=signature["levelAsked"] or level,
        stamped_at=parse(stamp["time"]) if stamp else None,
        authority=stamp["authority"] if stamp else None,
    )


async def make_certificate(tools: PutBackTools, document: Document, file: SealedFile) -> bytes:
    """Return the certificate pages of the file, sealed now as a file of their own. Raises `CannotPutBack`."""
    organisation = await organisations.get(tools.db, document.organisation_id)
    lang = choose_language(document.locale, organisation.locale).tag
    order = CertificateOrder(
        file.content, document.page_count, file.head, file.parts.trail, lang, tools.case.now
    )
    try:
        return await tools.workers.seal_certificate_pages(order, tools.credentials[document.mode], SEALING)
    except (WorkerFailed, WorkerBusy) as failure:
        refuse(f"its certificate of completion cannot be sealed: {str(failure).rstrip('.')}")


# ---------- the document here ----------


async def find_document(tools: PutBackTools, file: SealedFile) -> Document:
    """Return the document that the seal names, if the file can be that of its end. Raises `CannotPutBack`."""
    document_id = file.head["documentId"]
    document = await verify_trails.find_document(tools.db, document_id)
    if document is None:
        entries = await audit_entries.find_entries(tools.db, document_id)
        if entries:
            refuse(f"{document_id} was deleted here on {format_day(entries[-1].at)}, and stays deleted")
        refuse(
            f"there is no document {document_id} here: it was made after the backup, or in another installation;"
            " keep the file, which stays valid by itself"
        )
    if (TEST_MARK in file.signature["signerName"]) != (document.mode is Mode.TEST):
        refuse(f"{document_id} is a document in {document.mode.value} mode, and the seal is not of that mode")
    if document.status is Status.DRAFT:
        refuse(
            f"{document_id} was a draft in the backup, without all that was sent later; keep the file, which stays"
            " valid by itself"
        )
    if document.status in (Status.DECLINED, Status.EXPIRED, Status.CANCELLED):
        refuse(
            f"{document_id} is {document.status.value} here since {format_day(document.closed_at)}, and stays so"
        )
    if document.seal is None and file.pages <= document.page_count:
        refuse("it has fewer pages than the document and its certificate of completion together")
    return document


def format_day(at: Instant | None) -> str:
    """Return the day of a time, or "an unknown day"."""
    return "an unknown day" if at is None else rfc3339(at)[:10]


async def require_content(db: Database, document: Document) -> None:
    """Refuse a file that is recorded for its document, and whose content here is damaged."""
    assert document.seal is not None
    try:
        await blobs.get(db, document.seal.sha256)
    except blobs.MissingBlob:
        refuse(
            f"{document.id} has this sealed file already, and what is stored of it is damaged; restore a backup in"
            " which it is whole: esign doctor --data"
        )


async def meet(tools: PutBackTools, document: Document, file: SealedFile) -> Meeting:
    """Return what the file adds to the document here. Raises `CannotPutBack` if the two went different ways."""
    async for chain in verify_trails.recompute(tools.db, tools.vault, document.id):
        if chain.broken:
            refuse(
                f"the audit trail of {document.id} here is damaged ({chain.broken}); restore a backup again"
            )
    here = await audit_entries.find_entries(tools.db, document.id)
    if not here:
        refuse(f"the audit trail of {document.id} here is missing; restore a backup again")
    end = (here[-1].seq, here[-1].hash)
    for own, other in zip(here, file.trail, strict=False):
        if own.hash != other.hash:
            refuse(
                f"the audit trail of {document.id} went another way here from entry {own.seq} on: {own.type} here,"
                f" {other.type} in the file; keep the file, which stays valid by itself"
            )
    if document.file.prepared != find_prepared(file.trail):
        refuse(f"it was sealed from another file than the one that {document.id} has here")
    adopted = file.trail[len(here) :]
    if document.status is Status.SEALING and not adopted:
        return Meeting(document, end, document, ())
    if document.status is not Status.SENT or not adopted:
        refuse(f"the audit trail of {document.id} here does not lead to the end that the file has")
    try:
        after = state.follow_trail(document, adopted)
    except state.UnfitTrail as unfit:
        refuse(f"the audit trail in it {unfit}")
    return Meeting(document, end, replace(after, seal_error=None), adopted)


def find_prepared(trail: Sequence[AuditEntry]) -> str | None:
    """Return the hash of the file that recipients were shown, by the last entry that names one."""
    named = [str(entry.data["preparedSha256"]) for entry in trail if "preparedSha256" in entry.data]
    return named[-1] if named else None
