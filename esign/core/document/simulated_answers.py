"""Makes up answers for a simulated recipient (contract 3.5): a valid value for each field that has to be filled
in.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from esign.core.document.document import Field, FieldType, Recipient, Role
from esign.core.document.field_types import FIELD_TYPES, INK, STROKE, make_typed_signature
from esign.core.document.field_values import needs_signature


def make_answers(recipient: Recipient, given: Mapping[str, Any], today: date) -> dict[str, Any]:
    """Return `given` (JSON values by field id) with the missing required values made up; optional fields stay
    empty.

    A signature is `{kind, text}` or `{kind, picture}`, as a browser sends it, or only its text. The key
    `signature` holds one outside of any field. Nothing is made up for an approver, for whom no field is
    required.
    """
    inks = {"signature", *(field.id for field in recipient.fields if field.type in INK)}
    filled = {
        id: complete_signature(recipient.name, value) if id in inks else value for id, value in given.items()
    }
    if recipient.role is Role.APPROVER:
        return filled
    for field in recipient.fields:
        if field.required and field.value is None and not field.read_only and field.id not in filled:
            filled[field.id] = FIELD_TYPES[field.type].invent(field, recipient, today)
    tick_boxes(recipient.fields, filled)
    if needs_signature(recipient):
        filled.setdefault("signature", make_typed_signature(recipient.name))
    return filled


def tick_boxes(fields: Sequence[Field], filled: dict[str, Any]) -> None:
    """Tick as many boxes of each group as required, the first ones that `filled` says nothing about."""
    groups: dict[str, list[Field]] = {}
    for field in fields:
        if field.type is FieldType.CHECKBOX and field.options.get("group"):
            groups.setdefault(field.options["group"], []).append(field)
    for boxes in groups.values():
        least = max(box.options.get("minChecked") or 0 for box in boxes)
        ticked = sum(filled.get(box.id, box.value) is True for box in boxes)
        open_ones = [box for box in boxes if box.id not in filled and not box.read_only and not box.value]
        for box in open_ones[: max(0, least - ticked)]:
            filled[box.id] = True


def complete_signature(name: str, given: Any) -> Any:
    """Return a signature with its missing parts added; `given` may be the text alone, or the kind alone."""
    if isinstance(given, str):
        return make_typed_signature(given)
    if isinstance(given, dict):
        rest = make_typed_signature(name) if given.get("kind") == "typed" else {"picture": STROKE}
        return {**rest, **given}
    return given
