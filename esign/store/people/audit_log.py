"""The administrative audit log, which is the trail under an organisation's id, and its counts of failed sign-ins."""

from dataclasses import dataclass

from esign.core.document.audit import AuditEntry
from esign.core.instant import Instant
from esign.core.people.admin_audit import WINDOW
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.paging import PageStart
from esign.store.engine.sql import OldRows, delete_some
from esign.store.queue import audit_entries

OWN = "document_id = :organisation_id AND document_id >= 'org_' AND document_id < 'org`'"


@dataclass(frozen=True, slots=True)
class AuditLogFilter:
    """The entries of an organisation from `since` on and before `before`."""

    organisation_id: str
    type: str | None = None
    actor_id: str | None = None
    since: Instant = 0
    before: Instant = 2**62


async def find_page(
    reader: Reader, wanted: AuditLogFilter, limit: int, after: PageStart | None = None
) -> list[AuditEntry]:
    """Return up to `limit` entries, newest first; each choice of filters has its index."""
    narrower = ""
    if wanted.type is not None:
        narrower += " AND type = :type"
    if wanted.actor_id is not None:
        narrower += " AND actor_id = :actor_id"
    rows = await reader.all(
        f"""
        SELECT * FROM audit WHERE {OWN}{narrower} AND at >= :since AND (at, seq) < (:at, :seq)
        ORDER BY at DESC, seq DESC LIMIT :limit
        """,
        organisation_id=wanted.organisation_id,
        type=wanted.type,
        actor_id=wanted.actor_id,
        since=wanted.since,
        at=after.at if after else wanted.before,
        seq=int(after.id) if after else -1,
        limit=limit,
    )
    return [audit_entries.load(row) for row in rows]


def find_place(entry: AuditEntry) -> PageStart:
    """Return the place after this entry in the log."""
    return PageStart(entry.at, str(entry.seq))


async def find_newest(reader: Reader, organisation_id: str, type: str) -> AuditEntry | None:
    """Return the newest entry of this type, or None."""
    found = await find_page(reader, AuditLogFilter(organisation_id, type), 1)
    return found[0] if found else None


async def erase_personal(tx: Transaction, organisation_id: str, numbers: list[int]) -> None:
    """Erase the personal data of these entries.

    The chain verifies again once a later entry names their numbers.
    """
    await tx.run_many(
        "UPDATE audit SET personal = NULL, salt = NULL WHERE document_id = :id AND seq = :seq",
        [{"id": organisation_id, "seq": seq} for seq in numbers],
    )


# ---------- failed sign-ins ----------


async def count_failure(
    tx: Transaction, organisation_id: str, subject: str, now: Instant
) -> tuple[int, Instant]:
    """Count one more failed sign-in; return how many there were, and since when, within an hour."""
    row = await tx.one(
        """
        INSERT INTO failed_sign_in (organisation_id, subject, since, tries)
        VALUES (:organisation_id, :subject, :now, 1)
        ON CONFLICT (organisation_id, subject) DO UPDATE SET
            tries = CASE WHEN since > :over AND since <= :now THEN tries + 1 ELSE 1 END,
            since = CASE WHEN since > :over AND since <= :now THEN since ELSE :now END
        RETURNING tries, since
        """,
        organisation_id=organisation_id,
        subject=subject,
        now=now,
        over=now - WINDOW,
    )
    assert row is not None
    return row["tries"], row["since"]


async def prune_failures(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` counts that began before `before`; return how many."""
    return await delete_some(
        tx, OldRows("failed_sign_in", "organisation_id, subject", "since < :before"), before, limit
    )
