"""Completes a document with a sealed file that somebody kept, after a restore from an older backup.

The file carries the audit trail under the seal of this installation. What the trail says beyond the restored one is
followed: the same acts, at their times. Nothing is mailed, as it was when the document was first completed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from esign.core.actor import COMMAND_LINE, Origin
from esign.core.document.audit import AuditEntry
from esign.core.document.document import (
    Document,
    MailDelivery,
    Recipient,
    RecipientStatus,
    Seal,
    Status,
)
from esign.core.document.state import Act, lifecycle, require
from esign.core.document.state.outcome import Event, Outcome
from esign.core.errors import Problem
from esign.core.instant import Instant, rfc3339

PUT_BACK = "document.put_back"

Follow = Callable[[Recipient, AuditEntry], Recipient]


class UnfitTrail(Exception):
    """The entries cannot have followed on the document; the message continues a sentence about the trail."""


def follow_trail(document: Document, entries: Sequence[AuditEntry]) -> Document:
    """Return a document that is out as it is after further entries of its trail: all have acted, and no seal yet.

    What recipients entered stands in no trail, so fields and signatures stay empty. Raises `UnfitTrail`.
    """
    require(document, Act.COMPLETE)
    for entry in entries:
        document = replace(follow_entry(document, entry), updated_at=entry.at)
    if not document.have_all_acted():
        raise UnfitTrail("does not say that everybody has acted")
    quiet = tuple(replace(recipient, next_reminder_at=None) for recipient in document.recipients)
    return replace(document, status=Status.SEALING, recipients=quiet)


def follow_entry(document: Document, entry: AuditEntry) -> Document:
    """Return the document after one entry. Raises `UnfitTrail` for one that cannot come between sending and sealing."""
    if entry.type in UNCHANGED:
        return document
    try:
        follow = FOLLOWED[entry.type]
        return document.with_recipient(follow(document.recipient(entry.recipient_id or ""), entry))
    except (KeyError, TypeError, Problem):
        raise UnfitTrail(
            f"has an entry {entry.seq} ({entry.type}) that does not fit the document here"
        ) from None


def follow_invitation(recipient: Recipient, entry: AuditEntry) -> Recipient:
    """Return the recipient as invited; one who was invited before stays as they are."""
    if recipient.status is not RecipientStatus.CREATED:
        return recipient
    return replace(recipient, status=RecipientStatus.SENT, sent_at=entry.at)


def follow_correction(recipient: Recipient, entry: AuditEntry) -> Recipient:
    """Return the recipient with the corrected name and address, and invited anew if they were invited."""
    new = read_detail(entry)["new"]
    corrected = replace(recipient, email=str(new["email"]), name=str(new["name"]))
    if recipient.status is RecipientStatus.CREATED:
        return corrected
    return replace(
        corrected, status=RecipientStatus.SENT, sent_at=entry.at, viewed_at=None, link=None, code=None
    )


def follow_authentication(recipient: Recipient, entry: AuditEntry) -> Recipient:
    """Return the recipient with the way by which link and code came."""
    return replace(
        recipient,
        link=read_word(entry, "link", recipient.link),
        code=read_word(entry, "code", recipient.code),
    )


def follow_view(recipient: Recipient, entry: AuditEntry) -> Recipient:
    """Return the recipient as having looked at the document."""
    return replace(recipient, status=RecipientStatus.VIEWED, viewed_at=entry.at)


def follow_consent(recipient: Recipient, entry: AuditEntry) -> Recipient:
    """Return the recipient with the words that they agreed to."""
    return replace(recipient, consent=str(entry.data["consent"]))


def follow_reminder(recipient: Recipient, entry: AuditEntry) -> Recipient:
    """Return the recipient as reminded once more."""
    return replace(recipient, reminders_sent=recipient.reminders_sent + 1, last_reminded_at=entry.at)


def follow_completion(recipient: Recipient, entry: AuditEntry) -> Recipient:
    """Return the recipient as finished. Raises KeyError for an act that is not that of their role."""
    if entry.data["act"] != lifecycle.DONE[recipient.role] or recipient.status is RecipientStatus.COMPLETED:
        raise KeyError(entry.type)
    personal = entry.personal or {}
    return replace(
        recipient,
        status=RecipientStatus.COMPLETED,
        completed_at=entry.at,
        origin=Origin(personal.get("ip"), personal.get("userAgent")),
        link=read_word(entry, "link", recipient.link),
    )


def read_detail(entry: AuditEntry) -> Mapping[str, Mapping[str, object]]:
    """Return the personal detail of an entry. Raises KeyError if it has none."""
    return dict((entry.personal or {})["detail"])


def read_word(entry: AuditEntry, name: str, otherwise: str | None) -> str | None:
    """Return a text of the entry's data, or `otherwise` if it has none of that name."""
    return str(entry.data[name]) if name in entry.data else otherwise


# By type: what an entry changes about the recipient that it names.
FOLLOWED: Mapping[str, Follow] = {
    "recipient.sent": follow_invitation,
    "recipient.corrected": follow_correction,
    "recipient.authenticated": follow_authentication,
    "recipient.viewed": follow_view,
    "recipient.consented": follow_consent,
    "recipient.reminded": follow_reminder,
    "recipient.completed": follow_completion,
}
# Entries that change nothing that outlives the completion, or only what no trail records, such as another expiry.
UNCHANGED = frozenset(
    {
        *("document.updated", "document.downloaded", "document.page_not_shown", "link.issued"),
        *("recipient.code_sent", "recipient.authentication_failed", "recipient.unblocked"),
        *("recipient.delivery_failed", "recipient.link_requested"),
    }
)


def put_back(document: Document, sealed: Seal, adopted: int, now: Instant) -> Outcome:
    """Complete a document that waits for its seal with a file that was sealed before; `now` is when this is done.

    `adopted` is the number of entries that the file added to the trail. The document counts as completed when the
    file was sealed. The outcome has no mails: they were queued then.
    """
    require(document, Act.SEAL)
    done = lifecycle.seal(document, sealed, sealed.sealed_at)
    (completed,) = done.events
    recipients = tuple(
        after if after == before else replace(after, delivery=MailDelivery.NONE, delivery_at=None)
        for before, after in zip(document.recipients, done.document.recipients, strict=True)
    )
    facts = {"sha256": sealed.sha256, "adopted": adopted}
    data = {**completed.data, "sealedAt": rfc3339(sealed.sealed_at)}
    return Outcome(
        replace(done.document, recipients=recipients, updated_at=now),
        (Event(PUT_BACK, now, COMMAND_LINE, data=facts), replace(completed, at=now, data=data)),
    )
