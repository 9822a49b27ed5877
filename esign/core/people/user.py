"""The users who sign in, their sessions and their one-time links (contract 3.7)."""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.actor import Mode
from esign.core.instant import DAY, HOUR, MINUTE, Instant, Millis
from esign.core.language import Tag

IDLE: Millis = 30 * MINUTE  # how long a session lasts without use (contract 3.7)
ABSOLUTE: Millis = 12 * HOUR
FRESH: Millis = 10 * MINUTE  # after a password was given, keys, members and the certificate can be changed
SEEN: Millis = MINUTE  # the precision of the last use of a session


@dataclass(frozen=True, slots=True)
class User:
    """A person who signs in. `password` is an argon2id hash, None until one was chosen.

    `totp` is encrypted, and `step` is the time step of the code used last. `seen_at` is when they last used a
    browser, to the minute. `locale` is the language that they chose for pages and notices, None for that of the
    browser.
    """

    id: str
    email: str
    name: str
    created_at: Instant
    password: str | None = None
    password_at: Instant | None = None
    totp: bytes | None = None
    step: int = 0
    disabled_at: Instant | None = None
    seen_at: Instant | None = None
    locale: Tag | None = None

    @property
    def address(self) -> str:
        """Return the case-folded email address, by which users are told apart."""
        return self.email.casefold()


class Stage(StrEnum):
    """How far a sign-in has come: the password was right, or everything that was required."""

    HALF = "half"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser; `id` names it in lists and grants no access.

    `proved_at` is when the password was last given. `factor_at` is when a code of the second factor was last
    given to confirm a sensitive act, None if never; the code of the sign-in does not count.
    """

    id: str
    user_id: str
    organisation_id: str
    stage: Stage
    mode: Mode
    created_at: Instant
    seen_at: Instant
    proved_at: Instant
    ip: str | None = None
    user_agent: str | None = None
    factor_at: Instant | None = None

    def is_over(self, now: Instant) -> bool:
        """Return whether the session has ended: idle for too long, or too old."""
        # A session from the future was made while the clock was wrong. It would last for as long as the error.
        future = max(self.seen_at, self.created_at) > now + IDLE
        return future or now >= min(self.seen_at + IDLE, self.created_at + ABSOLUTE)

    def is_fresh(self, now: Instant) -> bool:
        """Return whether the password was given within the last 10 minutes, at the sign-in or since."""
        return self.proved_at - MINUTE <= now < self.proved_at + FRESH

    def is_confirmed(self, now: Instant) -> bool:
        """Return whether a code of the second factor was given within the last 10 minutes, after the sign-in."""
        return self.factor_at is not None and self.factor_at - MINUTE <= now < self.factor_at + FRESH


class Errand(StrEnum):
    """What a mailed or printed one-time link is for."""

    SETUP = "setup"
    INVITATION = "invitation"
    RESET = "reset"


LASTS: dict[Errand, Millis] = {Errand.SETUP: 30 * MINUTE, Errand.INVITATION: 7 * DAY, Errand.RESET: HOUR}


@dataclass(frozen=True, slots=True)
class Ticket:
    """A one-time link. `subject` is the member who is invited, or the user who forgot the password."""

    errand: Errand
    subject: str
    expires_at: Instant
