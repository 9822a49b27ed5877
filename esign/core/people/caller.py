"""The caller of an administrative act, and where the request came from."""

from dataclasses import dataclass

from esign.core.actor import NOWHERE, SYSTEM, Actor, Origin
from esign.core.people.api_key import COMMAND_LINE


@dataclass(frozen=True, slots=True)
class Caller:
    """A member at a browser, an API key, the command line, or the program itself."""

    actor: Actor
    origin: Origin = NOWHERE


COMMAND = Caller(COMMAND_LINE)
PROGRAM = Caller(SYSTEM)
