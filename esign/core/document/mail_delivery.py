"""What became of a letter to a recipient; it is noted beside the status and never changes it (contract 2.2)."""

from dataclasses import replace

from esign.core.actor import SYSTEM
from esign.core.document.document import Delivery, Document, Recipient
from esign.core.document.state.outcome import Event, Outcome
from esign.core.instant import Instant


def delivered(document: Document, recipient: Recipient, delivery: Delivery, now: Instant) -> Outcome:
    """The letter was taken by the mail server, or kept here."""
    taken = replace(recipient, delivery=delivery, delivery_at=now, delivery_error=None)
    return Outcome(replace(document, updated_at=now).with_recipient(taken))


def delivery_failed(document: Document, recipient: Recipient, reason: str, now: Instant) -> Outcome:
    """The mail server refused the address for good."""
    failed = replace(recipient, delivery=Delivery.FAILED, delivery_at=now, delivery_error=reason)
    return Outcome(
        replace(document, updated_at=now).with_recipient(failed),
        (Event("recipient.delivery_failed", now, SYSTEM, recipient.id, detail={"reason": reason}),),
    )
