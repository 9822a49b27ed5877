"""Mails the invitations that were kept on the server while no mail server was set."""

from dataclasses import replace

from esign.core.actor import Author
from esign.core.document.document import Document, MailDelivery, Recipient, RecipientStatus
from esign.core.document.state import Act, require
from esign.core.document.state.outcome import Event, MailJob, Outcome
from esign.core.errors import Problem
from esign.core.instant import Instant


def mail_kept_invitations(document: Document, author: Author, now: Instant) -> Outcome:
    """Invite again each recipient whose invitation was kept and who has not opened the document.

    Earlier links stay valid: they may have been handed over. Raises `no_recipient_to_remind` if there is none.
    """
    require(document, Act.REMIND, now)
    kept = [recipient for recipient in document.recipients if is_kept(recipient)]
    if not kept:
        raise Problem("no_recipient_to_remind", current_status=document.status)
    events, jobs, after = [], [], replace(document, updated_at=now)
    for recipient in kept:
        queued = replace(recipient, delivery=MailDelivery.QUEUED, delivery_at=now, delivery_error=None)
        after = after.with_recipient(queued)
        detail = {"email": recipient.email}
        events.append(Event("recipient.sent", now, author.actor, recipient.id, author.origin, detail=detail))
        key = f"invite:{recipient.id}:{document.revision + 1}"
        jobs.append(MailJob("invitation", key, recipient.id))
    return Outcome(after, tuple(events), tuple(jobs))


def is_kept(recipient: Recipient) -> bool:
    """Return whether the invitation of the recipient was kept, and they have not come by another way."""
    return recipient.status is RecipientStatus.SENT and recipient.delivery is MailDelivery.KEPT
