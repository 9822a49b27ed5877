"""The order in which waiting mails leave: mails that a person waits for in front of a page come first."""

from collections.abc import Mapping
from enum import IntEnum


class Urgency(IntEnum):
    """How soon a mail leaves; lower values leave first."""

    AWAITED = 0  # a person waits for it now: codes, password resets
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


def find_urgency(letter: str) -> Urgency:
    """Return the urgency of a letter; letters that `LETTERS` does not name are news."""
    return LETTERS.get(letter, Urgency.NEWS)
