"""Automatic reminders (contract 1, Reminders)."""

from dataclasses import replace

from esign.core import lifecycle
from esign.core.instant import DAY, HOUR
from esign.core.outcome import Outcome
from esign.runtime import Runtime
from esign.store import documents, outcomes, usage
from esign.store.database import Transaction


async def remind(runtime: Runtime, document_id: str, recipient_id: str) -> None:
    """Remind one recipient, or only clear the date where there is nothing left to remind of.

    With the day's mails used up it waits for an hour.
    """
    now, quota = runtime.clock.now(), runtime.config.limits.emails_per_day

    async def write(tx: Transaction) -> None:
        before = await documents.get(tx, document_id)
        if lifecycle.is_past_expiry(before, now):
            await outcomes.save(tx, lifecycle.expire(before, now), before, runtime.vault, now)
            return
        recipient = before.recipient(recipient_id)
        if recipient.next_reminder_at is None or recipient.next_reminder_at > now:
            return
        if quota and await usage.emails(tx, before.organisation_id, now // DAY) >= quota:
            later = replace(recipient, next_reminder_at=now + HOUR)
            outcome = Outcome(before.with_recipient(later))
        elif before.status == "sent" and recipient.invited:
            outcome = lifecycle.remind(before, recipient, now)
        else:
            outcome = Outcome(before.with_recipient(replace(recipient, next_reminder_at=None)))
        await outcomes.save(tx, outcome, before, runtime.vault, now)

    await runtime.db.write(write)
    runtime.bell.ring()
