"""When the next reminder of a recipient is due (contract 1, Reminders)."""

from esign.core.instant import DAY, HOUR, Instant, Millis
from esign.core.people.account import Reminders

APART: Millis = HOUR  # nobody is reminded more often (contract 7)


def next_due(reminders: Reminders, sent_at: Instant, expires_at: Instant, after: Instant) -> Instant | None:
    """The earliest planned reminder an hour or more after the last; the plan is absolute: a missed one is skipped."""
    if not reminders.enabled:
        return None
    first = sent_at + reminders.first_after_days * DAY
    plan = [first + n * reminders.every_days * DAY for n in range(reminders.max)]
    last = expires_at - reminders.before_expiry_hours * HOUR
    if reminders.before_expiry_hours and last > sent_at + DAY:
        plan.append(last)
    return min((at for at in plan if after + APART <= at < expires_at), default=None)
