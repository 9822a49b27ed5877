"""Corrects the address or name of a recipient while the document is out (contract 2.2)."""

from dataclasses import replace

from esign.core.actor import Author
from esign.core.document.document import Document, MailDelivery, Recipient, RecipientStatus
from esign.core.document.state import lifecycle
from esign.core.document.state.invite import invite
from esign.core.document.state.outcome import Event, Job, MailJob, Outcome, RevokeLinks
from esign.core.errors import Problem
from esign.core.instant import Instant

CORRECTED = frozenset({"email", "name"})


def correct(document: Document, corrected: Recipient, author: Author, now: Instant) -> Outcome:
    """Save another address or name of a recipient; one who was already invited is invited anew, by a new link.

    If the document goes to another mailbox now, the old address is told when it may have received a link.
    Raises `document_not_sent` and `recipient_already_completed`.
    """
    lifecycle.require_open(document, now)
    recipient, email = document.recipient(corrected.id), corrected.email
    if recipient.status is RecipientStatus.COMPLETED:
        raise Problem("recipient_already_completed", current_status=document.status)
    if (email, corrected.name) == (recipient.email, recipient.name):
        return Outcome(document)
    detail = {
        "old": {"email": recipient.email, "name": recipient.name},
        "new": {"email": email, "name": corrected.name},
    }
    events = [Event("recipient.corrected", now, author.actor, recipient.id, author.origin, detail=detail)]
    jobs: list[Job] = []
    if recipient.status is not RecipientStatus.CREATED:
        corrected = replace(
            invite(document, corrected, now),
            viewed_at=None,
            link=None,
            code=None,
            last_reminded_at=None,
            delivery_error=None,
        )
        events.append(
            Event("recipient.sent", now, author.actor, recipient.id, author.origin, detail={"email": email})
        )
        key = f"invite:{recipient.id}:{document.revision + 1}"
        jobs += [RevokeLinks(recipient.id), MailJob("invitation", key, recipient.id)]
        if is_redirected(recipient, email) and was_reached(recipient):
            old = (recipient.email, recipient.name)
            key = f"corrected:{recipient.id}:{document.revision + 1}"
            jobs.append(MailJob("corrected", key, about=recipient.id, to=old))
    return Outcome(replace(document, updated_at=now).with_recipient(corrected), tuple(events), tuple(jobs))


def is_redirected(recipient: Recipient, email: str) -> bool:
    """Return whether the document would go to another mailbox with this address."""
    return email.casefold() != recipient.email.casefold()


def was_reached(recipient: Recipient) -> bool:
    """Return whether the present address may have received a link, which ends now.

    A mail that was kept on this server counts, because an operator may have passed it on. A reminder queues the
    delivery anew, so the delivery state alone does not say that no invitation arrived before.
    """
    return (
        recipient.delivery in (MailDelivery.ACCEPTED, MailDelivery.KEPT)
        or recipient.viewed_at is not None
        or recipient.last_reminded_at is not None
    )
