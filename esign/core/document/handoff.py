"""A signature that is drawn on a phone for a signing page on another device: its state, and how long it is valid."""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.instant import MINUTE, Instant

LIVES = 10 * MINUTE
KINDS = ("signature", "initials")


class Progress(StrEnum):
    """The state of a hand-off; one that a newer one has replaced is `expired` as well."""

    WAITING = "waiting"
    OPENED = "opened"
    RECEIVED = "received"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Handoff:
    """A hand-off; `id` names it to the page that waits and grants no access.

    `kind` is what is drawn: signature or initials.
    """

    recipient_id: str
    document_id: str
    id: str
    kind: str
    expires_at: Instant
    opened_at: Instant | None = None
    received: bool = False

    def progress(self, now: Instant) -> Progress:
        """Return the state of the hand-off at `now`."""
        if now >= self.expires_at:
            return Progress.EXPIRED
        if self.received:
            return Progress.RECEIVED
        return Progress.WAITING if self.opened_at is None else Progress.OPENED
