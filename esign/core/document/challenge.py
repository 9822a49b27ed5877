"""The codes by which a recipient proves who they are: how long a code is valid and how many tries it allows.

`email_code`: six digits by mail, valid for 10 minutes and 5 wrong tries, at most 10 codes a day (UTC), a minute
apart. That allows 50 guesses a day among a million.

`access_code`: agreed beforehand, so it cannot be replaced after it was guessed at. It allows 5 wrong tries in
15 minutes and 20 in all. The first count ends with its window. Both end when the sender, who sees that a
recipient is blocked, allows new tries.
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
    """How a recipient proves that the link is theirs. With `link`, having it is enough."""

    LINK = "link"
    EMAIL_CODE = "email_code"
    ACCESS_CODE = "access_code"


class ChallengeStep(StrEnum):
    """What the recipient can do next."""

    ASK = "ask"  # have a first code sent
    ENTER = "enter"
    EXPIRED = "expired"  # have a new one sent: the last has grown too old
    SPENT = "spent"  # have a new one sent: the last was tried too often
    WAIT = "wait"  # nothing before `at`
    BLOCKED = "blocked"  # nothing any more


@dataclass(frozen=True, slots=True)
class Challenge:
    """The state of one recipient's codes; `code` is the mac of the code mailed last, until it is used.

    `sent` counts the codes sent on the day `sent_on` (UTC, from 1970). `tries` counts the wrong tries at the
    last mailed code or, for an access code, those in the window that began at `tries_since`. `reached` says
    what became of the mail with the code (`signing_link.Reached`).
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
class ChallengeStanding:
    """What a recipient can do now, with `left` tries.

    `at` is when a new code can be sent or a wait is over. `until` is when the present code expires.
    """

    step: ChallengeStep
    left: int = 0
    at: Instant | None = None
    until: Instant | None = None


def find_standing(method: str, challenge: Challenge, now: Instant) -> ChallengeStanding:
    """Return what the recipient can do now under this method of authentication."""
    if method == Method.ACCESS_CODE:
        return find_access_code_standing(challenge, now)
    return find_email_code_standing(challenge, now)


def find_access_code_standing(challenge: Challenge, now: Instant) -> ChallengeStanding:
    """Return what the recipient of an access code can do now."""
    if challenge.tries_in_all >= TRIES_IN_ALL:
        return ChallengeStanding(ChallengeStep.BLOCKED)
    since = challenge.tries_since
    tries = challenge.tries if since is not None and now < since + WINDOW else 0
    if tries >= TRIES and since is not None:
        return ChallengeStanding(ChallengeStep.WAIT, at=since + WINDOW)
    return ChallengeStanding(ChallengeStep.ENTER, min(TRIES - tries, TRIES_IN_ALL - challenge.tries_in_all))


def find_email_code_standing(challenge: Challenge, now: Instant) -> ChallengeStanding:
    """Return what the recipient of mailed codes can do now."""
    again = find_next_code_time(challenge, now)
    left = TRIES - challenge.tries
    if challenge.sent_at is not None and challenge.code is not None:
        until = challenge.sent_at + LIVES
        if left > 0 and now < until:
            return ChallengeStanding(ChallengeStep.ENTER, left, again, until)
        return ChallengeStanding(ChallengeStep.SPENT if left <= 0 else ChallengeStep.EXPIRED, at=again)
    return ChallengeStanding(ChallengeStep.ASK, at=again)


def find_next_code_time(challenge: Challenge, now: Instant) -> Instant:
    """Return when the next code may be sent: `now` or earlier when it may be sent at once."""
    if challenge.sent_on == now // DAY and challenge.sent >= CODES_A_DAY:
        return (now // DAY + 1) * DAY
    return now if challenge.sent_at is None else challenge.sent_at + APART


def record_sent_code(challenge: Challenge, code: bytes, now: Instant) -> Challenge:
    """Return the challenge after a new code was sent; the code before it stops counting."""
    today = now // DAY
    so_far = challenge.sent if challenge.sent_on == today else 0
    return replace(challenge, code=code, sent_at=now, sent_on=today, sent=so_far + 1, tries=0, reached=None)


def record_wrong_try(method: str, challenge: Challenge, now: Instant) -> Challenge:
    """Return the challenge after one more wrong try."""
    more = replace(challenge, tries=challenge.tries + 1, tries_in_all=challenge.tries_in_all + 1)
    if method == Method.EMAIL_CODE:
        return more
    since = challenge.tries_since
    if since is None or now >= since + WINDOW:
        return replace(more, tries=1, tries_since=now)
    return more


def is_blocked(method: str, challenge: Challenge, now: Instant) -> bool:
    """Return whether the recipient can neither enter a code now nor have a new one sent within a minute."""
    found = find_standing(method, challenge, now)
    if method == Method.ACCESS_CODE:
        return found.step in (ChallengeStep.WAIT, ChallengeStep.BLOCKED)
    return found.step is not ChallengeStep.ENTER and found.at is not None and found.at > now + APART


def reset_challenge(challenge: Challenge) -> Challenge:
    """Return a challenge without any codes or tries."""
    return Challenge(challenge.recipient_id)


def use_up_code(challenge: Challenge) -> Challenge:
    """Return the challenge after the mailed code was entered correctly, which uses it up."""
    return replace(challenge, code=None)
