"""Says which mails leave, and records what became of one. Delivery never changes a status (contract 2.2)."""

from dataclasses import replace

from esign.core.actor import SYSTEM
from esign.core.document.document import Document, MailDelivery, Recipient
from esign.core.document.state.outcome import Event, Outcome
from esign.core.instant import Instant

TO_OWNER = "renewal"  # the letter that goes to the owner of the organisation where the sender has no address


def leaves_for_sender(letter: str, document: Document, reply_to: str | None) -> bool:
    """Return whether a letter to the sender of a document leaves; `reply_to` is the address of the organisation.

    The owner of the organisation gets only what a recipient asks: all else that happens to documents of programs
    reaches those programs as webhooks.
    """
    return letter == TO_OWNER or bool(document.created_by.email or reply_to)


def record_delivery(
    document: Document, recipient: Recipient, delivery: MailDelivery, now: Instant
) -> Outcome:
    """Record that the mail server accepted the mail, or that it was kept on this server."""
    taken = replace(recipient, delivery=delivery, delivery_at=now, delivery_error=None)
    return Outcome(replace(document, updated_at=now).with_recipient(taken))


def record_failed_delivery(document: Document, recipient: Recipient, reason: str, now: Instant) -> Outcome:
    """Record that the mail server refused the address permanently."""
    failed = replace(recipient, delivery=MailDelivery.FAILED, delivery_at=now, delivery_error=reason)
    return Outcome(
        replace(document, updated_at=now).with_recipient(failed),
        (Event("recipient.delivery_failed", now, SYSTEM, recipient.id, detail={"reason": reason}),),
    )
