"""The changes that a sender may make, by status (contract 2.1), and the correction of a recipient (contract 2.2)."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from esign.core.actor import Author
from esign.core.document import reminder
from esign.core.document.document import Document, MailDelivery, Recipient, RecipientStatus, Status
from esign.core.document.state import Act, require
from esign.core.document.state.invite import invite
from esign.core.document.state.outcome import Event, Job, MailJob, Outcome, RevokeLinks
from esign.core.errors import Detail, Problem
from esign.core.instant import DAY, Instant
from esign.core.sentence import say

ACTS = {  # of each member; any other is changed by Act.EDIT, in drafts only
    "expires_at": Act.EDIT_EXPIRY,
    "reminders": Act.EDIT_REMINDERS,
    "external_id": Act.EDIT_REFERENCE,
    "metadata": Act.EDIT_REFERENCE,
}
CORRECTED = frozenset({"email", "name"})
LONGEST_DAYS = 365


def check_may_change(document: Document, members: Collection[str]) -> None:
    """Raise a Problem for members that this status does not let be changed: no longer, or not yet."""
    if document.status is Status.DRAFT and "expires_at" in members:
        message = "A draft has no expiry yet; set expiresInDays."
        raise Problem("document_not_sent", message, current_status=document.status)
    for member in members:
        require(document, ACTS.get(member, Act.EDIT))


def edit(document: Document, changes: Mapping[str, Any], author: Author, now: Instant) -> Outcome:
    """Return the document with these members replaced.

    `expires_at` None restores the expiry it was sent with. The audit entry lists the names of the members,
    never their content, and for a new file its hashes.
    """
    check_may_change(document, changes)
    if "expires_at" in changes:
        changes = {**changes, "expires_at": check_expiry(document, changes["expires_at"], now)}
    edited = replace(document, **changes)
    names = [
        to_camel_case(name) for name in sorted(changes) if getattr(edited, name) != getattr(document, name)
    ]
    if not names:
        return Outcome(document)
    data: dict[str, object] = {"members": names}
    if (edited.file.uploaded, edited.file.prepared) != (document.file.uploaded, document.file.prepared):
        data |= {"fileSha256": edited.file.uploaded, "preparedSha256": edited.file.prepared}
        data |= {"pageCount": edited.page_count, "removed": list(edited.file.removed)}
    if (edited.reminders, edited.expires_at) != (document.reminders, document.expires_at):
        edited = reschedule_reminders(edited, now)
    return Outcome(
        replace(edited, updated_at=now),
        (Event("document.updated", now, author.actor, origin=author.origin, data=data),),
    )


def check_expiry(document: Document, asked: Instant | None, now: Instant) -> Instant:
    """Return the new expiry; raise `invalid_request` unless it is later than now and at most a year after sending."""
    assert document.sent_at is not None
    at = document.sent_at + document.expires_in_days * DAY if asked is None else asked
    if not now < at <= document.sent_at + LONGEST_DAYS * DAY:
        message = say("Later than now, and at most {days} days after sending.", days=LONGEST_DAYS)
        raise Problem("invalid_request", details=[Detail("/expiresAt", message, "range")])
    return at


def reschedule_reminders(document: Document, now: Instant) -> Document:
    """Return the document with its next reminders planned by the new plan or expiry."""

    def next_due(recipient: Recipient) -> Instant | None:
        """Return the next reminder of one recipient, at least an hour after now and after the last reminder."""
        assert recipient.sent_at is not None and document.expires_at is not None
        last = max(recipient.last_reminded_at or 0, now - reminder.APART)
        return reminder.find_next_due(document.reminders, recipient.sent_at, document.expires_at, last)

    return replace(
        document,
        recipients=tuple(
            replace(r, next_reminder_at=next_due(r)) if r.is_invited else r for r in document.recipients
        ),
    )


def correct(document: Document, corrected: Recipient, author: Author, now: Instant) -> Outcome:
    """Save another address or name of a recipient; one who was already invited is invited anew, by a new link.

    If the document goes to another mailbox now, the old address is told when it may have received a link.
    Raises `document_not_sent` and `recipient_already_completed`.
    """
    require(document, Act.CORRECT, now)
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


def make_title(file_name: str) -> str:
    """Return the file name without `.pdf`, or all of it if nothing else is left, in at most 200 characters."""
    return (re.sub(r"\.pdf$", "", file_name, flags=re.IGNORECASE).strip() or file_name)[:200]


def to_camel_case(name: str) -> str:
    """Return the name of a member as the API writes it: `expires_at` becomes `expiresAt`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
