"""Takes a document from draft to its end (contract 2.1): the only code that changes a status."""

from dataclasses import replace

from esign.core.actor import Actor, Author, Origin
from esign.core.document.challenge import Method
from esign.core.document.document import (
    Document,
    Recipient,
    RecipientStatus,
    Role,
    Seal,
    Status,
)
from esign.core.document.placement import find_out_of_bounds
from esign.core.document.state import Act, require
from esign.core.document.state.invite import invite_next, send_copy
from esign.core.document.state.outcome import Event, MailJob, Outcome, SealJob
from esign.core.document.summary import AnyDocument
from esign.core.errors import Detail, Problem
from esign.core.instant import DAY, HOUR, MINUTE, Instant, Millis, rfc3339
from esign.core.sentence import say

SEAL_RETRIES: tuple[Millis, ...] = (MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR)
ALERT_AFTER = 3

DONE = {Role.SIGNER: "signed", Role.APPROVER: "approved"}


def create(document: Document, origin: Origin, now: Instant) -> Outcome:
    """Create a draft with its file (D1)."""
    file = document.file
    data = {"fileSha256": file.uploaded, "preparedSha256": file.prepared, "pageCount": document.page_count}
    if file.removed:
        data["removed"] = list(file.removed)
    if file.repaired:
        data["repaired"] = True
    return Outcome(document, (Event("document.created", now, document.created_by, origin=origin, data=data),))


def send(document: Document, author: Author, now: Instant) -> Outcome:
    """Send the draft: freeze the content and invite the first group (D4).

    Raises `document_not_draft`, and `document_not_ready` with what is missing.
    """
    require(document, Act.SEND)
    if missing := find_missing(document):
        raise Problem("document_not_ready", details=missing, current_status=document.status)
    document = replace(
        document,
        status=Status.SENT,
        sent_at=now,
        updated_at=now,
        expires_at=now + document.expires_in_days * DAY,
    )
    return invite_next(
        Outcome(document, (Event("document.sent", now, author.actor, origin=author.origin),)), now
    )


def find_missing(document: Document) -> list[Detail]:
    """List what is missing before the draft can be sent."""
    missing = [
        Detail(f"/recipients/{n}/{member}", say(form, number=n + 1), "required")
        for n, recipient in enumerate(document.recipients)
        for member, form, given in (
            ("email", "Recipient {number} needs an email address.", recipient.email),
            ("name", "Recipient {number} needs a name.", recipient.name),
        )
        if not given
    ]
    if not any(r.role is Role.SIGNER for r in document.recipients):
        missing.append(Detail("/recipients", "At least one recipient must be a signer.", "required"))
    for n, recipient in enumerate(document.recipients):
        for m, field in enumerate(recipient.fields):
            path = f"/recipients/{n}/fields/{m}"
            if not recipient.acting:
                missing.append(Detail(path, "Only signers and approvers may hold fields.", "reference"))
            else:
                missing += find_out_of_bounds(field, document.file.pages, path)
    return missing


def view(document: Document, recipient: Recipient, origin: Origin, now: Instant) -> Outcome:
    """Record the first view of an invited recipient, which is all that a viewer does; later views change nothing."""
    require(document, Act.VIEW, now)
    require_active(document, recipient)
    if recipient.status is not RecipientStatus.SENT:
        return Outcome(document)
    actor = make_actor(recipient)
    seen = replace(recipient, status=RecipientStatus.VIEWED, viewed_at=now)
    events = [Event("recipient.viewed", now, actor, recipient.id, origin, data=name_link(recipient))]
    if recipient.authentication == Method.LINK:  # a code was recorded when it was entered
        passed = {"method": Method.LINK.value, "result": "passed", **name_link(recipient)}
        events.insert(0, Event("recipient.authenticated", now, actor, recipient.id, origin, data=passed))
    return Outcome(replace(document, updated_at=now).with_recipient(seen), tuple(events))


def complete(document: Document, recipient: Recipient, consent: str, origin: Origin, now: Instant) -> Outcome:
    """Record that one recipient has finished; the last one starts the seal (D5, D6).

    `recipient` brings the fields filled in, the signature and the link.
    """
    require(document, Act.COMPLETE, now)
    require_turn(document, recipient)
    seen = view(document, recipient, origin, now)
    recipient = replace(
        seen.document.recipient(recipient.id),
        status=RecipientStatus.COMPLETED,
        completed_at=now,
        fields=recipient.fields,
        ink=recipient.ink,
        consent=consent,
        origin=origin,
        next_reminder_at=None,
        link=recipient.link,
    )
    document = replace(seen.document, updated_at=now).with_recipient(recipient)
    actor = make_actor(recipient)
    events = (
        *seen.events,
        Event("recipient.consented", now, actor, recipient.id, origin, data={"consent": consent}),
        Event(
            "recipient.completed",
            now,
            actor,
            recipient.id,
            origin,
            data={"act": DONE[recipient.role], **name_link(recipient)},
        ),
    )
    if document.have_all_acted():
        return Outcome(replace(document, status=Status.SEALING), events, (SealJob(),))
    return invite_next(Outcome(document, events), now)


def decline(
    document: Document, recipient: Recipient, reason: str | None, origin: Origin, now: Instant
) -> Outcome:
    """Record that one recipient declines, which ends the document for all (D9)."""
    require(document, Act.DECLINE, now)
    require_turn(document, recipient)
    refused = replace(
        recipient,
        status=RecipientStatus.DECLINED,
        declined_at=now,
        decline_reason=reason,
        origin=origin,
        next_reminder_at=None,
    )
    told = [r for r in document.recipients if r.sent_at is not None]
    closed = close(document.with_recipient(refused), Status.DECLINED, reason, now)
    actor = make_actor(recipient)
    detail = {"reason": reason} if reason else None
    return Outcome(
        closed,
        (
            Event("recipient.declined", now, actor, recipient.id, origin, name_link(recipient), detail),
            Event("document.declined", now, actor, recipient.id, origin),
        ),
        (
            MailJob("declined", f"declined:{document.id}"),
            *(MailJob("declined", f"declined:{document.id}:{r.id}", r.id) for r in told),
        ),
    )


def expire(document: Document, now: Instant) -> Outcome:
    """Expire a document that was not completed in time (D10). Raises `document_not_sent`."""
    require(document, Act.EXPIRE)
    if document.expires_at is None or now < document.expires_at:
        raise Problem("document_not_sent", "The document has not expired.", current_status=document.status)
    return Outcome(
        close(document, Status.EXPIRED, None, now),
        (Event("document.expired", now),),
        (MailJob("expired", f"expired:{document.id}"),),
    )


def cancel(document: Document, reason: str | None, notify: bool, author: Author, now: Instant) -> Outcome:
    """Cancel a document that is out (D11).

    With `notify`, every recipient who was sent something gets a mail. Raises `document_not_sent`.
    """
    require(document, Act.CANCEL, now)
    told = [r for r in document.recipients if notify and r.sent_at is not None]
    return Outcome(
        close(document, Status.CANCELLED, reason, now),
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
    require(document, Act.DELETE)
    data = {"status": document.status.value}
    return Outcome(document, (Event("document.deleted", now, author.actor, origin=author.origin, data=data),))


def seal(document: Document, sealed: Seal, now: Instant) -> Outcome:
    """Record that the sealed file is written and verified, and send every recipient a copy (D7).

    For recipients with the role cc, the copy is all they are ever sent.
    """
    require(document, Act.SEAL)
    document = replace(
        document,
        recipients=tuple(send_copy(recipient, now) for recipient in document.recipients),
        status=Status.COMPLETED,
        completed_at=now,
        updated_at=now,
        seal=sealed,
        seal_error=None,
    )
    data = {"sha256": sealed.sha256, "level": sealed.level, "certificate": sealed.certificate}
    if sealed.asked != sealed.level:
        data["levelAsked"] = sealed.asked
    if sealed.stamped_at is not None:
        data["timestamp"] = rfc3339(sealed.stamped_at)
    return Outcome(
        document,
        (Event("document.completed", now, data=data),),
        (
            MailJob("completed", f"completed:{document.id}"),
            *(MailJob("completed", f"completed:{r.id}", r.id) for r in document.recipients),
        ),
    )


def seal_failed(document: Document, reason: str, now: Instant) -> tuple[Outcome, Instant]:
    """Record a failed attempt to seal and return when the next is due (D8).

    Attempts go on without end. The third adds an event that alerts the operator.
    """
    require(document, Act.FAIL_TO_SEAL)
    attempts = document.seal_attempts + 1
    document = replace(document, seal_error=reason, seal_attempts=attempts, updated_at=now)
    wait = SEAL_RETRIES[min(attempts, len(SEAL_RETRIES)) - 1]
    events = (
        (Event("document.seal_failed", now, data={"attempts": attempts}),) if attempts == ALERT_AFTER else ()
    )
    return Outcome(document, events), now + wait


def retry_seal(document: Document, author: Author, now: Instant) -> Outcome:
    """Try a failed seal again now, instead of at its next date (D8). Raises `seal_not_failed`."""
    require_failed_seal(document)
    return Outcome(
        document, (Event("document.seal_retried", now, author.actor, origin=author.origin),), (SealJob(),)
    )


def require_failed_seal(document: AnyDocument) -> None:
    """Raise `seal_not_failed` unless the seal of the document has failed and was not retried successfully."""
    require(document, Act.RETRY_SEAL)
    if document.seal_error is None:
        raise Problem("seal_not_failed", current_status=document.status)


def close(document: Document, status: Status, reason: str | None, now: Instant) -> Document:
    """Return the document as ended without a seal, its reminders stopped."""
    quiet = tuple(replace(r, next_reminder_at=None) for r in document.recipients)
    return replace(
        document, status=status, closed_at=now, close_reason=reason, updated_at=now, recipients=quiet
    )


def require_turn(document: Document, recipient: Recipient) -> None:
    """Raise a Problem for a recipient who has finished, was not invited yet, or only reads."""
    require_active(document, recipient)
    if not recipient.acting:
        raise Problem("recipient_not_active", current_status=document.status)


def require_active(document: Document, recipient: Recipient) -> None:
    """Raise a Problem when the recipient's link opens nothing: finished, not invited yet, or without a link."""
    if recipient.status is RecipientStatus.COMPLETED:
        raise Problem("recipient_already_completed", current_status=document.status)
    if not recipient.is_active:
        raise Problem("recipient_not_active", current_status=document.status)


def name_link(recipient: Recipient) -> dict[str, str]:
    """Return how the link reached the recipient, as data of an audit entry; empty when that is not known."""
    return {"link": str(recipient.link)} if recipient.link is not None else {}


def make_actor(recipient: Recipient) -> Actor:
    """Return the recipient as an actor."""
    return Actor("recipient", recipient.id, recipient.name, recipient.email)
