"""Turns the errors of pydantic into the details of `invalid_request` (contract 6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from esign.core.errors import Detail, Problem
from esign.core.sentence import say

MOST = 100
COUNTED = 10_000  # beyond this many errors only their number is reported: listing them would cost too much
RULES = ("required", "type", "format", "length", "range", "enum", "unknown_member", "duplicate", "reference")

# The error types of pydantic, with the rule of contract 6 and a sentence that is plainer than pydantic's own. Its
# places are named as pydantic names what it tells about the error.
FOUND: Mapping[str, tuple[str, str]] = {
    "missing": ("required", "This member is required."),
    "extra_forbidden": ("unknown_member", "This member doesn’t exist."),
    "union_tag_not_found": ("required", "This member is required."),
    "union_tag_invalid": ("enum", "One of {expected_tags}."),
    "literal_error": ("enum", "One of {expected}."),
    "enum": ("enum", "One of {expected}."),
    "string_type": ("type", "A string."),
    "int_type": ("type", "A whole number."),
    "int_from_float": ("type", "A whole number."),
    "float_type": ("type", "A number."),
    "bool_type": ("type", "true or false."),
    "list_type": ("type", "An array."),
    "tuple_type": ("type", "An array."),
    "dict_type": ("type", "An object."),
    "model_type": ("type", "An object."),
    "model_attributes_type": ("type", "An object."),
    "none_required": ("type", "null."),
    "greater_than": ("range", "More than {gt}."),
    "greater_than_equal": ("range", "At least {ge}."),
    "less_than": ("range", "Less than {lt}."),
    "less_than_equal": ("range", "At most {le}."),
    "multiple_of": ("range", "A multiple of {multiple_of}."),
    "finite_number": ("range", "A finite number."),
    "int_parsing_size": ("range", "A smaller number."),
    "string_pattern_mismatch": ("format", "Text of the form {pattern}."),
}


@dataclass(frozen=True, slots=True)
class CountedRule:
    """A bound of a length: what pydantic calls its number, and the sentence for it, also where it is 1."""

    number: str
    sentence: str
    one: str


LENGTHS: Mapping[str, CountedRule] = {
    "string_too_short": CountedRule("min_length", "{n} characters or more.", "{n} character or more."),
    "string_too_long": CountedRule("max_length", "{n} characters or fewer.", "{n} character or fewer."),
    "too_short": CountedRule("min_length", "{n} entries or more.", "{n} entry or more."),
    "too_long": CountedRule("max_length", "{n} entries or fewer.", "{n} entry or fewer."),
}

M = TypeVar("M", bound=BaseModel)


def check(model: type[M], value: object) -> M:
    """Return `value` as an instance of the model. Raise `invalid_request` with every problem found, at most 100."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        if error.error_count() > COUNTED:
            raise Problem(
                "invalid_request", say("The body has more than {most:,} problems.", most=COUNTED)
            ) from None
        raise Problem("invalid_request", details=tuple(list_details(error, value))[:MOST]) from None


def list_details(error: ValidationError, value: object) -> Iterator[Detail]:
    """Yield one detail for each place. Where several alternatives of a union failed, the first error counts."""
    seen = set()
    for found in error.errors(include_url=False):
        rule, message = choose_rule(found)
        for path in list_pointers(found, value):
            if path not in seen:
                seen.add(path)
                yield Detail(path, message, rule)


def choose_rule(found: ErrorDetails) -> tuple[str, str]:
    """Return the rule of contract 6 that an error of pydantic stands for, and the sentence to show."""
    context = found.get("ctx", {})
    if found["type"] in RULES:  # from `refusal`; pydantic's own text would not remember its form
        return found["type"], context["message"]
    if counted := LENGTHS.get(found["type"]):
        return "length", say(counted.sentence, one=counted.one, n=context[counted.number])
    if found["type"] not in FOUND:
        return "format", say("{error}.", error=found["msg"])
    rule, form = FOUND[found["type"]]
    if rule == "enum" and found["type"] != "union_tag_invalid" and not isinstance(found["input"], str):
        rule = "type"
    values = {name: value for name, value in context.items() if f"{{{name}}}" in form}
    return rule, say(form, **values) if values else form


def list_pointers(found: ErrorDetails, value: Any) -> Iterator[str]:
    """Yield a JSON Pointer (RFC 6901) for each member that the error is about.

    Steps that are not places in the body, such as the alternatives of a union, are left out.
    """
    steps: list[str | int] = []
    places = found["loc"]
    for n, step in enumerate(places):
        last = n == len(places) - 1
        if last and found["type"] == "missing":
            steps.append(step)
        elif is_place(value, step) and (
            last
            or places[n + 1] == "[key]"
            or isinstance(value[step], dict | list)
            or is_leaf(value, places[n + 1 :], found)
        ):
            steps.append(step)
            value = value[step]
    context = found.get("ctx", {})
    at = context.get("at") or context.get("discriminator", "").strip("'")
    for member in at if isinstance(at, tuple) else (at,):
        whole = [*steps, member] if member else steps
        yield "".join("/" + str(step)[:200].replace("~", "~0").replace("/", "~1") for step in whole)


def is_leaf(value: object, after: Sequence[str | int], found: ErrorDetails) -> bool:
    """Return whether the steps `after` name alternatives of this scalar, and not members beside it."""
    return found["type"] != "missing" and not any(is_place(value, step) for step in after)


def is_place(value: object, step: str | int) -> bool:
    """Return whether `value` is an object or a list that holds something at `step`."""
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(value)
