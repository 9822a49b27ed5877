"""The codes by which a recipient shows who they are: how long one lives, and how often one may try.

`email_code`: six digits by mail, for 10 minutes and 5 wrong tries, at most 10 codes a day (UTC), a minute apart:
50 guesses a day among a million. `access_code`: agreed upon beforehand, so it cannot be changed when it was
guessed at: 5 wrong tries in 15 minutes and 20 in all (docs/dev/security.md 4). Time lowers a count, and the
sender, who sees that somebody is blocked and lets them try again.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from esign.core.instant import DAY, MINUTE, Instant, Millis

LIVES: Millis = 10 * MINUTE
APART: Millis = MINUTE
CODES_A_DAY = 10
TRIES = 5
WINDOW: Millis = 15 * MINUTE
TRIES_IN_ALL = 20


class Method(StrEnum):
    """How a recipient shows that the link is theirs; with `link` alone, by having it."""

    LINK = "link"
    EMAIL_CODE = "email_code"
    ACCESS_CODE = "access_code"


class Step(StrEnum):
    """What the recipient can do next."""

    ASK = "ask"  # have a first code sent
    ENTER = "enter"
    EXPIRED = "expired"  # have a new one sent: the last has grown too old
    SPENT = "spent"  # have a new one sent: the last was tried too often
    WAIT = "wait"  # nothing before `at`
    BLOCKED = "blocked"  # nothing any more


@dataclass(frozen=True, slots=True)
class Challenge:
    """What is known of the codes of one recipient; `code` is the mac of the one mailed last, until it is used.

    `sent` counts the codes of the day `sent_on` (UTC, from 1970), `tries` the wrong tries at the last code,
    or for an access code those in the window that began at `tries_since`. `reached` is what became of the mail with
    the code (`link.Reached`).
    """

    recipient_id: str
    code: bytes | None = None
    sent_at: Instant | None = None
    sent_on: int | None = None
    sent: int = 0
    tries: int = 0
    tries_since: Instant | None = None
    tries_in_all: int = 0
    reached: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a recipient stands: `left` tries; a new code can be sent, or a wait is over, at `at`, if ever."""

    step: Step
    left: int = 0
    at: Instant | None = None
    until: Instant | None = None


def standing(method: str, challenge: Challenge, now: Instant) -> Standing:
    if method == Method.ACCESS_CODE:
        return standing_of_agreed(challenge, now)
    return standing_of_mailed(challenge, now)


def standing_of_agreed(challenge: Challenge, now: Instant) -> Standing:
    if challenge.tries_in_all >= TRIES_IN_ALL:
        return Standing(Step.BLOCKED)
    since = challenge.tries_since
    tries = challenge.tries if since is not None and now < since + WINDOW else 0
    if tries >= TRIES and since is not None:
        return Standing(Step.WAIT, at=since + WINDOW)
    return Standing(Step.ENTER, min(TRIES - tries, TRIES_IN_ALL - challenge.tries_in_all))


def standing_of_mailed(challenge: Challenge, now: Instant) -> Standing:
    again = next_code_at(challenge, now)
    left = TRIES - challenge.tries
    if challenge.sent_at is not None and challenge.code is not None:
        until = challenge.sent_at + LIVES
        if left > 0 and now < until:
            return Standing(Step.ENTER, left, again, until)
        return Standing(Step.SPENT if left <= 0 else Step.EXPIRED, at=again)
    return Standing(Step.ASK, at=again)


def next_code_at(challenge: Challenge, now: Instant) -> Instant:
    """When the next code may be sent; not later than `now` where it may be already."""
    if challenge.sent_on == now // DAY and challenge.sent >= CODES_A_DAY:
        return (now // DAY + 1) * DAY
    return now if challenge.sent_at is None else challenge.sent_at + APART


def sent(challenge: Challenge, code: bytes, now: Instant) -> Challenge:
    """A new code is on its way; the one before it no longer counts."""
    today = now // DAY
    so_far = challenge.sent if challenge.sent_on == today else 0
    return replace(challenge, code=code, sent_at=now, sent_on=today, sent=so_far + 1, tries=0, reached=None)


def tried(method: str, challenge: Challenge, now: Instant) -> Challenge:
    """One wrong try more."""
    more = replace(challenge, tries=challenge.tries + 1, tries_in_all=challenge.tries_in_all + 1)
    if method == Method.EMAIL_CODE:
        return more
    since = challenge.tries_since
    if since is None or now >= since + WINDOW:
        return replace(more, tries=1, tries_since=now)
    return more


def is_blocked(method: str, challenge: Challenge, now: Instant) -> bool:
    """Return whether the recipient can neither enter a code now nor have one sent within a minute."""
    found = standing(method, challenge, now)
    if method == Method.ACCESS_CODE:
        return found.step in (Step.WAIT, Step.BLOCKED)
    return found.step is not Step.ENTER and found.at is not None and found.at > now + APART


def reset(challenge: Challenge) -> Challenge:
    """Return the challenge of somebody who has tried nothing and was sent nothing."""
    return Challenge(challenge.recipient_id)


def passed(challenge: Challenge) -> Challenge:
    """A mailed code is used up by being right."""
    return replace(challenge, code=None)
