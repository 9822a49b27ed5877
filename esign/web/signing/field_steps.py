"""A recipient's fields as the steps of a guided path, and every field's place on the pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from esign.core.document.document import Document, Field, FieldType, Recipient, RecipientStatus, Role
from esign.core.document.estimate import find_group, is_asked
from esign.web.signing.words import SigningWords

# The seal writes these in every language.
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class SigningStep:
    """One question: a field, or all check boxes of a group. A `fixed` step is shown and not asked."""

    field: Field
    fields: tuple[Field, ...]
    label: str
    required: bool
    fixed: bool
    value: str
    hint: str | None = None
    least: int = 0
    most: int | None = None

    @property
    def id(self) -> str:
        return self.field.id

    @property
    def kind(self) -> str:
        """Return `group`, or the type of the field."""
        return "group" if len(self.fields) > 1 or self.field.options.get("group") else str(self.field.type)


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """The rectangle of a field on a page.

    `step` is set for the reader's own field. For another recipient's field, `said` names them and, if they are
    `done`, what they entered, which is drawn on the picture.
    """

    field: Field
    colour: int
    step: SigningStep | None
    label: str
    said: str = ""
    done: bool = False


def build_steps(
    recipient: Recipient, words: SigningWords, organisation: str, today: date
) -> tuple[SigningStep, ...]:
    """Return the recipient's fields in reading order. The boxes of a group stand together at the place of the first."""
    fields = recipient.fields
    if recipient.role is Role.APPROVER:
        fields = tuple(map(make_optional, fields))
    ordered = sorted(fields, key=lambda f: (f.page, round(f.y), f.x))
    groups: dict[str, list[Field]] = {}
    for field in ordered:
        groups.setdefault(find_group(field) or field.id, []).append(field)
    return tuple(
        build_group_step(boxes, words)
        if find_group(boxes[0])
        else build_field_step(boxes[0], recipient, words, organisation, today)
        for boxes in groups.values()
    )


def make_optional(field: Field) -> Field:
    """Return the same field without the duty to fill it in."""
    return replace(field, required=False, options={**field.options, "minChecked": None})


def build_field_step(
    field: Field, recipient: Recipient, words: SigningWords, organisation: str, today: date
) -> SigningStep:
    """Return the step of one field, with the value that is known before."""
    value, fixed, hint = field.value, not is_asked(field), None
    if field.read_only:
        hint = words("filled_by", organisation=organisation)
    elif fixed and field.type is FieldType.DATE:
        value, hint = today.isoformat(), words("day_you_finish")
    elif fixed:
        value, hint = recipient.email, words("your_address")
    elif field.type is FieldType.NAME and field.options.get("autofill", True) and value is None:
        value = recipient.name
    return SigningStep(
        field,
        (field,),
        find_label(field, words),
        field.required,
        fixed,
        str(value) if isinstance(value, str) else "true" if value is True else "",
        hint or write_hint(field, words),
    )


def build_group_step(boxes: Sequence[Field], words: SigningWords) -> SigningStep:
    """Return the step of a group of check boxes."""
    least = max(box.options.get("minChecked") or 0 for box in boxes)
    limits = [box.options["maxChecked"] for box in boxes if box.options.get("maxChecked") is not None]
    most = min(limits) if limits else None
    return SigningStep(
        boxes[0],
        tuple(boxes),
        write_group_label(least, most, len(boxes), words),
        least > 0 or any(box.required for box in boxes),
        False,
        "",
        None,
        least,
        most,
    )


def write_group_label(least: int, most: int | None, boxes: int, words: SigningWords) -> str:
    """Return how many boxes of the group to tick. The name of the group is meant for programs and not shown."""
    if most is None or most >= boxes:
        return words.count("group_min", least) if least else words("group_any")
    if least == most:
        return words.count("group_exactly", most)
    return words("group_between", min=least, max=most) if least else words.count("group_max", most)


def write_hint(field: Field, words: SigningWords) -> str | None:
    """Return what the field accepts, if the field itself does not make it plain."""
    options = field.options
    if field.type is FieldType.TEXT:
        pattern = options.get("pattern") or "none"
        if f"hint_{pattern}" in words.catalogue:
            return words(f"hint_{pattern}")
        most = options.get("maxLength")
        return write_range_hint(
            "hint_length", options.get("minLength") or None, most if most and most <= 100 else None, words
        )
    if field.type is FieldType.NUMBER:
        least, most = (
            words.number(options[end]) if options.get(end) is not None else None for end in ("min", "max")
        )
        ends = write_range_hint("hint_range", least, most, words)
        decimals = options.get("decimals")
        return ends or (
            None
            if decimals is None
            else words("hint_decimals", n=decimals)
            if decimals
            else words("hint_whole")
        )
    if field.type is FieldType.DATE:
        least, most = (
            spell_date(options[end], words) if options.get(end) else None for end in ("min", "max")
        )
        return write_range_hint("hint_range", least, most, words)
    return None


def write_range_hint(key: str, least: object, most: object, words: SigningWords) -> str | None:
    """Return the sentence about a lower and an upper limit, or None if there is neither."""
    if least is not None and most is not None:
        return words(f"{key}_both", min=least, max=most)
    if least is not None:
        return words(f"{key}_min", min=least)
    return words(f"{key}_max", max=most) if most is not None else None


def spell_date(iso: str, words: SigningWords) -> str:
    """Return an ISO date in words: `2026-12-14` as 14 December 2026."""
    return words.day(date.fromisoformat(iso))


def format_date(iso: str, pattern: str) -> str:
    """Return an ISO date in the format of its field, as the seal writes it."""
    day = date.fromisoformat(iso)
    return {
        "DD/MM/YYYY": f"{day.day:02}/{day.month:02}/{day.year:04}",
        "MM/DD/YYYY": f"{day.month:02}/{day.day:02}/{day.year:04}",
        "D MMM YYYY": f"{day.day} {MONTHS[day.month - 1]} {day.year:04}",
    }.get(pattern, iso)


def find_label(field: Field, words: SigningWords) -> str:
    """Return the label of a field, or the name of its type."""
    return field.label or str(words(f"type_{field.type}"))


def list_places(
    document: Document, me: Recipient, path: Sequence[SigningStep], words: SigningWords
) -> Iterator[FieldPlace]:
    """Yield the place of every field of the document. Values of other recipients show once those have finished."""
    mine = {field.id: step for step in path for field in step.fields}
    for number, recipient in enumerate(document.recipients):
        colour, done = number % 8 + 1, recipient.status is RecipientStatus.COMPLETED
        for field in recipient.fields:
            label = find_label(field, words)
            if recipient.id == me.id:
                yield FieldPlace(field, colour, mine[field.id], label)
            elif done:
                yield FieldPlace(
                    field, colour, None, "", describe_value(field, recipient, label, words), done=True
                )
            elif field.type is FieldType.SIGNATURE:
                yield FieldPlace(field, colour, None, words("other_signs", name=recipient.name))
            else:
                said = words("other_fills", name=recipient.name, label=label)
                yield FieldPlace(field, colour, None, "" if field.type is FieldType.CHECKBOX else label, said)


def describe_value(field: Field, recipient: Recipient, label: str, words: SigningWords) -> str:
    """Return what a recipient who has finished entered into a field, in words."""
    if field.type is FieldType.SIGNATURE:
        return words("other_signed", name=recipient.name)
    value = field.value
    if isinstance(value, bool):
        value = words.script["ticked" if value else "unticked"]
    elif isinstance(value, str) and field.type is FieldType.DATE:
        value = format_date(value, field.options.get("format") or "YYYY-MM-DD")
    if not isinstance(value, str):  # initials, or an empty field
        return words("other_filled", name=recipient.name, label=label)
    return words("other_value", name=recipient.name, label=label, value=value)
