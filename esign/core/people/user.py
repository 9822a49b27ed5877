"""The people who sign in: who they are, how far a session has come, and what a role may do (contract 3.5, 3.6)."""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.actor import Mode
from esign.core.instant import DAY, HOUR, MINUTE, Instant, Millis
from esign.core.people.member import MemberRole

IDLE: Millis = 30 * MINUTE  # contract 3.7: a session nobody uses
ABSOLUTE: Millis = 12 * HOUR
FRESH: Millis = 10 * MINUTE  # how long a password given again opens keys, members and the certificate
SEEN: Millis = MINUTE  # how exactly the last use of a session is known


@dataclass(frozen=True, slots=True)
class User:
    """A person; `password` is an argon2id hash, None until one was chosen. `totp` is encrypted, `step` its last use.

    `seen_at` is when they were last at a browser, to the minute.
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

    @property
    def address(self) -> str:
        """What tells people apart: the address without regard to capitals."""
        return self.email.casefold()


class Stage(StrEnum):
    """How far a session has come: the password was right, or everything that was asked for."""

    HALF = "half"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser; `id` names it in lists and opens nothing.

    `proved_at`: when a password was last given. `factor_at`: when a code of the second factor was last given to
    confirm a sensitive act, None where it never was; the code of the sign-in does not count.
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
        # One that begins in the future was made while the clock was wrong, and would last for as long as that was.
        future = max(self.seen_at, self.created_at) > now + IDLE
        return future or now >= min(self.seen_at + IDLE, self.created_at + ABSOLUTE)

    def is_fresh(self, now: Instant) -> bool:
        """Return whether the password was given a moment ago, at the sign-in or since."""
        return self.proved_at - MINUTE <= now < self.proved_at + FRESH

    def is_confirmed(self, now: Instant) -> bool:
        """Return whether a code of the second factor was given a moment ago, apart from the sign-in."""
        return self.factor_at is not None and self.factor_at - MINUTE <= now < self.factor_at + FRESH


class Errand(StrEnum):
    """What a mailed or printed link is for."""

    SETUP = "setup"
    INVITATION = "invitation"
    RESET = "reset"


LASTS: dict[Errand, Millis] = {Errand.SETUP: 30 * MINUTE, Errand.INVITATION: 7 * DAY, Errand.RESET: HOUR}


@dataclass(frozen=True, slots=True)
class Ticket:
    """A link that can be used once; `subject` is the member invited or the user whose password is forgotten."""

    errand: Errand
    subject: str
    expires_at: Instant


class Act(StrEnum):
    """What a page lets somebody do, as coarse as the roles tell apart."""

    READ = "read"
    WORK = "work"
    SETTLE = "settle"
    OWN = "own"


MAY: dict[MemberRole, frozenset[Act]] = {
    MemberRole.OWNER: frozenset(Act),
    MemberRole.ADMIN: frozenset({Act.READ, Act.WORK, Act.SETTLE}),
    MemberRole.MEMBER: frozenset({Act.READ, Act.WORK}),
    MemberRole.VIEWER: frozenset({Act.READ}),
}


def may(role: MemberRole, act: Act) -> bool:
    return act in MAY[role]


def is_raised(before: MemberRole, after: MemberRole) -> bool:
    """Return whether the role after allows anything that the one before did not."""
    return not MAY[after] <= MAY[before]
