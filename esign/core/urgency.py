"""In which order mails leave while several wait: whoever sits before a page and waits for one comes first."""

from collections.abc import Mapping
from enum import IntEnum


class Urgency(IntEnum):
    """The lower, the sooner."""

    AWAITED = 0  # somebody waits for it now: codes, password resets
    INVITATION = 1
    OUTCOME = 2  # copies of sealed files, and how a document ended
    NEWS = 3  # reminders and notices


LETTERS: Mapping[str, Urgency] = {
    "code": Urgency.AWAITED,
    "password_reset": Urgency.AWAITED,
    "invitation": Urgency.INVITATION,
    "member_invited": Urgency.INVITATION,
    "corrected": Urgency.INVITATION,
    "completed": Urgency.OUTCOME,
    "declined": Urgency.OUTCOME,
    "cancelled": Urgency.OUTCOME,
    "expired": Urgency.OUTCOME,
    "renewal": Urgency.OUTCOME,
}


def urgency_of(letter: str) -> Urgency:
    """Return how urgent a letter is; one that is not named here is news."""
    return LETTERS.get(letter, Urgency.NEWS)
