"""The ends of a document that its sender decides: cancelled while it is out (D11), deleted before or after (D3,
D12).

The ends that recipients and the clock decide are in `lifecycle`.
"""

from esign.core.actor import Author
from esign.core.document.document import Document, Status
from esign.core.document.state import lifecycle
from esign.core.document.state.outcome import Event, MailJob, Outcome, SealJob
from esign.core.errors import Problem
from esign.core.instant import Instant

IN_PROGRESS = frozenset({Status.SENT, Status.SEALING})


def cancel(document: Document, reason: str | None, notify: bool, author: Author, now: Instant) -> Outcome:
    """Cancel a document that is out (D11).

    With `notify`, every recipient who was sent something gets a mail. Raises `document_not_sent`.
    """
    lifecycle.require_open(document, now)
    told = [r for r in document.recipients if notify and r.sent_at is not None]
    return Outcome(
        lifecycle.close(document, Status.CANCELLED, reason, now),
        (
            Event(
                "document.cancelled",
                now,
                author.actor,
                origin=author.origin,
                data={"notified": notify},
                detail={"reason": reason} if reason else None,
            ),
        ),
        tuple(MailJob("cancelled", f"cancelled:{document.id}:{r.id}", r.id) for r in told),
    )


def delete(document: Document, author: Author, now: Instant) -> Outcome:
    """Delete a document that is not in progress (D3, D12); the event is the entry that remains after erasing.

    The outcome leaves the document as it is: `store.document.erase_document` removes it. Raises
    `document_in_progress`.
    """
    if document.status in IN_PROGRESS:
        raise Problem("document_in_progress", current_status=document.status)
    data = {"status": document.status.value}
    return Outcome(document, (Event("document.deleted", now, author.actor, origin=author.origin, data=data),))


def retry_seal(document: Document, author: Author, now: Instant) -> Outcome:
    """Try a failed seal again now, instead of at its next date (D8). Raises `seal_not_failed`."""
    if document.status is not Status.SEALING or document.seal_error is None:
        raise Problem("seal_not_failed", current_status=document.status)
    return Outcome(
        document, (Event("document.seal_retried", now, author.actor, origin=author.origin),), (SealJob(),)
    )
