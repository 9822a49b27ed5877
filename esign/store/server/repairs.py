"""Repairs what can be derived again: each in a short transaction of its own, in which it is judged anew.

So a repair is safe beside a server that writes, does nothing the second time, and nothing where the fault has gone.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from esign.core.document.attention import find_trouble
from esign.core.document.document import Status
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.store.document import documents
from esign.store.engine import search_index
from esign.store.engine.database import Database, Transaction
from esign.store.engine.unreadable_rows import UnreadableRow
from esign.store.queue import held_jobs, outbox
from esign.store.server.derived_values import LEASE_OVER, LONGEST_LEASE
from esign.store.server.fault import Fault, Repair

REINDEXED = 200  # documents in one transaction

Mend = Callable[[Transaction, str, Instant], Awaitable[bool]]


async def mend_fault(db: Database, fault: Fault, now: Instant) -> bool:
    """Repair what a fault names, except the whole index. Return whether anything was changed."""
    mend = MENDS[fault.repair] if fault.repair is not None else None
    if mend is None:
        return False

    async def write(tx: Transaction) -> bool:
        try:
            return await mend(tx, fault.subject, now)
        except (Problem, UnreadableRow):  # deleted meanwhile, or not to be read: another fault says so
            return False

    return await db.write(write)


async def mend_count(tx: Transaction, subject: str, now: Instant) -> bool:
    """Count the documents of one owner and status again."""
    organisation_id, mode, status = subject.split()
    group = {"organisation_id": organisation_id, "mode": mode, "status": status}
    where = "organisation_id = :organisation_id AND mode = :mode AND status = :status"
    counted = await tx.one(f"SELECT count(*) AS n FROM document WHERE {where}", **group)
    troubled = await tx.one(f"SELECT count(*) AS n FROM document WHERE {where} AND attention = 1", **group)
    assert counted is not None and troubled is not None
    return bool(
        await tx.run(
            """
            INSERT INTO document_count (organisation_id, mode, status, documents, attention)
            VALUES (:organisation_id, :mode, :status, :documents, :attention)
            ON CONFLICT (organisation_id, mode, status)
            DO UPDATE SET documents = excluded.documents, attention = excluded.attention
            WHERE document_count.documents <> excluded.documents
            OR document_count.attention <> excluded.attention
            """,
            **group,
            documents=counted["n"],
            attention=troubled["n"],
        )
    )


async def mend_attention(tx: Transaction, subject: str, now: Instant) -> bool:
    """Derive again what lists filter a document by."""
    document = await documents.get(tx, subject)
    return bool(
        await tx.run(
            """
            UPDATE document SET attention = :attention, sender_id = :sender_id WHERE id = :id
            AND (attention <> :attention OR COALESCE(sender_id, '') <> COALESCE(:sender_id, ''))
            """,
            id=document.id,
            attention=int(find_trouble(document) is not None),
            sender_id=document.created_by.id,
        )
    )


async def mend_loose(tx: Transaction, subject: str, now: Instant) -> bool:
    """Mark a content as one that something refers to, or that nothing does."""
    kept = """(EXISTS (SELECT 1 FROM document_blob d WHERE d.sha256 = blob.sha256)
        OR EXISTS (SELECT 1 FROM template_blob t WHERE t.sha256 = blob.sha256))"""
    return bool(
        await tx.run(
            f"""
            UPDATE blob SET loose = CASE WHEN {kept} THEN 0 ELSE 1 END
            WHERE sha256 = :sha256 AND loose = CASE WHEN {kept} THEN 1 ELSE 0 END
            """,
            sha256=subject.split()[-1],
        )
    )


async def mend_lease(tx: Transaction, subject: str, now: Instant) -> bool:
    """Make a job or a delivery due now that no worker holds any more."""
    kind, number = subject.split()
    table, key, waits = ("outbox", "id", "state") if kind == "job" else ("delivery", "number", "status")
    return bool(
        await tx.run_and_wake(
            f"UPDATE {table} SET due_at = :now, boot = NULL WHERE {key} = :number AND {waits} = 'pending'"
            " AND boot IS NOT NULL AND (due_at < :over OR due_at > :latest)",
            now=now,
            number=int(number),
            over=now - LEASE_OVER,
            latest=now + LONGEST_LEASE,
        )
    )


async def mend_seal_job(tx: Transaction, subject: str, now: Instant) -> bool:
    """Queue the job of a document that waits for its seal."""
    document = await documents.get(tx, subject)
    if document.status is not Status.SEALING or await outbox.find_seal_time(tx, subject) is not None:
        return False
    if await held_jobs.is_seal_held(tx, subject):
        return False
    await outbox.requeue_seal(tx, subject, now)
    return True


async def mend_words(tx: Transaction, subject: str, now: Instant) -> bool:
    """Write the words that a document is found by again, or remove those of one that does not exist."""
    if not await documents.exists(tx, subject):
        return await search_index.forget(tx, subject) is not None
    document = await documents.get(tx, subject)
    row = await tx.one("SELECT texts, labels FROM search WHERE document_id = :id", id=subject)
    if row is not None:
        if (row["texts"], row["labels"]) == search_index.collect_words(document):
            return False
        await search_index.forget(tx, subject)
    await search_index.index_document(tx, document)
    return True


MENDS: Mapping[Repair, Mend | None] = {
    Repair.ATTENTION: mend_attention,
    Repair.COUNT: mend_count,
    Repair.LOOSE: mend_loose,
    Repair.LEASE: mend_lease,
    Repair.SEAL_JOB: mend_seal_job,
    Repair.WORDS: mend_words,
    Repair.INDEX: None,  # only as a whole: `rebuild_index`
}
# Marks before counts, which count them.
ORDER: Sequence[Repair] = tuple(MENDS)


async def rebuild_index(db: Database) -> int:
    """Write the whole index of words again, and return of how many documents.

    No server may run meanwhile: what it removes has to be in the index. It can be interrupted and run again.
    """
    await db.write(search_index.clear)
    place, count = 0, 0
    while True:

        async def write(tx: Transaction, place: int = place) -> list[int]:
            rows = await tx.all(
                "SELECT number, texts, labels FROM search WHERE number > :place ORDER BY number LIMIT :most",
                place=place,
                most=REINDEXED,
            )
            for row in rows:
                await search_index.index_words(tx, row["number"], (row["texts"], row["labels"]))
            return [row["number"] for row in rows]

        if not (numbers := await db.write(write)):
            return count
        place, count = numbers[-1], count + len(numbers)
