"""How much is asked of a recipient, said alike in the mail and on the page."""

from collections.abc import Mapping
from math import ceil

from esign.core.document.document import Field, FieldType, Recipient

OF_ITSELF = (FieldType.DATE, FieldType.EMAIL)  # filled in at the end, unless `autofill` is off


def is_asked(field: Field) -> bool:
    """Whether the recipient is to fill it in; what the sender gave and what fills itself in is only shown."""
    return not field.read_only and not (field.type in OF_ITSELF and field.options.get("autofill", True))


def group_of(field: Field) -> str | None:
    """A key for the group of a check box that is the recipient's to tick: they are answered together."""
    if field.type is not FieldType.CHECKBOX or field.read_only or not field.options.get("group"):
        return None
    return f"group {field.options['group']}"


def asked(recipient: Recipient) -> int:
    """The number of answers that the recipient is to give."""
    return len({group_of(field) or field.id for field in recipient.fields if is_asked(field)})


def filled(recipient: Recipient, values: Mapping[str, object]) -> int:
    """How many of them stand in these values by field id, which need not be right yet."""
    given = {id for id, value in values.items() if value not in (None, "", False)}
    return len(
        {group_of(field) or field.id for field in recipient.fields if is_asked(field) and field.id in given}
    )


def minutes(pages: int, asked: int) -> int:
    """About how long reading and answering take."""
    return ceil(pages * 0.5 + max(asked, 1) * 0.3)
