"""Who acts (`Actor`), from where (`Origin`; both together: `Author`), and for which organisation and mode (`Owner`)."""

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    LIVE = "live"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Owner:
    """The organisation and the mode that documents belong to. No query returns documents of another owner."""

    organisation_id: str
    mode: Mode


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request came from: the address of the peer behind trusted proxies, and the browser's User-Agent."""

    ip: str | None = None
    user_agent: str | None = None


NOWHERE = Origin()


@dataclass(frozen=True, slots=True)
class Actor:
    """The party that acts: a member, an API key, a recipient or the system itself."""

    kind: str
    id: str | None = None
    name: str | None = None
    email: str | None = None


SYSTEM = Actor("system")
COMMAND_LINE = Actor("system", name="command line")


@dataclass(frozen=True, slots=True)
class Author:
    """Who acts, and where the request came from: what an audit entry says of both."""

    actor: Actor
    origin: Origin = NOWHERE


PROGRAM = Author(SYSTEM)
COMMAND = Author(COMMAND_LINE)
