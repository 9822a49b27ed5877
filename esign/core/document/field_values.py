"""Checks what a recipient gives for all fields (contract 4): each by its type, and the groups of check boxes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from esign.core.document.document import Field, FieldType, Ink, Recipient, Role, Value
from esign.core.document.field_types import (
    FIELD_TYPES,
    InvalidValue,
    ValueShape,
    is_automatic,
    require_string,
)
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant
from esign.core.sentence import say

TICK_MORE, TICK_ONE = "Tick at least {n} of these boxes.", "Tick at least {n} of these boxes."
TICK_FEWER, TICK_NO_MORE = "Tick at most {n} of these boxes.", "Tick at most {n} of these boxes."
MISSING = {
    ValueShape.TEXT: "Please fill this in.",
    ValueShape.TICK: "Please tick this box.",
    ValueShape.INK: "Please sign here.",
}


def fill_fields(
    recipient: Recipient, answers: Mapping[str, Any], today: date, now: Instant
) -> tuple[tuple[Field, ...], Ink | None]:
    """Return the recipient's fields with their answers put in, and the signature given outside of any field.

    `answers` maps field ids to JSON values, in which pictures are already replaced by `Ink`. The key
    `signature` holds the signature of a recipient who has no field for it. `today` is the date at the
    organisation.

    All problems are reported at once, as `invalid_request` with paths `/answers/<id>`.
    """
    known = {field.id for field in recipient.fields} | {"signature"}
    problems = [
        Detail(f"/answers/{key}", "This field is not yours to fill in.", "reference")
        for key in answers
        if key not in known
    ]
    filled = []
    for field in recipient.fields:
        try:
            value = check_answer(field, answers.get(field.id), recipient, today)
            filled.append(replace(field, value=value, filled_at=None if value is None else now))
        except InvalidValue as wrong:
            problems.append(Detail(f"/answers/{field.id}", wrong.message, wrong.rule))
    problems += find_group_problems(filled, recipient.role is not Role.APPROVER)
    ink = answers.get("signature")
    if ink is not None and not isinstance(ink, Ink):
        problems.append(Detail("/answers/signature", "Please sign.", "type"))
    if needs_signature(recipient) and ink is None:
        problems.append(Detail("/answers/signature", "Please sign.", "required"))
    if problems:
        raise Problem("invalid_request", "Some answers need a correction.", details=problems[:100])
    return tuple(filled), ink if isinstance(ink, Ink) else None


def needs_signature(recipient: Recipient) -> bool:
    """Return whether the signature has to be given outside of the fields (contract 1, I6)."""
    return recipient.role is Role.SIGNER and not any(f.type is FieldType.SIGNATURE for f in recipient.fields)


def check_answer(field: Field, given: Any, recipient: Recipient, today: date) -> Value | None:
    """Return the value to store for one field, or None for an empty one. Raises InvalidValue.

    An approver may leave any field empty (contract 4).
    """
    kind = FIELD_TYPES[field.type]
    if field.read_only:
        if given is not None and given != field.value:
            raise InvalidValue("reference", "This field was filled in by the sender and cannot be changed.")
        return field.value
    if kind.fill and is_automatic(field):
        return kind.fill(recipient, today)
    if given is None:
        given = field.value
    if given is None and kind.suggest and field.options.get("autofill", True):
        given = kind.suggest(recipient)
    if isinstance(given, str):
        given = given.strip() or None
    if given is None and kind.shape is ValueShape.TICK:
        given = False
    value = None if given is None else kind.check(field, given)
    if value in (None, False) and field.required and recipient.role is not Role.APPROVER:
        raise InvalidValue("required", MISSING[kind.shape])
    return value


def prefill(field: Field, given: str | bool) -> Value | None:
    """Return the value that the sender writes into a field beforehand, or None for an empty text.

    Raises InvalidValue.
    """
    kind = FIELD_TYPES[field.type]
    if kind.shape is ValueShape.INK:
        raise InvalidValue("type", "A signature can’t be prefilled.")
    if kind.shape is ValueShape.TICK:
        if not isinstance(given, bool):
            raise InvalidValue("type", "true or false.")
        return given
    text = require_string(given).strip()
    return kind.check(field, text) if text else None


def find_group_problems(fields: Iterable[Field], must: bool = True) -> list[Detail]:
    """Return the problems of groups of check boxes that have too few or too many ticks.

    The least number is the largest minimum in the group, and counts only if the recipient `must` tick. The most
    is its smallest maximum.
    """
    groups: dict[str, list[Field]] = {}
    for field in fields:
        if field.type is FieldType.CHECKBOX and field.options.get("group"):
            groups.setdefault(field.options["group"], []).append(field)
    return [problem for boxes in groups.values() if (problem := _find_group_problem(boxes, must))]


def _find_group_problem(boxes: Sequence[Field], must: bool) -> Detail | None:
    least = max((b.options.get("minChecked") or 0 for b in boxes), default=0) if must else 0
    limits = [b.options["maxChecked"] for b in boxes if b.options.get("maxChecked") is not None]
    most = min(limits, default=len(boxes))
    ticked = sum(box.value is True for box in boxes)
    if ticked < least:
        return Detail(f"/answers/{boxes[0].id}", say(TICK_MORE, one=TICK_ONE, n=least), "range")
    if ticked > most:
        return Detail(f"/answers/{boxes[0].id}", say(TICK_FEWER, one=TICK_NO_MORE, n=most), "range")
    return None
