"""Reminds one recipient by schedule, or several at the sender's request, and says why others are not reminded
(contract 3.2, remind).
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from math import ceil

from esign.core.actor import SYSTEM, Author
from esign.core.document import reminder
from esign.core.document.document import Document, MailDelivery, Recipient, RecipientStatus
from esign.core.document.reminder import APART
from esign.core.document.state import Act, require
from esign.core.document.state.outcome import Event, Job, MailJob, Outcome
from esign.core.document.summary import AnyDocument, AnyRecipient
from esign.core.errors import Problem
from esign.core.instant import SECOND, Instant


@dataclass(frozen=True, slots=True)
class RemindersSent:
    """The outcome of reminding, the ids of those reminded, and (id, reason) of those who were not."""

    outcome: Outcome
    reminded: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


def remind_recipients(
    document: Document,
    wanted: Collection[str] | None,
    message: str | None,
    author: Author,
    now: Instant,
) -> RemindersSent:
    """Remind every recipient who may be reminded, or those of `wanted`.

    Raises `reminder_too_soon` or `no_recipient_to_remind` when no recipient is reminded.
    """
    reasons = check_may_remind(document, wanted, now)
    due = [r for r in document.recipients if r.id in reasons and reasons[r.id] is None]
    events: list[Event] = []
    jobs: list[Job] = []
    for recipient in due:
        one = send_reminder(document, recipient, now)
        document = one.document
        events += [replace(event, actor=author.actor, origin=author.origin) for event in one.events]
        jobs += [replace(job, message=message) if isinstance(job, MailJob) else job for job in one.jobs]
    outcome = Outcome(document, tuple(events), tuple(jobs))
    skipped = tuple((id, reason) for id, reason in reasons.items() if reason is not None)
    return RemindersSent(outcome, tuple(r.id for r in due), skipped)


def check_may_remind(
    document: AnyDocument, wanted: Collection[str] | None, now: Instant
) -> dict[str, str | None]:
    """Return for each recipient of `wanted`, or each at all, why they are not reminded now: None if they are.

    Raises `reminder_too_soon` or `no_recipient_to_remind` when none is.
    """
    require(document, Act.REMIND, now)
    asked: list[AnyRecipient] = [r for r in document.recipients if wanted is None or r.id in wanted]
    reasons = {r.id: find_reason_against(r, now) for r in asked}
    if None not in reasons.values():
        raise explain_refusal(document, asked, now)
    return reasons


def send_reminder(document: Document, recipient: Recipient, now: Instant) -> Outcome:
    """Send one automatic reminder and plan the next. Raises `no_recipient_to_remind`."""
    require(document, Act.REMIND, now)
    if not recipient.is_invited or recipient.sent_at is None or document.expires_at is None:
        raise Problem("no_recipient_to_remind", current_status=document.status)
    count = recipient.reminders_sent + 1
    reminded = replace(
        recipient,
        reminders_sent=count,
        last_reminded_at=now,
        next_reminder_at=reminder.find_next_due(
            document.reminders, recipient.sent_at, document.expires_at, now
        ),
        delivery=MailDelivery.QUEUED,
        delivery_at=now,
        delivery_error=None,
    )
    return Outcome(
        replace(document, updated_at=now).with_recipient(reminded),
        (Event("recipient.reminded", now, SYSTEM, recipient.id),),
        (MailJob("reminder", f"remind:{recipient.id}:{count}", recipient.id),),
    )


def find_reason_against(recipient: AnyRecipient, now: Instant) -> str | None:
    """Return why the recipient is not reminded now, or None if they are."""
    if not recipient.acting:
        return "not_acting"
    if recipient.status is RecipientStatus.COMPLETED:
        return "completed"
    if not recipient.is_invited:
        return "not_invited"
    return "too_soon" if is_too_soon(recipient, now) else None


def is_too_soon(recipient: AnyRecipient, now: Instant) -> bool:
    """Return whether the last reminder, manual or automatic, is less than an hour old."""
    return recipient.last_reminded_at is not None and now < recipient.last_reminded_at + APART


def explain_refusal(document: AnyDocument, asked: Collection[AnyRecipient], now: Instant) -> Problem:
    """Return the error for a request that reminds no recipient: 429 when waiting helps one of them."""
    waits = [
        r.last_reminded_at + APART - now for r in asked if r.is_invited and r.last_reminded_at is not None
    ]
    if waits:
        return Problem("reminder_too_soon", retry_after=ceil(min(waits) / SECOND))
    return Problem("no_recipient_to_remind", current_status=document.status)
