"""The ends of a document that its sender decides: cancelled while it is out (D11), deleted before or after (D3, D12).

Part of the state machine of `lifecycle`, which holds the ends that recipients and the clock decide.
"""

from esign.core.actor import Actor, Origin
from esign.core.document.document import Document, Status
from esign.core.document.state import lifecycle
from esign.core.document.state.outcome import Event, Mail, Outcome, SealJob
from esign.core.errors import Problem
from esign.core.instant import Instant

IN_PROGRESS = frozenset({Status.SENT, Status.SEALING})


def cancel(
    document: Document, reason: str | None, notify: bool, actor: Actor, origin: Origin, now: Instant
) -> Outcome:
    """D11: the sender withdraws it; with `notify` everybody who was asked is told."""
    lifecycle.require_open(document, now)
    told = [r for r in document.recipients if notify and r.sent_at is not None]
    return Outcome(
        lifecycle.close(document, Status.CANCELLED, reason, now),
        (
            Event(
                "document.cancelled",
                now,
                actor,
                origin=origin,
                data={"notified": notify},
                detail={"reason": reason} if reason else None,
            ),
        ),
        tuple(Mail("cancelled", f"cancelled:{document.id}:{r.id}", r.id) for r in told),
    )


def delete(document: Document, actor: Actor, origin: Origin, now: Instant) -> Outcome:
    """D3 and D12: the entry that stays when everything else is erased."""
    if document.status in IN_PROGRESS:
        raise Problem("document_in_progress", current_status=document.status)
    data = {"status": document.status.value}
    return Outcome(document, (Event("document.deleted", now, actor, origin=origin, data=data),))


def retry_seal(document: Document, actor: Actor, origin: Origin, now: Instant) -> Outcome:
    """A seal that failed is tried again now instead of at its next date (D8)."""
    if document.status is not Status.SEALING or document.seal_error is None:
        raise Problem("seal_not_failed", current_status=document.status)
    return Outcome(document, (Event("document.seal_retried", now, actor, origin=origin),), (SealJob(),))
