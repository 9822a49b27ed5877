"""Turns a document that all recipients have signed into its sealed file (contract D7, D8)."""

import asyncio
import logging

from esign.actions.base.drawn_fields import list_inks, make_drawn_fields
from esign.actions.base.logo_pictures import make_page_logo
from esign.actions.base.printable_text import list_font_paths
from esign.actions.sealing import practice_seal, seal_levels
from esign.actions.sealing.certificate_page import CertificateSource, cut_after_last_act, gather_facts
from esign.core.document import audit_file
from esign.core.document.document import Document, Seal, Status
from esign.core.document.state import lifecycle
from esign.core.errors import Problem
from esign.core.instant import Instant, rfc3339
from esign.core.people.usage import Usage
from esign.pdf.seal_order import SealFailed, SealOrder
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import WorkerFailed, hash_content
from esign.runtime import Runtime
from esign.store.document import blobs, documents, outcomes
from esign.store.engine.database import Transaction
from esign.store.people import organisations, usage
from esign.store.queue import audit_entries, outbox, set_aside
from esign.store.queue.outbox import Job
from esign.store.server import tsa_answers
from esign.tsa import NoTimeStamp

log = logging.getLogger("esign.seal")


async def seal(runtime: Runtime, job: Job) -> None:
    """Make one attempt: draw, seal and verify in a worker, then save. A failure is recorded and the job postponed."""
    assert job.document_id is not None
    document = await documents.get(runtime.db.points, job.document_id)
    if document.status is not Status.SEALING:
        await finish(runtime, job)
        return
    now, began = runtime.clock.now(), runtime.clock.monotonic()
    try:
        order = await prepare(runtime, document, now)
        made = await seal_levels.make_seal(
            runtime, order, document.mode, QueueTurn(PdfJobKind.SEAL, document.organisation_id, document.id)
        )
    except NoTimeStamp as failure:
        runtime.measures.seals["no_time_stamp"] += 1
        await postpone(runtime, job, failure.reason, outbox.NO_TIME_STAMPS)
        return
    except (SealFailed, WorkerFailed, Problem, blobs.MissingBlob) as failure:
        runtime.measures.seals["failed"] += 1
        has_killed = ended_worker(failure) and await examine_death(runtime, document)
        await postpone(runtime, job, describe_failure(failure), has_killed=has_killed)
        return
    await save(runtime, job, made, now)
    runtime.measures.seals["made"] += 1
    runtime.measures.sealing_fails = False
    runtime.measures.seal_durations.add(runtime.clock.monotonic() - began)


def ended_worker(failure: Exception | None) -> bool:
    """Return whether it is that a job has killed or exhausted its worker."""
    return isinstance(failure, WorkerFailed) and failure.lasting


async def examine_death(runtime: Runtime, document: Document) -> bool:
    """Return whether the death of a worker counts against the document that was sealed.

    It counts if a practice page can be sealed. Libraries that were replaced below a running server, or a sandbox that
    forbids too much, end each worker; that is noted.
    """
    failure = await practice_seal.try_practice_seal(runtime, document.organisation_id)
    runtime.measures.sealing_fails = ended_worker(failure)
    if failure is not None:
        log.error(
            "the end of the worker does not count against document %s: a practice page cannot be sealed now either: %s",
            document.id,
            describe_failure(failure),
        )
    return failure is None


def describe_failure(failure: Exception) -> str:
    """Return the failure in words."""
    return failure.message if isinstance(failure, Problem) else str(failure)


async def finish(runtime: Runtime, job: Job) -> None:
    """Finish a job whose document does not wait for a seal any more."""

    async def write(tx: Transaction) -> None:
        await outbox.finish(tx, job, runtime.clock.now())

    await runtime.db.write(write)


async def note_set_aside(runtime: Runtime, tx: Transaction, job: Job, reason: str) -> None:
    """Record on the document that its seal is set aside; finish the job if the document does not wait for a seal."""
    assert job.document_id is not None
    now, before = runtime.clock.now(), await documents.get(tx, job.document_id)
    if before.status is Status.SEALING:
        outcome, _ = lifecycle.seal_failed(before, reason, now)
        await outcomes.save(tx, outcome, before, runtime.vault, now)


async def postpone(
    runtime: Runtime, job: Job, reason: str, cause: str | None = None, *, has_killed: bool = False
) -> None:
    """Record why the seal failed and when it is tried again, and log it for the operator.

    `cause` is shared by all seals that wait for the same thing. Without one it is the reason itself. A seal that
    has killed or exhausted its worker as often as it may (`has_killed`) is set aside.
    """
    now = runtime.clock.now()

    async def write(tx: Transaction) -> tuple[Document, Instant | None]:
        assert job.document_id is not None
        before = await documents.get(tx, job.document_id)
        outcome, due_at = lifecycle.seal_failed(before, reason, now)
        await outbox.postpone(tx, job, due_at, cause or reason)
        await tsa_answers.note(tx, runtime.tsa.authorities)
        document = await outcomes.save(tx, outcome, before, runtime.vault, now)
        if has_killed and await set_aside.count_death(tx, job) >= set_aside.MOST:
            await set_aside.put_aside(tx, job, now, reason)
            return document, None
        return document, due_at

    document, due_at = await runtime.db.write(write)
    if due_at is None:
        log.error(
            "the seal of document %s is set aside, because it has ended its PDF worker three times: %s",
            document.id,
            reason,
        )
        return
    log.log(
        logging.ERROR if document.seal_attempts == lifecycle.ALERT_AFTER else logging.WARNING,
        "document %s could not be sealed, attempt %d: %s; tried again at %s",
        document.id,
        document.seal_attempts,
        reason,
        rfc3339(due_at),
    )


async def save(runtime: Runtime, job: Job, made: seal_levels.SealResult, now: Instant) -> None:
    """Save state, files, events and e-mails in one transaction: a `completed` document always has its file."""
    sealed, stamp = made.sealed, made.stamp
    hashes = [await hash_content(content) for content in (sealed.sealed, sealed.certificate)]

    async def write(tx: Transaction) -> None:
        assert job.document_id is not None
        before = await documents.get(tx.points, job.document_id)
        if before.status is Status.SEALING:
            for content, sha256 in zip((sealed.sealed, sealed.certificate), hashes, strict=True):
                await blobs.add(tx, content, now, sha256)
            await blobs.attach(tx, before.id, *hashes)
            size = len(sealed.sealed) + len(sealed.certificate)
            await usage.add(tx, outcomes.make_meter(before, now), Usage(storage_bytes=size))
            done = Seal(
                level=sealed.level,
                sealed_at=now,
                sha256=hashes[0],
                size=len(sealed.sealed),
                page_count=sealed.page_count,
                timestamped=stamp is not None,
                certificate=sealed.certificate_sha256,
                certificate_sha256=hashes[1],
                asked=made.asked,
                stamped_at=stamp.at if stamp else None,
                authority=stamp.authority if stamp else None,
            )
            await outcomes.save(tx, lifecycle.seal(before, done, now), before, runtime.vault, now)
            if before.seal_error is not None:  # the same cause may hold up other seals
                await outbox.hasten_alike(tx, job, now)
            await tsa_answers.note(tx, runtime.tsa.authorities)
        await outbox.finish(tx, job, now)

    await runtime.db.write(write)


async def prepare(runtime: Runtime, document: Document, now: Instant) -> SealOrder:
    """Return all that the worker needs: the file, the values in their places, the facts of the certificate page."""
    organisation = await organisations.get(runtime.db.points, document.organisation_id)
    entries, prepared = await asyncio.gather(
        audit_entries.find_entries(runtime.db, document.id),
        blobs.get(runtime.db, document.file.prepared),
    )
    trail = cut_after_last_act(entries)
    pictures = {
        ink.picture: await blobs.get(runtime.db, ink.picture)
        for recipient in document.recipients
        for ink in list_inks(recipient)
        if ink.picture
    }
    logo = await make_page_logo(runtime.db, organisation)
    source = CertificateSource(document, organisation, trail, pictures, logo)
    return SealOrder(
        prepared=prepared,
        fields=tuple(make_drawn_fields(document, pictures)),
        certificate=gather_facts(source, runtime.config.server.base_url, now),
        now=now,
        font_paths=list_font_paths(runtime),
        trail=audit_file.write_audit_file(document.id, trail),
    )
