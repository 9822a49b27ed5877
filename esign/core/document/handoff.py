"""A signature that is drawn on a phone for a page at a desk: what each side may know of it, and how long."""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.instant import MINUTE, Instant

LIVES = 10 * MINUTE
KINDS = ("signature", "initials")


class Progress(StrEnum):
    """How far it is; `expired` also for one that another has replaced."""

    WAITING = "waiting"
    OPENED = "opened"
    RECEIVED = "received"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Handoff:
    """`id` names it to the desk and grants nothing; `kind` is what is asked for, signature or initials."""

    recipient_id: str
    document_id: str
    id: str
    kind: str
    expires_at: Instant
    opened_at: Instant | None = None
    received: bool = False

    def progress(self, now: Instant) -> Progress:
        if now >= self.expires_at:
            return Progress.EXPIRED
        if self.received:
            return Progress.RECEIVED
        return Progress.WAITING if self.opened_at is None else Progress.OPENED
