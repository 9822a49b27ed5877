"""How an API key ends: what administrators are told before it expires, or is revoked as unused (contract 1, 8)."""

from dataclasses import dataclass

from esign.core.instant import DAY, Instant, Millis
from esign.core.people.api_key import ApiKey

EXPIRY_NOTICES = (14, 3)
UNUSED: Millis = 365 * DAY
# Before the end of an unused key: when its two notices are due, and that neither comes too short before it.
FIRST, SECOND = 14 * DAY, 3 * DAY


def expiry_notice(key: ApiKey, now: Instant) -> int | None:
    """How many days ahead the notice is that is due now; None where none is, or it was given.

    After a stop only the last that fits is left; a key that was made later than a notice is due gets none of it.
    """
    if key.expires_at is None or now >= key.expires_at:
        return None
    due = [days for days in EXPIRY_NOTICES if key.created_at < key.expires_at - days * DAY <= now]
    days = min(due, default=None)
    return None if days == key.expiry_notice else days


@dataclass(frozen=True, slots=True)
class Unused:
    """What an unused key comes to now: its notice of that number, or with none left (None) its end.

    `ends_at` is when it ends if it stays unused.
    """

    notice: int | None
    ends_at: Instant


def unused_step(key: ApiKey, now: Instant) -> Unused | None:
    """None while there is nothing to do; a use after a notice begins it all anew."""
    used_at = key.last_used_at or key.created_at
    ends_at = used_at + UNUSED
    given, noticed_at = key.unused_notices, key.unused_noticed_at or 0
    if noticed_at < used_at:
        given = 0
    if given == 0:
        return Unused(1, max(ends_at, now + FIRST)) if now >= ends_at - FIRST else None
    if given == 1:
        due_at = max(ends_at - SECOND, noticed_at + FIRST - SECOND)
        return Unused(2, max(ends_at, now + SECOND)) if now >= due_at else None
    ends_at = max(ends_at, noticed_at + SECOND)
    return Unused(None, ends_at) if now >= ends_at else None
