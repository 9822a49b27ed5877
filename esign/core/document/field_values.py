"""Checks the values of fields (contract 4): one check per type, and the checks across a group of boxes."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from esign.core.document.document import INK, Field, FieldType, Ink, Recipient, Role, Value
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
CONTROL_BUT_LINES = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
DECIMAL = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,20})?")
THOUSANDS = re.compile(r"-?[1-9][0-9]{0,2}(,[0-9]{3})+")
HANDS = (None, "a", "b", "c")

# Each pattern with the sentence that tells the signer what is expected.
PATTERNS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "none": (lambda text: True, ""),
    "digits": (lambda text: bool(re.fullmatch(r"[0-9]+", text)), "Use digits only."),
    "letters": (lambda text: all(is_letter(c) or c in " '’-." for c in text), "Use letters only."),
    "alphanumeric": (
        lambda text: all(is_letter(c) or c.isalnum() or c == " " for c in text),
        "Use letters and digits only.",
    ),
    "phone": (
        lambda text: (
            bool(re.fullmatch(r"\+?[0-9 ()/.\-]{4,30}", text)) and sum(c.isdigit() for c in text) >= 4
        ),
        "A telephone number has digits only, such as 0151 234 5678.",
    ),
    "postal": (
        lambda text: bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 \-]{1,10}", text)),
        "A postcode has letters and digits only.",
    ),
}


class InvalidValue(ValueError):
    """A value that does not fit its field, with the sentence for the signer and the rule it breaks."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule, self.message = rule, message


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
    """Return the value to store for one field, or None for an empty one. Raises Wrong.

    An approver may leave any field empty (contract 4).
    """
    must = field.required and recipient.role is not Role.APPROVER
    if field.read_only:
        if given is not None and given != field.value:
            raise InvalidValue("reference", "This field was filled in by the sender and cannot be changed.")
        return field.value
    if field.type is FieldType.EMAIL and field.options.get("autofill", True):
        return recipient.email
    if field.type is FieldType.DATE and field.options.get("autofill", True):
        return today.isoformat()
    if given is None:
        given = field.value
    if given is None and field.type is FieldType.NAME and field.options.get("autofill", True):
        given = recipient.name
    if isinstance(given, str):
        given = given.strip() or None
    if field.type is FieldType.CHECKBOX:
        return check_tick(given, must)
    if given is None:
        if must:
            raise InvalidValue(
                "required", "Please sign here." if field.type in INK else "Please fill this in."
            )
        return None
    return CHECKS[field.type](field, given)


def prefill(field: Field, given: str | bool) -> Value | None:
    """Return the value that the sender writes into a field beforehand, or None for an empty text. Raises Wrong."""
    if field.type in INK:
        raise InvalidValue("type", "Nobody signs beforehand.")
    if field.type is FieldType.CHECKBOX:
        if not isinstance(given, bool):
            raise InvalidValue("type", "true or false.")
        return given
    text = require_string(given).strip()
    return CHECKS[field.type](field, text) if text else None


def check_tick(given: Any, must: bool) -> bool:
    """Return whether the box is ticked. Raises Wrong when `given` is not a boolean, or the box `must` be ticked."""
    if given is None:
        given = False
    if not isinstance(given, bool):
        raise InvalidValue("type", "Tick the box or leave it empty.")
    if must and not given:
        raise InvalidValue("required", "Please tick this box.")
    return given


def check_ink(field: Field, given: Any) -> Ink:
    """Return the signature if its kind is one that the field allows. Raises Wrong."""
    if not isinstance(given, Ink):
        raise InvalidValue("type", "Draw, type or upload your signature.")
    if given.kind not in field.options.get("allowed", ("drawn", "typed", "uploaded")):
        raise InvalidValue("enum", "Please sign in another way.")
    return given


def check_text(field: Field, given: Any) -> str:
    """Return a text that fits the field's length and pattern. Raises Wrong."""
    text = require_string(given)
    lines = field.options.get("multiline", False)
    if (CONTROL_BUT_LINES if lines else CONTROL).search(text):
        raise InvalidValue("format", "This text has characters that cannot be printed.")
    least, most = field.options.get("minLength") or 0, field.options.get("maxLength") or 2_000
    if len(text) < least:
        raise InvalidValue("length", f"Please write at least {least} characters.")
    if len(text) > most:
        raise InvalidValue("length", f"Please write at most {most} characters.")
    fits, sentence = PATTERNS[field.options.get("pattern") or "none"]
    if not all(fits(line) for line in text.splitlines() if line):
        raise InvalidValue("format", sentence)
    return text


def check_name(field: Field, given: Any) -> str:
    """Return a name of at most 200 printable characters. Raises Wrong."""
    text = require_string(given)
    if CONTROL.search(text):
        raise InvalidValue("format", "This text has characters that cannot be printed.")
    if len(text) > 200:
        raise InvalidValue("length", "Please write at most 200 characters.")
    return text


def check_email(field: Field, given: Any) -> str:
    """Return an email address of plausible form. Raises Wrong."""
    text = check_name(field, given)
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", text):
        raise InvalidValue("format", "Please write an email address, such as name@example.com.")
    return text


def check_day(field: Field, given: Any) -> str:
    """Return an ISO date within the bounds of the field. Raises Wrong."""
    text = require_string(given)
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise InvalidValue("format", "Please choose a date, such as 2026-11-21.")
    try:
        date.fromisoformat(text)
    except ValueError:
        raise InvalidValue("format", "This date does not exist.") from None
    least, most = field.options.get("min"), field.options.get("max")
    if (least and text < least) or (most and text > most):
        raise InvalidValue("range", _describe_range("Choose a day", least, most))
    return text


def check_number(field: Field, given: Any) -> str:
    """Return a decimal number, with a point, within the bounds and decimals of the field. Raises Wrong.

    A comma is read as the decimal point. Where fewer than three decimals are asked for, `1,000` is refused as a
    mark between thousands.
    """
    if THOUSANDS.fullmatch(require_string(given)) and (field.options.get("decimals") or 0) < 3:
        raise InvalidValue("format", "Please write the number without a mark between the thousands.")
    text = require_string(given).replace(",", ".")
    if not DECIMAL.fullmatch(text):
        raise InvalidValue("format", "Please write a number, such as 12 or 3.50.")
    decimals = field.options.get("decimals")
    if decimals is not None and len(text.partition(".")[2]) > decimals:
        raise InvalidValue(
            "format", f"Use at most {decimals} digits after the point." if decimals else "Use a whole number."
        )
    least, most = field.options.get("min"), field.options.get("max")
    exact = Decimal(text)
    if (least is not None and exact < Decimal(str(least))) or (
        most is not None and exact > Decimal(str(most))
    ):
        raise InvalidValue("range", _describe_range("Choose a number", least, most))
    return text


def check_choice(field: Field, given: Any) -> str:
    """Return one of the field's options. Raises Wrong."""
    if given not in field.options.get("options", ()):
        raise InvalidValue("enum", "Please choose one of the options.")
    return str(given)


def is_letter(c: str) -> bool:
    """Return whether `c` is a letter, or a mark that belongs to one: accents, vowel signs of Hindi and Thai."""
    return unicodedata.category(c)[0] in "LM"


def require_string(given: Any) -> str:
    """Return `given` if it is a string. Raises Wrong."""
    if not isinstance(given, str):
        raise InvalidValue("type", "Please write text.")
    return given


def _describe_range(lead: str, least: Any, most: Any) -> str:
    if least is not None and most is not None:
        return f"{lead} between {least} and {most}."
    return f"{lead} from {least} on." if least is not None else f"{lead} up to {most}."


CHECKS: Mapping[FieldType, Callable[[Field, Any], Value]] = {
    FieldType.SIGNATURE: check_ink,
    FieldType.INITIALS: check_ink,
    FieldType.DATE: check_day,
    FieldType.NAME: check_name,
    FieldType.EMAIL: check_email,
    FieldType.TEXT: check_text,
    FieldType.NUMBER: check_number,
    FieldType.RADIO: check_choice,
    FieldType.DROPDOWN: check_choice,
}


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
        return Detail(f"/answers/{boxes[0].id}", f"Tick at least {least} of these boxes.", "range")
    if ticked > most:
        return Detail(f"/answers/{boxes[0].id}", f"Tick at most {most} of these boxes.", "range")
    return None
