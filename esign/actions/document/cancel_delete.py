"""Cancels documents, deletes them, and retries failed seals."""

from esign.actions.base.caller import Caller
from esign.actions.base.transition import check_revision
from esign.actions.document import page_cache
from esign.actions.document.documents import change_own
from esign.core.actor import PROGRAM
from esign.core.document import retention
from esign.core.document.document import Document
from esign.core.document.state import lifecycle
from esign.core.document.state.outcome import Outcome
from esign.core.errors import SEAL_HELD, Problem
from esign.core.instant import Instant
from esign.runtime import Runtime
from esign.store.document import documents, outcomes
from esign.store.document.erase_document import erase
from esign.store.engine.database import Transaction
from esign.store.people import organisations
from esign.store.queue import held_jobs
from esign.system.vault import Vault


async def cancel(
    runtime: Runtime, caller: Caller, document_id: str, reason: str | None, notify: bool
) -> Document:
    """Cancel the document on behalf of its sender (D11), and return it."""
    now = runtime.clock.now()

    def decide(document: Document) -> Outcome:
        return lifecycle.cancel(document, reason, notify, caller.author, now)

    return await change_own(runtime, caller, document_id, decide, outcomes.save)


async def delete(runtime: Runtime, caller: Caller, document_id: str) -> Document:
    """Erase the document (D3, D12), and return it as it was.

    Raises what `check_revision` and `retention.require_unlocked` raise.
    """
    now = runtime.clock.now()
    organisation = await organisations.get(runtime.db, caller.owner.organisation_id)

    def decide(document: Document) -> Outcome:
        check_revision(document, caller.revision)
        retention.require_unlocked(document, organisation, runtime.clock.read_settled_time())
        return lifecycle.delete(document, caller.author, now)

    gone = await change_own(runtime, caller, document_id, decide, erase)
    await page_cache.forget(runtime, gone.id, gone.file)
    return gone


async def delete_due(runtime: Runtime, document_id: str) -> bool:
    """Erase a document whose retention is over (contract 3.5, 8).

    Return False if the document is gone already, or is not due any more.
    """
    now, test_days = runtime.clock.now(), runtime.config.test.purge_after_days

    async def write(tx: Transaction) -> Document | None:
        try:
            before = await documents.get(tx, document_id)
        except Problem:
            return None
        organisation = await organisations.get(tx, before.organisation_id)
        due_at = retention.find_removal_time(before, organisation, test_days)
        if due_at is None or runtime.clock.read_settled_time() < due_at:
            return None
        await erase(tx, lifecycle.delete(before, PROGRAM, now), before, runtime.vault, now)
        return before

    gone = await runtime.db.write(write)
    if gone is not None:
        await page_cache.forget(runtime, gone.id, gone.file)
    return gone is not None


async def retry_seal(runtime: Runtime, caller: Caller, document_id: str) -> Document:
    """Make the failed seal of the document due now (D8), and return the document.

    Raise `seal_not_failed` for one that a restore holds back: it may have been sealed since the backup.
    """
    now = runtime.clock.now()

    def decide(document: Document) -> Outcome:
        return lifecycle.retry_seal(document, caller.author, now)

    async def save(
        tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant
    ) -> Document:
        if await held_jobs.is_seal_held(tx, before.id):
            raise Problem("seal_not_failed", SEAL_HELD, current_status=before.status)
        return await outcomes.save(tx, outcome, before, vault, now)

    return await change_own(runtime, caller, document_id, decide, save)
