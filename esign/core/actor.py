"""Who asks, in which mode and from where."""

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    LIVE = "live"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose documents: nothing of another organisation or mode is ever found."""

    organisation_id: str
    mode: Mode


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request came from: the peer's address after trusted proxies, and what its browser calls itself."""

    ip: str | None = None
    user_agent: str | None = None


NOWHERE = Origin()


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks: a member, an API key, a recipient or the system itself."""

    kind: str
    id: str | None = None
    name: str | None = None
    email: str | None = None


SYSTEM = Actor("system")
