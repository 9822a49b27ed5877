"""Documents as lists show them: the columns of a summary, and how a row becomes one.

The other columns are not read, so a summary says nothing about damage in them.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from esign.core.actor import Actor, Mode
from esign.core.document.document import MailDelivery, RecipientStatus, Role, Seal, Status
from esign.core.document.summary import DocumentSummary, FileSummary, RecipientSummary
from esign.core.people.account import Reminders
from esign.store.engine.database import Row
from esign.store.engine.sql import collect_rows, load_object

RECIPIENT_COLUMNS = ["turn" if name == "order" else name for name in RecipientSummary._fields]
RECIPIENTS = collect_rows("recipient", RECIPIENT_COLUMNS, "document_id = d.id", "position")
SELECT = (
    "SELECT "
    + "".join(f"d.{name}, " for name in DocumentSummary._fields if name != "recipients")
    + f"{RECIPIENTS} AS recipients"
)

ROLES = {role.value: role for role in Role}
RECIPIENT_STATUSES = {status.value: status for status in RecipientStatus}
DELIVERIES = {delivery.value: delivery for delivery in MailDelivery}


def load_summary(row: Row) -> DocumentSummary:
    """Return the summary of a row that `SELECT` returns. Raise one of `UNREADABLE` if it is damaged."""
    values = tuple(row)
    if bytes in map(type, values):
        raise ValueError("a text is no UTF-8")
    return build_summary(values)


@lru_cache(500)  # lists are asked for again and again: 1 µs for a row as before, 5 µs for another
def build_summary(stored: tuple[Any, ...]) -> DocumentSummary:
    """Return the summary of the values of a row."""
    values = list(stored)
    for place, load in LOADERS:
        values[place] = load(values[place])
    return DocumentSummary._make(values)


def load_file(stored: str) -> FileSummary:
    """Return what a list shows of a file."""
    file = load_object(stored)
    return FileSummary(
        file["name"], file["uploaded"], len(file["pages"]), file["repaired"], tuple(file["removed"])
    )


def load_recipients(stored: str) -> tuple[RecipientSummary, ...]:
    """Return the recipients of an array of arrays, in its order."""
    return tuple(map(load_recipient, orjson.loads(stored)))


@lru_cache(256)  # most documents of an organisation have the same
def load_reminders(stored: str) -> Reminders:
    """Return the plan of reminders of a JSON column."""
    return Reminders(**orjson.loads(stored))


ROLE, STATUS, DELIVERY = map(RecipientSummary._fields.index, ("role", "status", "delivery"))


def load_recipient(values: list[Any]) -> RecipientSummary:
    """Return the recipient with these members."""
    values[ROLE] = ROLES[values[ROLE]]
    values[STATUS] = RECIPIENT_STATUSES[values[STATUS]]
    values[DELIVERY] = DELIVERIES[values[DELIVERY]]
    return RecipientSummary._make(values)


MEMBERS: Mapping[str, Callable[[Any], object]] = {
    "mode": {mode.value: mode for mode in Mode}.__getitem__,
    "status": {status.value: status for status in Status}.__getitem__,
    "file": load_file,
    "created_by": lambda stored: Actor(**orjson.loads(stored)),
    "reminders": load_reminders,
    "metadata": load_object,
    "seal": lambda stored: Seal(**orjson.loads(stored)) if stored else None,
    "recipients": load_recipients,
}
LOADERS = [(DocumentSummary._fields.index(name), load) for name, load in MEMBERS.items()]
