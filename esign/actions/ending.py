"""Cancelling, deleting, and trying a failed seal again."""

from esign.actions.documents import Owner, find_own
from esign.actions.transition import Keep, check_revision, transition
from esign.core import ending, retention
from esign.core.document import Actor, Document, Origin
from esign.core.outcome import Outcome
from esign.runtime import Runtime
from esign.store import accounts
from esign.store.erasure import erase


async def cancel(
    runtime: Runtime,
    owner: Owner,
    document_id: str,
    reason: str | None,
    notify: bool,
    actor: Actor,
    origin: Origin,
    keep: Keep | None = None,
) -> Document:
    """Withdrawn by its sender (D11)."""
    now = runtime.clock.now()

    def decide(document: Document) -> Outcome:
        return ending.cancel(document, reason, notify, actor, origin, now)

    cancelled: Document = await transition(runtime, find_own(owner, document_id), decide, keep)
    return cancelled


async def delete(
    runtime: Runtime,
    owner: Owner,
    document_id: str,
    actor: Actor,
    origin: Origin,
    keep: Keep | None = None,
    revision: int | None = None,
) -> Document:
    """Erased (D3, D12); answers the document as it was."""
    now = runtime.clock.now()
    organisation = await accounts.get_organisation(runtime.db, owner.organisation_id)

    def decide(document: Document) -> Outcome:
        check_revision(document, revision)
        retention.require_unlocked(document, organisation, now)
        return ending.delete(document, actor, origin, now)

    gone: Document = await transition(runtime, find_own(owner, document_id), decide, keep, erase)
    return gone


async def retry_seal(
    runtime: Runtime, owner: Owner, document_id: str, actor: Actor, origin: Origin, keep: Keep | None = None
) -> Document:
    """The failed seal is due now (D8)."""
    now = runtime.clock.now()

    def decide(document: Document) -> Outcome:
        return ending.retry_seal(document, actor, origin, now)

    sealing: Document = await transition(runtime, find_own(owner, document_id), decide, keep)
    return sealing
