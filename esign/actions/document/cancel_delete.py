"""Cancels documents, deletes them, and retries failed seals."""

from esign.actions.base.transition import Keep, check_revision, perform_transition
from esign.actions.document.documents import make_finder
from esign.core.actor import NOWHERE, SYSTEM, Actor, Origin, Owner
from esign.core.document import retention
from esign.core.document.document import Document
from esign.core.document.state import cancel_delete
from esign.core.document.state.outcome import Outcome
from esign.core.errors import Problem
from esign.runtime import Runtime
from esign.store.document import documents, outcomes
from esign.store.document.erase_document import erase
from esign.store.engine.database import Transaction
from esign.store.people import organisations


async def cancel(
    runtime: Runtime,
    owner: Owner,
    document_id: str,
    reason: str | None,
    notify: bool,
    actor: Actor,
    origin: Origin,
    keep: Keep[Document] | None = None,
) -> Document:
    """Cancel the document on behalf of its sender (D11), and return it."""
    now = runtime.clock.now()

    def decide(document: Document) -> Outcome:
        return cancel_delete.cancel(document, reason, notify, actor, origin, now)

    find = make_finder(owner, document_id)
    return await perform_transition(runtime, find, decide, outcomes.save, keep)


async def delete(
    runtime: Runtime,
    owner: Owner,
    document_id: str,
    actor: Actor,
    origin: Origin,
    keep: Keep[Document] | None = None,
    revision: int | None = None,
) -> Document:
    """Erase the document (D3, D12), and return it as it was.

    Raises what `check_revision` and `retention.require_unlocked` raise.
    """
    now = runtime.clock.now()
    organisation = await organisations.get(runtime.db, owner.organisation_id)

    def decide(document: Document) -> Outcome:
        check_revision(document, revision)
        retention.require_unlocked(document, organisation, runtime.clock.read_settled_time())
        return cancel_delete.delete(document, actor, origin, now)

    return await perform_transition(runtime, make_finder(owner, document_id), decide, erase, keep)


async def delete_due(runtime: Runtime, document_id: str) -> bool:
    """Erase a document whose retention is over (contract 3.5, 8).

    Return False if the document is gone already, or is not due any more.
    """
    now, test_days = runtime.clock.now(), runtime.config.test.purge_after_days

    async def write(tx: Transaction) -> bool:
        try:
            before = await documents.get(tx, document_id)
        except Problem:
            return False
        organisation = await organisations.get(tx, before.organisation_id)
        due_at = retention.find_removal_time(before, organisation, test_days)
        if due_at is None or runtime.clock.read_settled_time() < due_at:
            return False
        await erase(tx, cancel_delete.delete(before, SYSTEM, NOWHERE, now), before, runtime.vault, now)
        return True

    gone = await runtime.db.write(write)
    return gone


async def retry_seal(
    runtime: Runtime,
    owner: Owner,
    document_id: str,
    actor: Actor,
    origin: Origin,
    keep: Keep[Document] | None = None,
) -> Document:
    """Make the failed seal of the document due now (D8), and return the document."""
    now = runtime.clock.now()

    def decide(document: Document) -> Outcome:
        return cancel_delete.retry_seal(document, actor, origin, now)

    find = make_finder(owner, document_id)
    return await perform_transition(runtime, find, decide, outcomes.save, keep)
