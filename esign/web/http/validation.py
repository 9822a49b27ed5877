"""From what pydantic found wrong to the details of `invalid_request` (contract 6)."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from esign.core.errors import Detail, Problem

MOST = 100
COUNTED = 10_000  # a body made of mistakes must not cost more to describe than to refuse
RULES = ("required", "type", "format", "length", "range", "enum", "unknown_member", "duplicate", "reference")

# pydantic's error type -> rule, and the sentence where pydantic's own is not plain enough
FOUND: dict[str, tuple[str, str]] = {
    "missing": ("required", "This member is required."),
    "extra_forbidden": ("unknown_member", "There is no such member."),
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
    "string_too_short": ("length", "{min_length} characters or more."),
    "string_too_long": ("length", "{max_length} characters or fewer."),
    "too_short": ("length", "{min_length} entries or more."),
    "too_long": ("length", "{max_length} entries or fewer."),
    "greater_than": ("range", "More than {gt}."),
    "greater_than_equal": ("range", "At least {ge}."),
    "less_than": ("range", "Less than {lt}."),
    "less_than_equal": ("range", "At most {le}."),
    "multiple_of": ("range", "A multiple of {multiple_of}."),
    "finite_number": ("range", "A finite number."),
    "int_parsing_size": ("range", "A smaller number."),
    "string_pattern_mismatch": ("format", "Text of the form {pattern}."),
}

ONE = {"1 characters or more.": "1 character or more.", "1 entries or more.": "1 entry or more."}

M = TypeVar("M", bound=BaseModel)


def check(model: type[M], value: object) -> M:
    """`value` as the model; raises `invalid_request` with every problem found."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        if error.error_count() > COUNTED:
            raise Problem("invalid_request", f"The body has more than {COUNTED:,} problems.") from None
        raise Problem("invalid_request", details=tuple(details(error, value))[:MOST]) from None


def details(error: ValidationError, value: object) -> Iterator[Detail]:
    """One detail per place: of several alternatives that failed there, the first speaks."""
    seen = set()
    for found in error.errors(include_url=False):
        rule, message = judge(found)
        for path in pointers(found, value):
            if path not in seen:
                seen.add(path)
                yield Detail(path, message, rule)


def judge(found: ErrorDetails) -> tuple[str, str]:
    if found["type"] in RULES:
        return found["type"], found["msg"]
    rule, message = FOUND.get(found["type"], ("format", found["msg"] + "."))
    if rule == "enum" and found["type"] != "union_tag_invalid" and not isinstance(found["input"], str):
        rule = "type"
    told = message.format_map(found.get("ctx", {}))
    return rule, ONE.get(told, told)


def pointers(found: ErrorDetails, value: Any) -> Iterator[str]:
    """RFC 6901, one for each member meant; steps that are no place in the body (the alternatives of a union)
    are left out."""
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


def is_leaf(value: Any, after: Sequence[str | int], found: ErrorDetails) -> bool:
    """Whether the steps `after` are alternatives of this scalar, not members beside it."""
    return found["type"] != "missing" and not any(is_place(value, step) for step in after)


def is_place(value: Any, step: str | int) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(value)
