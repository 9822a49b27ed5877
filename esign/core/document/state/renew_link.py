"""Lets a recipient of an expired document ask the sender for a new link, at most once an hour."""

from esign.core.actor import Origin
from esign.core.document.document import Document, Recipient
from esign.core.document.state import Act, is_allowed
from esign.core.document.state.lifecycle import make_actor
from esign.core.document.state.outcome import Event, MailJob, Outcome
from esign.core.errors import Problem
from esign.core.instant import HOUR, Instant, Millis

ASKED = "recipient.link_requested"
APART: Millis = HOUR


def may_ask(document: Document, recipient: Recipient, contact: str | None) -> bool:
    """Return whether the recipient was invited, has not finished, and there is an address that gets the mail."""
    open_ = recipient.sent_at is not None and recipient.completed_at is None
    return is_allowed(document, Act.ASK_FOR_LINK) and open_ and contact is not None


def is_recent(asked_at: Instant | None, now: Instant) -> bool:
    """Return whether the sender was told less than an hour ago, so that asking again adds nothing."""
    return asked_at is not None and now < asked_at + APART


def ask_for_link(
    document: Document, recipient: Recipient, contact: str | None, origin: Origin, now: Instant
) -> Outcome:
    """Tell the sender that the recipient asks for a new link; the document stays as it is.

    Raises `recipient_not_active`.
    """
    if not may_ask(document, recipient, contact):
        raise Problem("recipient_not_active", current_status=document.status)
    event = Event(ASKED, now, make_actor(recipient), recipient.id, origin)
    mail = MailJob("renewal", f"renewal:{recipient.id}:{now}", about=recipient.id)
    return Outcome(document, (event,), (mail,))
