"""When the next reminder of a recipient is due (contract 1, Reminders)."""

from esign.core.instant import DAY, HOUR, Instant, Millis
from esign.core.people.account import Reminders

APART: Millis = HOUR  # least time between two reminders of a recipient (contract 7)


def find_next_due(
    reminders: Reminders, sent_at: Instant, expires_at: Instant, after: Instant
) -> Instant | None:
    """Return the earliest planned reminder at least an hour after the last one, or None when no more are
    planned.

    The plan is absolute: a reminder that was missed is skipped, not caught up on.
    """
    if not reminders.enabled:
        return None
    first = sent_at + reminders.first_after_days * DAY
    plan = [first + n * reminders.every_days * DAY for n in range(reminders.max)]
    last = expires_at - reminders.before_expiry_hours * HOUR
    if reminders.before_expiry_hours and last > sent_at + DAY:
        plan.append(last)
    return min((at for at in plan if after + APART <= at < expires_at), default=None)
