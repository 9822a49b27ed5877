"""How much work a document is for a recipient; the mail and the signing page show the same numbers."""

from collections.abc import Mapping
from math import ceil

from esign.core.document.document import Field, FieldType, Recipient
from esign.core.document.field_types import is_automatic


def is_asked(field: Field) -> bool:
    """Return whether the recipient fills in this field; read-only and automatically filled fields are only shown."""
    return not field.read_only and not is_automatic(field)


def find_group(field: Field) -> str | None:
    """Return a key for the group of a check box that the recipient may tick, or None.

    The boxes of a group count as one answer.
    """
    if field.type is not FieldType.CHECKBOX or field.read_only or not field.options.get("group"):
        return None
    return f"group {field.options['group']}"


def count_answers(recipient: Recipient) -> int:
    """Return the number of answers that the recipient gives."""
    return len({find_group(field) or field.id for field in recipient.fields if is_asked(field)})


def count_filled(recipient: Recipient, values: Mapping[str, object]) -> int:
    """Return how many of these answers `values` (by field id) contains; the values need not be valid yet."""
    given = {id for id, value in values.items() if value not in (None, "", False)}
    return len(
        {find_group(field) or field.id for field in recipient.fields if is_asked(field) and field.id in given}
    )


def estimate_minutes(pages: int, asked: int) -> int:
    """Return an estimate of the minutes that reading the pages and giving the answers takes."""
    return ceil(pages * 0.5 + max(asked, 1) * 0.3)
