"""When a certificate is renewed, and when a failed order is tried again. Pure functions of times."""

from esign.core.instant import DAY, MINUTE, SECOND, Instant, Millis

BEFORE_END: Millis = 30 * DAY
SHARE = 3  # of its life; a certificate of 45 days is renewed 15 days before its end
# Let's Encrypt takes 5 failed proofs of a name in an hour. These leave room for somebody who tries by hand.
PAUSES: tuple[Millis, ...] = (MINUTE, 10 * MINUTE, 60 * MINUTE, 180 * MINUTE, 360 * MINUTE)
BY_HAND: Millis = MINUTE  # between a failed order and one that somebody asks for
LONGEST: Millis = DAY
AFTER_START: Millis = 15 * MINUTE


def find_renewal_time(begins_at: Instant, ends_at: Instant) -> Instant:
    """Return the time from which a certificate is renewed: 30 days before its end, or at a third of its life.

    Its last second belongs to its life (RFC 5280, 4.1.2.5): one of 90 days ends a second less after its beginning.
    """
    return ends_at - min(BEFORE_END, (ends_at - begins_at + SECOND) // SHARE)


def plan_next_order(now: Instant, failures: int, wish: int) -> Instant:
    """Return when to order again after so many failures in a row. `wish` are the seconds that the authority asked for.

    No pause is longer than a day, since an authority that is right again must not wait for a week.
    """
    pause = PAUSES[min(failures, len(PAUSES)) - 1]
    return now + min(max(pause, wish * SECOND), LONGEST)


def plan_first_order(last_at: Instant, next_at: Instant) -> Instant:
    """Return when a program that starts orders, which is sooner than planned: an operator may have mended the cause.

    A program that starts again and again orders every 15 minutes.
    """
    return min(next_at, last_at + AFTER_START)


def is_due(now: Instant, next_at: Instant) -> bool:
    """Return whether the time has come. What is planned later than any pause reaches was planned by a wrong clock."""
    return now >= next_at or next_at > now + LONGEST
