"""Members of bodies as a table: what each is, in which bounds, and what counts when it is left out."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from esign.web.api.rules import FILE_NAME, HTTPS_URL
from esign.web.rest.schema import LINE, LINES

Json = dict[str, Any]

FORMATS = {
    "date-time": "time (RFC 3339)",
    "date": "date",
    "email": "email address",
    "binary": "bytes",
    "uri": "address",
}
# Patterns that are easier to read as words; one line of text is what everybody expects.
TOLD = {
    LINE: "",
    LINES: "line breaks and tabs allowed",
    FILE_NAME["pattern"]: "no folders",
    HTTPS_URL["pattern"]: "https only",
    "^[!-~]+$": "visible ASCII",
}
SEPARATOR = "–"
OR_NULL = " or null"  # of a parameter: left out


class Objects:
    """The schemas of the description; those that tables lead to are remembered, to be shown once themselves."""

    def __init__(self, description: Json) -> None:
        self._schemas: Mapping[str, Json] = description["components"]["schemas"]
        self._named: dict[str, None] = {}

    def table(self, schema: Json) -> list[Json]:
        """The forms of a body: mostly one, each with its rows."""
        whole = self._resolved(schema)
        forms = [self._resolved(form) for form in whole.get("oneOf") or whole.get("anyOf") or [whole]]
        return [{"text": form.get("description", ""), "rows": list(self.rows(form))} for form in forms]

    def rows(self, schema: Json) -> Iterator[Json]:
        required = schema.get("required", ())
        for name, member in schema.get("properties", {}).items():
            yield {
                "name": name,
                "required": name in required,
                "type": self.type(member),
                "bounds": ", ".join(bounds(member)),
                "default": default(member),
                "text": member.get("description", ""),
            }

    def type(self, schema: Json) -> list[Json]:
        """The type in pieces: a text, and the name of the object it leads to."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if "properties" not in self._schemas[name]:
                return self.type(self._schemas[name]) if self._schemas[name] else [piece("any value")]
            self._named.setdefault(name)
            return [piece(name, name)]
        found = schema.get("anyOf") or schema.get("oneOf")
        if found:
            kept = [one for one in found if one.get("type") != "null"]
            pieces = [part for n, one in enumerate(kept) for part in (*(or_ if n else ()), *self.type(one))]
            return [*pieces, *([piece(OR_NULL)] if len(kept) < len(found) else [])]
        if schema.get("type") == "array":
            return [piece("array of "), *self.type(schema["items"])]
        if isinstance(schema.get("additionalProperties"), dict):
            return [piece("object of "), *self.type(schema["additionalProperties"])]
        kind: str = schema.get("type", "any value")
        return [piece(FORMATS.get(schema.get("format", ""), kind))]

    def shown(self) -> list[Json]:
        """Every object that was named, and those that these name in turn."""
        made: dict[str, Json] = {}
        while waiting := [name for name in self._named if name not in made]:
            for name in waiting:
                schema = self._schemas[name]
                text = schema.get("description", "")
                made[name] = {"name": name, "text": text, "rows": list(self.rows(schema))}
        return [made[name] for name in sorted(made)]

    def ordered(self, value: Any, schema: Json) -> Any:
        """An example with its members as the tables have them: what is needed first."""
        whole = self._resolved(schema)
        forms = [self._resolved(form) for form in whole.get("oneOf") or whole.get("anyOf") or [whole]]
        if isinstance(value, list):
            entries: Json = next((form["items"] for form in forms if "items" in form), {})
            return [self.ordered(entry, entries) for entry in value]
        if not isinstance(value, dict):
            return value
        members: Json = next((form.get("properties", {}) for form in forms if is_of(value, form)), {})
        names = [name for name in members if name in value] + [name for name in value if name not in members]
        return {name: self.ordered(value[name], members.get(name, {})) for name in names}

    def headers(self, webhooks: Json) -> list[Json]:
        """What comes with each delivery."""
        first: Json = next(iter(webhooks.values()), {"post": {"parameters": []}})
        return list(first["post"]["parameters"])

    def limits(self, values: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
        """Name, meaning and value of each limit, as this installation has them."""
        members = self._schemas["LimitsReply"]["properties"]
        return [(name, members[name].get("description", ""), value) for name, value in values.items()]

    def _resolved(self, schema: Json) -> Json:
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        return schema


def is_of(value: Json, form: Json) -> bool:
    """Whether the members are those of this form, and its type is this one where it has one."""
    members = form.get("properties", {})
    kind = members.get("type", {}).get("const", value.get("type"))
    return value.keys() <= members.keys() and bool(kind == value.get("type"))


def piece(text: str, object_: str | None = None) -> Json:
    return {"text": text, "object": object_}


or_ = (piece(" or "),)


def bounds(schema: Json) -> Iterator[str]:
    """Every limit in words; that of a nullable member stands in its first alternative."""
    for one in schema.get("anyOf", ()):
        yield from bounds(one)
    if "enum" in schema:
        yield "one of " + ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        yield json.dumps(schema["const"])
    for low, high, unit in (
        ("minLength", "maxLength", "characters"),
        ("minItems", "maxItems", "entries"),
        ("minProperties", "maxProperties", "pairs"),
        ("minimum", "maximum", ""),
    ):
        yield from between(schema.get(low), schema.get(high), unit)
    pattern = schema.get("pattern")
    if pattern is not None and (told := TOLD.get(pattern, f"matches {pattern}")):
        yield told


def between(low: float | None, high: float | None, unit: str) -> Iterator[str]:
    if low is not None and high is not None:
        yield f"{low:g}{SEPARATOR}{high:g} {unit}".strip()
    elif high is not None:
        yield f"at most {high:g} {unit}".strip()
    elif low is not None:
        yield f"at least {low:g} {unit}".strip()


def default(schema: Json) -> str | None:
    """As JSON; None where there is none to tell."""
    value = schema.get("default")
    return None if value is None or value == [] else json.dumps(value, ensure_ascii=False)
