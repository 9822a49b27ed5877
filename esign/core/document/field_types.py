"""The types of fields (contract 4): one row each, and the checks and inventions that the rows name."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, Decimal
from enum import Enum
from typing import Any, NamedTuple

from esign.core.document.document import Field, FieldType, Ink, Recipient, Value
from esign.core.sentence import say

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
        "Please enter a phone number, such as 0151 234 5678.",
    ),
    "postal": (
        lambda text: bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 \-]{1,10}", text)),
        "Please enter a postcode, such as SW1A 1AA.",
    ),
}


LEAST_LETTERS, LEAST_LETTER = "Please enter at least {n} characters.", "Please enter at least {n} character."
MOST_LETTERS, MOST_LETTER = "Please enter at most {n} characters.", "Please enter at most {n} character."
MOST_DIGITS, MOST_DIGIT = "Use at most {n} decimal places.", "Use at most {n} decimal place."


class RangeSentences(NamedTuple):
    """What a value outside of its bounds is told, by the bounds that there are."""

    between: str
    least: str
    most: str


DAYS = RangeSentences(
    "Choose a day between {least} and {most}.", "Choose a day from {least} on.", "Choose a day up to {most}."
)
NUMBERS = RangeSentences(
    "Choose a number between {least} and {most}.",
    "Choose a number from {least} on.",
    "Choose a number up to {most}.",
)


class InvalidValue(ValueError):
    """A value that does not fit its field, with the sentence for the signer and the rule it breaks."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule, self.message = rule, message


class ValueShape(Enum):
    """What a value is in JSON: a string, a boolean, or an object for a picture or a typed signature."""

    TEXT = "text"
    TICK = "tick"
    INK = "ink"


@dataclass(frozen=True, slots=True)
class FieldKind:
    """What distinguishes one type of field.

    `key` is the key that chooses the type in the field editor. `width` and `height` are the default size in percent of
    the page. `check` returns the value to store for what was given, or raises
    `InvalidValue`. `invent` returns what a simulated recipient gives (contract 3.5).

    Where `autofill` is on, `fill` returns the value that the recipient cannot change, and `suggest` the one that a
    recipient who gives none has. A text that is `shortenable` is refused where it does not fit into its field; any
    other one shrinks.
    """

    key: str
    width: float
    height: float
    check: Callable[[Field, Any], Value]
    invent: Callable[[Field, Recipient, date], Any]
    shape: ValueShape = ValueShape.TEXT
    fill: Callable[[Recipient, date], str] | None = None
    suggest: Callable[[Recipient], str] | None = None
    shortenable: bool = False


# ---------- checks ----------


def check_ink(field: Field, given: Any) -> Ink:
    """Return the signature if its kind is one that the field allows. Raises InvalidValue."""
    if not isinstance(given, Ink):
        if field.type is FieldType.INITIALS:
            raise InvalidValue("type", "Draw, type or upload your initials.")
        raise InvalidValue("type", "Draw, type or upload your signature.")
    if given.kind not in field.options.get("allowed", ("drawn", "typed", "uploaded")):
        raise InvalidValue("enum", "Please sign in another way.")
    return given


def check_tick(field: Field, given: Any) -> bool:
    """Return whether the box is ticked. Raises InvalidValue."""
    if not isinstance(given, bool):
        raise InvalidValue("type", "Tick the box or leave it empty.")
    return given


def check_text(field: Field, given: Any) -> str:
    """Return a text that fits the field's length and pattern. Raises InvalidValue."""
    text = require_string(given)
    lines = field.options.get("multiline", False)
    if (CONTROL_BUT_LINES if lines else CONTROL).search(text):
        raise InvalidValue("format", "This text has characters that cannot be printed.")
    least, most = field.options.get("minLength") or 0, field.options.get("maxLength") or 2_000
    if len(text) < least:
        raise InvalidValue("length", say(LEAST_LETTERS, one=LEAST_LETTER, n=least))
    if len(text) > most:
        raise InvalidValue("length", say(MOST_LETTERS, one=MOST_LETTER, n=most))
    fits, sentence = PATTERNS[field.options.get("pattern") or "none"]
    if not all(fits(line) for line in text.splitlines() if line):
        raise InvalidValue("format", sentence)
    return text


def check_name(field: Field, given: Any) -> str:
    """Return a name of at most 200 printable characters. Raises InvalidValue."""
    text = require_string(given)
    if CONTROL.search(text):
        raise InvalidValue("format", "This text has characters that cannot be printed.")
    if len(text) > 200:
        raise InvalidValue("length", say(MOST_LETTERS, one=MOST_LETTER, n=200))
    return text


def check_email(field: Field, given: Any) -> str:
    """Return an email address of plausible form. Raises InvalidValue."""
    text = check_name(field, given)
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", text):
        raise InvalidValue("format", "Please enter an email address, such as name@example.com.")
    return text


def check_day(field: Field, given: Any) -> str:
    """Return an ISO date within the bounds of the field. Raises InvalidValue."""
    text = require_string(given)
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise InvalidValue("format", "Please choose a date, such as 2026-11-21.")
    try:
        date.fromisoformat(text)
    except ValueError:
        raise InvalidValue("format", "This date does not exist.") from None
    least, most = field.options.get("min"), field.options.get("max")
    if (least and text < least) or (most and text > most):
        raise InvalidValue("range", _describe_range(DAYS, least, most))
    return text


def check_number(field: Field, given: Any) -> str:
    """Return a decimal number, with a point, within the bounds and decimals of the field. Raises InvalidValue.

    A comma is read as the decimal point. Where fewer than three decimals are asked for, `1,000` is refused as a
    mark between thousands.
    """
    if THOUSANDS.fullmatch(require_string(given)) and (field.options.get("decimals") or 0) < 3:
        raise InvalidValue("format", "Please enter the number without thousands separators.")
    text = require_string(given).replace(",", ".")
    decimals = field.options.get("decimals")
    if not DECIMAL.fullmatch(text):
        if decimals == 0:
            raise InvalidValue("format", "Please enter a number, such as 12.")
        raise InvalidValue("format", "Please enter a number, such as 12 or 3.50.")
    if decimals is not None and len(text.partition(".")[2]) > decimals:
        if not decimals:
            raise InvalidValue("format", "Please enter a whole number.")
        raise InvalidValue("format", say(MOST_DIGITS, one=MOST_DIGIT, n=decimals))
    least, most = field.options.get("min"), field.options.get("max")
    exact = Decimal(text)
    if (least is not None and exact < Decimal(str(least))) or (
        most is not None and exact > Decimal(str(most))
    ):
        raise InvalidValue("range", _describe_range(NUMBERS, least, most))
    return text


def check_choice(field: Field, given: Any) -> str:
    """Return one of the field's options. Raises InvalidValue."""
    if given not in field.options.get("options", ()):
        raise InvalidValue("enum", "Please choose one of the options.")
    return str(given)


def is_letter(c: str) -> bool:
    """Return whether `c` is a letter, or a mark that belongs to one: accents, vowel signs of Hindi and Thai."""
    return unicodedata.category(c)[0] in "LM"


def require_string(given: Any) -> str:
    """Return `given` if it is a string. Raises InvalidValue."""
    if not isinstance(given, str):
        raise InvalidValue("type", "Please enter text.")
    return given


def _describe_range(sentences: RangeSentences, least: Any, most: Any) -> str:
    if least is not None and most is not None:
        return say(sentences.between, least=least, most=most)
    return say(sentences.least, least=least) if least is not None else say(sentences.most, most=most)


# ---------- inventions of test mode ----------


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


def make_typed_signature(text: str) -> dict[str, str]:
    """Return a typed signature, cut to 100 characters."""
    return {"kind": "typed", "text": text[:100]}


def make_signature(field: Field, recipient: Recipient, today: date) -> dict[str, str]:
    """Return a signature of a kind that the field allows."""
    return choose_ink(field, recipient.name)


def make_initials(field: Field, recipient: Recipient, today: date) -> dict[str, str]:
    """Return initials of a kind that the field allows."""
    return choose_ink(field, "".join(word[0] for word in recipient.name.split()))


def choose_ink(field: Field, text: str) -> dict[str, str]:
    """Return the text as a typed signature, or a drawn line if the field takes no letters."""
    allowed = field.options.get("allowed") or ("typed",)
    return make_typed_signature(text) if "typed" in allowed else {"kind": allowed[0], "picture": STROKE}


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


def make_name(field: Field, recipient: Recipient, today: date) -> str:
    """Return the recipient's name."""
    return recipient.name


def make_email(field: Field, recipient: Recipient, today: date) -> str:
    """Return the recipient's address."""
    return recipient.email


def make_tick(field: Field, recipient: Recipient, today: date) -> bool:
    """Return True."""
    return True


def make_choice(field: Field, recipient: Recipient, today: date) -> str:
    """Return the first of the field's options."""
    return str(field.options["options"][0])


# ---------- the table ----------


FIELD_TYPES: Mapping[FieldType, FieldKind] = {
    FieldType.SIGNATURE: FieldKind("S", 25, 6, check_ink, make_signature, ValueShape.INK),
    FieldType.INITIALS: FieldKind("I", 10, 5, check_ink, make_initials, ValueShape.INK),
    FieldType.DATE: FieldKind(
        "D", 15, 3, check_day, make_day, fill=lambda recipient, today: today.isoformat()
    ),
    FieldType.NAME: FieldKind("N", 25, 3, check_name, make_name, suggest=lambda recipient: recipient.name),
    FieldType.EMAIL: FieldKind(
        "E", 25, 3, check_email, make_email, fill=lambda recipient, today: recipient.email
    ),
    FieldType.TEXT: FieldKind("T", 25, 3, check_text, make_text, shortenable=True),
    FieldType.NUMBER: FieldKind("U", 15, 3, check_number, make_number, shortenable=True),
    FieldType.CHECKBOX: FieldKind("C", 2.5, 2, check_tick, make_tick, ValueShape.TICK),
    FieldType.RADIO: FieldKind("R", 25, 8, check_choice, make_choice),
    FieldType.DROPDOWN: FieldKind("L", 25, 3, check_choice, make_choice),
}
INK = frozenset(type for type, kind in FIELD_TYPES.items() if kind.shape is ValueShape.INK)


def is_automatic(field: Field) -> bool:
    """Return whether the field is filled in by itself, and its recipient can neither choose nor change the value."""
    return FIELD_TYPES[field.type].fill is not None and bool(field.options.get("autofill", True))
