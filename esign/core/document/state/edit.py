"""What a sender may change, and when (D2 and the table of contract 2.1)."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from esign.core.actor import Actor, Origin
from esign.core.document import reminder
from esign.core.document.document import Document, Recipient, Status
from esign.core.document.state.outcome import Event, Outcome
from esign.core.errors import Detail, Problem
from esign.core.instant import DAY, Instant

ALWAYS = frozenset({"external_id", "metadata"})
WHILE_SENT = ALWAYS | {"expires_at", "reminders"}
LONGEST_DAYS = 365


def check_may_change(document: Document, members: Collection[str]) -> None:
    """Refuse members that the state does not let be changed any more, or not yet."""
    if document.status is Status.DRAFT:
        if "expires_at" in members:
            raise Problem(
                "document_not_sent",
                "A draft has no expiry yet; set expiresInDays.",
                current_status=document.status,
            )
        return
    allowed = WHILE_SENT if document.status is Status.SENT else ALWAYS
    if not allowed.issuperset(members):
        raise Problem("document_not_draft", current_status=document.status)


def edit(
    document: Document, changes: Mapping[str, Any], actor: Actor, origin: Origin, now: Instant
) -> Outcome:
    """The document with these members replaced; `expires_at` None is the expiry it was sent with.

    The entry of the audit trail names the members, never their content, and for a new file its hashes.
    """
    check_may_change(document, changes)
    if "expires_at" in changes:
        changes = {**changes, "expires_at": expiry(document, changes["expires_at"], now)}
    edited = replace(document, **changes)
    names = [camel(name) for name in sorted(changes) if getattr(edited, name) != getattr(document, name)]
    if not names:
        return Outcome(document)
    data: dict[str, Any] = {"members": names}
    if edited.file.uploaded != document.file.uploaded:
        data |= {"fileSha256": edited.file.uploaded, "preparedSha256": edited.file.prepared}
        data |= {"pageCount": edited.page_count, "removed": list(edited.file.removed)}
    if (edited.reminders, edited.expires_at) != (document.reminders, document.expires_at):
        edited = rescheduled(edited, now)
    return Outcome(
        replace(edited, updated_at=now), (Event("document.updated", now, actor, origin=origin, data=data),)
    )


def expiry(document: Document, asked: Instant | None, now: Instant) -> Instant:
    """The new expiry: later than now, at most a year after sending."""
    assert document.sent_at is not None
    at = document.sent_at + document.expires_in_days * DAY if asked is None else asked
    if not now < at <= document.sent_at + LONGEST_DAYS * DAY:
        message = f"Later than now, and at most {LONGEST_DAYS} days after sending."
        raise Problem("invalid_request", details=[Detail("/expiresAt", message, "range")])
    return at


def rescheduled(document: Document, now: Instant) -> Document:
    """The next reminders follow a new plan or expiry."""

    def next_due(recipient: Recipient) -> Instant | None:
        assert recipient.sent_at is not None and document.expires_at is not None
        last = max(recipient.last_reminded_at or 0, now - reminder.APART)
        return reminder.next_due(document.reminders, recipient.sent_at, document.expires_at, last)

    return replace(
        document,
        recipients=tuple(
            replace(r, next_reminder_at=next_due(r)) if r.invited else r for r in document.recipients
        ),
    )


def title_from(file_name: str) -> str:
    """The file name without `.pdf`, or all of it where nothing is left."""
    return (re.sub(r"\.pdf$", "", file_name, flags=re.IGNORECASE).strip() or file_name)[:200]


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
