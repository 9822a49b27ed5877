"""Notices before an API key expires, or before it is revoked because it was unused for a year (contract 1, 8)."""

from dataclasses import dataclass

from esign.core.instant import DAY, Instant, Millis
from esign.core.people.api_key import ApiKey

EXPIRY_NOTICES = (14, 3)
UNUSED: Millis = 365 * DAY
# How long before the end of an unused key its two notices are due. A late notice moves the end back.
FIRST, SECOND = 14 * DAY, 3 * DAY


def find_expiry_notice(key: ApiKey, now: Instant) -> int | None:
    """Return how many days ahead the notice is that is due now, or None if none is due or it was given.

    After a downtime only the latest notice that still fits is given. A key made after a notice was due gets no
    such notice.
    """
    if key.expires_at is None or now >= key.expires_at:
        return None
    due = [days for days in EXPIRY_NOTICES if key.created_at < key.expires_at - days * DAY <= now]
    days = min(due, default=None)
    return None if days == key.expiry_notice else days


@dataclass(frozen=True, slots=True)
class UnusedKeyStep:
    """What is due for an unused key: the notice of this number or, if `notice` is None, its end.

    `ends_at` is when the key ends if it stays unused.
    """

    notice: int | None
    ends_at: Instant


def find_unused_step(key: ApiKey, now: Instant) -> UnusedKeyStep | None:
    """Return what is due for an unused key now, or None.

    A use after a notice starts the sequence again.
    """
    used_at = key.last_used_at or key.created_at
    ends_at = used_at + UNUSED
    given, noticed_at = key.unused_notices, key.unused_noticed_at or 0
    if noticed_at < used_at:
        given = 0
    if given == 0:
        return UnusedKeyStep(1, max(ends_at, now + FIRST)) if now >= ends_at - FIRST else None
    if given == 1:
        due_at = max(ends_at - SECOND, noticed_at + FIRST - SECOND)
        return UnusedKeyStep(2, max(ends_at, now + SECOND)) if now >= due_at else None
    ends_at = max(ends_at, noticed_at + SECOND)
    return UnusedKeyStep(None, ends_at) if now >= ends_at else None
