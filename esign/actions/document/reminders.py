"""Reminders: those that are due by schedule (contract 1, Reminders) and those that a sender requests."""

from dataclasses import dataclass, replace

from esign.actions.base import quota
from esign.actions.base.caller import Caller
from esign.actions.base.expiry import may_expire
from esign.actions.document.documents import change_own, get
from esign.core.document.document import Document
from esign.core.document.state import lifecycle
from esign.core.document.state.outcome import Outcome
from esign.core.document.state.remind import RemindersSent, remind_recipients, send_reminder
from esign.core.errors import Detail, Problem
from esign.core.instant import DAY, HOUR, Instant
from esign.runtime import Runtime
from esign.store.document import documents, outcomes
from esign.store.engine.database import Transaction
from esign.store.people import usage
from esign.system.vault import Vault


async def remind(runtime: Runtime, document_id: str, recipient_id: str) -> None:
    """Remind one recipient, or only clear the date if there is nothing left to remind of.

    If the day's e-mails are used up, the reminder is due again in an hour. Does nothing while the clock is in
    doubt.
    """
    now, most = runtime.clock.read_settled_time(), runtime.config.limits.emails_per_day
    if runtime.clock.doubt:
        return

    async def write(tx: Transaction) -> None:
        before = await documents.get(tx, document_id)
        if await may_expire(runtime, tx, before):
            await outcomes.save(tx, lifecycle.expire(before, now), before, runtime.vault, now)
            return
        recipient = before.recipient(recipient_id)
        if recipient.next_reminder_at is None or recipient.next_reminder_at > now:
            return
        if await usage.count_emails(tx, before.organisation_id, now // DAY) >= most:
            later = replace(recipient, next_reminder_at=now + HOUR)
            outcome = Outcome(before.with_recipient(later))
        elif before.status == "sent" and recipient.is_invited:
            outcome = send_reminder(before, recipient, now)
        else:
            outcome = Outcome(before.with_recipient(replace(recipient, next_reminder_at=None)))
        await outcomes.save(tx, outcome, before, runtime.vault, now)

    await runtime.db.write(write)


@dataclass(frozen=True, slots=True)
class ReminderResult:
    """The document, the ids of the reminded recipients, and (id, reason) of those who were not reminded."""

    document: Document
    reminded: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


async def remind_by_hand(
    runtime: Runtime,
    caller: Caller,
    document_id: str,
    wanted: tuple[str, ...] | None,
    message: str | None,
) -> ReminderResult:
    """Remind the `wanted` recipients, or all who may be reminded, with a message of the sender.

    Raises `invalid_request` for an unknown recipient, and what `quota.check_mails` raises.
    """
    now = runtime.clock.now()
    done: list[RemindersSent] = []  # one for each call of `decide`; the last belongs to the transaction

    def decide(document: Document) -> Outcome:
        known = {recipient.id for recipient in document.recipients}
        if unknown := [
            Detail(f"/recipientIds/{n}", "No recipient of this document has this id.", "reference")
            for n, id in enumerate(wanted or ())
            if id not in known
        ]:
            raise Problem("invalid_request", details=unknown[:100])
        done.append(remind_recipients(document, wanted, message, caller.author, now))
        return done[-1].outcome

    async def save(
        tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant
    ) -> ReminderResult:
        document = await outcomes.save(tx, outcome, before, vault, now)
        return ReminderResult(document, done[-1].reminded, done[-1].skipped)

    decide(await get(runtime, caller.owner, document_id))
    await quota.check_mails(runtime, runtime.db, caller.owner.organisation_id)
    return await change_own(runtime, caller, document_id, decide, save)
