"""How long a request may take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds until the whole answer is there, and until there is a connection."""

    whole: float = 15.0
    connect: float = 5.0


USUAL = TimeLimits()
