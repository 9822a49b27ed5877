"""Makes up answers for a simulated recipient (contract 3.5): a valid value for each field that has to be filled
in.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import ROUND_CEILING, Decimal
from typing import Any

from esign.core.document.document import INK, Field, FieldType, Recipient, Role
from esign.core.document.field_values import needs_signature

STROKE = (  # a drawn line, for a field that takes no letters
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAHgAAAAoAQMAAAAPJKxmAAAABlBMVEX///8UHjy1w5uKAAAAyElEQVR42t3RMUoD"
    "URCH8d97bzEB1yhWFoHkCCnT6UFymLXyCl7FbosUqWSP8MgJVrBYQ+RZaAJrbeVU8w1/BuYb/kFNhnMbYVqN+ep2zPOPMa+PDUp7GubQkkqPCiGX"
    "JdXjgISwbO1cvuzfvuOJNXPXP/sqMhvvDTy4oKYXMmQ1M6GlJ+m7eOQzLVrbPVbuSM0Ei4gba0I7w6SIpgbKcoZDEfVWeN6gRNQy7vvTfTFkdN1Z"
    "VmpG8tLTWGZ4/WX3OEpz2P7h674Ab+gy0VXB2I8AAAAASUVORK5CYII="
)
# By pattern: a text that fits, and the character it is made longer with.
TEXTS: Mapping[str, tuple[str, str]] = {
    "none": ("Sample", "e"),
    "letters": ("Sample", "e"),
    "alphanumeric": ("Sample1", "1"),
    "digits": ("12345", "0"),
    "phone": ("0151234567", "8"),
    "postal": ("AB12CD", "3"),
}


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
            filled[field.id] = INVENTED[field.type](field, recipient, today)
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


def make_typed_signature(text: str) -> dict[str, str]:
    """Return a typed signature, cut to 100 characters."""
    return {"kind": "typed", "text": text[:100]}


def make_signature(field: Field, recipient: Recipient, today: date) -> dict[str, str]:
    """Return a signature of a kind that the field allows."""
    allowed = field.options.get("allowed") or ("typed",)
    if "typed" not in allowed:
        return {"kind": allowed[0], "picture": STROKE}
    if field.type is FieldType.INITIALS:
        return make_typed_signature("".join(word[0] for word in recipient.name.split()))
    return make_typed_signature(recipient.name)


def make_text(field: Field, recipient: Recipient, today: date) -> str:
    """Return a text that fits the field's length and pattern."""
    seed, more = TEXTS[field.options.get("pattern") or "none"]
    least, most = field.options.get("minLength") or 0, field.options.get("maxLength") or 2_000
    return (seed + more * least)[: max(least, min(len(seed), most))]


def make_number(field: Field, recipient: Recipient, today: date) -> str:
    """Return the number nearest to 1 that the bounds allow, as text."""
    least, most = (
        None if (b := field.options.get(end)) is None else Decimal(str(b)) for end in ("min", "max")
    )
    chosen = Decimal(1)
    if most is not None:
        chosen = min(chosen, most)
    if least is not None:
        chosen = max(chosen, least)
    decimals = field.options.get("decimals")
    if decimals is not None:
        step = Decimal(1).scaleb(-decimals)
        rounded = chosen.quantize(step, ROUND_CEILING)
        chosen = rounded if most is None or rounded <= most else rounded - step
    return format(chosen, "f")


def make_day(field: Field, recipient: Recipient, today: date) -> str:
    """Return today, or the nearest day that the field allows."""
    chosen = today.isoformat()
    if least := field.options.get("min"):
        chosen = max(chosen, least)
    if most := field.options.get("max"):
        chosen = min(chosen, most)
    return chosen


INVENTED: Mapping[FieldType, Callable[[Field, Recipient, date], Any]] = {
    **dict.fromkeys(INK, make_signature),
    FieldType.DATE: make_day,
    FieldType.NAME: lambda field, recipient, today: recipient.name,
    FieldType.EMAIL: lambda field, recipient, today: recipient.email,
    FieldType.TEXT: make_text,
    FieldType.NUMBER: make_number,
    FieldType.CHECKBOX: lambda field, recipient, today: True,
    FieldType.RADIO: lambda field, recipient, today: field.options["options"][0],
    FieldType.DROPDOWN: lambda field, recipient, today: field.options["options"][0],
}
