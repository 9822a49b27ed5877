"""Invites recipients in their order, and sends the final copy to those who were sent nothing before (contract
4, Order).
"""

from dataclasses import replace

from esign.core.actor import SYSTEM
from esign.core.document import reminder
from esign.core.document.document import INVITED, Document, MailDelivery, Recipient, RecipientStatus
from esign.core.document.state.outcome import Event, MailJob, Outcome
from esign.core.instant import Instant


def invite_next(outcome: Outcome, now: Instant) -> Outcome:
    """Invite the groups whose turn it is: the first with a recipient who has to act, and the viewers before it.

    When no recipient has to act any more, the outcome is returned unchanged.
    """
    document = outcome.document
    waiting = [r for r in document.recipients if r.acting and r.status is not RecipientStatus.COMPLETED]
    if not waiting:
        return outcome
    turn = min(r.order for r in waiting)
    events, jobs = list(outcome.events), list(outcome.jobs)
    for recipient in sorted(document.recipients, key=lambda r: r.order):
        asked = recipient.role in INVITED and recipient.order <= turn
        if asked and recipient.status is RecipientStatus.CREATED:
            document = document.with_recipient(invite(document, recipient, now))
            events.append(
                Event("recipient.sent", now, SYSTEM, recipient.id, detail={"email": recipient.email})
            )
            jobs.append(MailJob("invitation", f"invite:{recipient.id}:1", recipient.id))
    return Outcome(document, tuple(events), tuple(jobs))


def invite(document: Document, recipient: Recipient, now: Instant) -> Recipient:
    """Return the recipient as invited at `now`; viewers get no reminders."""
    assert document.expires_at is not None
    due = reminder.find_next_due(document.reminders, now, document.expires_at, now)
    return replace(
        recipient,
        status=RecipientStatus.SENT,
        sent_at=now,
        next_reminder_at=due if recipient.acting else None,
        delivery=MailDelivery.QUEUED,
        delivery_at=now,
    )


def send_copy(recipient: Recipient, now: Instant) -> Recipient:
    """Return the recipient as sent the final copy; only those who were sent nothing before change (contract
    2.2, cc).
    """
    if recipient.status is not RecipientStatus.CREATED:
        return recipient
    return replace(
        recipient,
        status=RecipientStatus.SENT,
        sent_at=now,
        delivery=MailDelivery.QUEUED,
        delivery_at=now,
    )
