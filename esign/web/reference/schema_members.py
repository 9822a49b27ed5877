"""Tables of the members of a body: type, bounds, default, and what each means."""

import json
from collections.abc import Iterator, Mapping

from esign.web.rest.openapi.schemas import Json
from esign.web.values.rules import FILE_NAME, HTTPS_URL
from esign.web.values.schema import LINE, LINES

FORMATS = {
    "date-time": "time (RFC 3339)",
    "date": "date",
    "email": "email address",
    "binary": "bytes",
    "uri": "address",
}
# Patterns that are easier to read as words. A single line of text is the usual case and gets none.
TOLD = {
    LINE: "",
    LINES: "line breaks and tabs allowed",
    FILE_NAME["pattern"]: "no folders",
    HTTPS_URL["pattern"]: "https only",
    "^[!-~]+$": "visible ASCII",
}
SEPARATOR = "–"
OR_NULL = " or null"  # of a parameter: left out


class SchemaTables:
    """The schemas of the description.

    It remembers the objects that tables refer to, so that each of them gets a table of its own.
    """

    def __init__(self, description: Json) -> None:
        self._schemas: Mapping[str, Json] = description["components"]["schemas"]
        self._named: dict[str, None] = {}

    def list_forms(self, schema: Json) -> list[Json]:
        """Return the forms of a body, each with its rows. Most bodies have one form."""
        whole = self._resolve(schema)
        forms = [self._resolve(form) for form in whole.get("oneOf") or whole.get("anyOf") or [whole]]
        return [{"text": form.get("description", ""), "rows": list(self.rows(form))} for form in forms]

    def rows(self, schema: Json) -> Iterator[Json]:
        """Yield one row for each member of an object."""
        required = schema.get("required", ())
        for name, member in schema.get("properties", {}).items():
            yield {
                "name": name,
                "required": name in required,
                "type": self.type(member),
                "bounds": ", ".join(describe_bounds(member)),
                "default": format_default(member),
                "text": member.get("description", ""),
            }

    def type(self, schema: Json) -> list[Json]:
        """Return the type in pieces: a text, and the name of the object it links to."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if "properties" not in self._schemas[name]:
                return self.type(self._schemas[name]) if self._schemas[name] else [make_piece("any value")]
            self._named.setdefault(name)
            return [make_piece(name, name)]
        found = schema.get("anyOf") or schema.get("oneOf")
        if found:
            kept = [one for one in found if one.get("type") != "null"]
            pieces = [part for n, one in enumerate(kept) for part in (*(or_ if n else ()), *self.type(one))]
            return [*pieces, *([make_piece(OR_NULL)] if len(kept) < len(found) else [])]
        if schema.get("type") == "array":
            return [make_piece("array of "), *self.type(schema["items"])]
        if isinstance(schema.get("additionalProperties"), dict):
            return [make_piece("object of "), *self.type(schema["additionalProperties"])]
        kind: str = schema.get("type", "any value")
        return [make_piece(FORMATS.get(schema.get("format", ""), kind))]

    def list_objects(self) -> list[Json]:
        """Return the tables of all objects that were referred to, and of those that these refer to in turn."""
        made: dict[str, Json] = {}
        while waiting := [name for name in self._named if name not in made]:
            for name in waiting:
                schema = self._schemas[name]
                text = schema.get("description", "")
                made[name] = {"name": name, "text": text, "rows": list(self.rows(schema))}
        return [made[name] for name in sorted(made)]

    def order_members(self, value: object, schema: Json) -> object:
        """Return an example with its members in the order in which the tables list them."""
        whole = self._resolve(schema)
        forms = [self._resolve(form) for form in whole.get("oneOf") or whole.get("anyOf") or [whole]]
        if isinstance(value, list):
            entries: Json = next((form["items"] for form in forms if "items" in form), {})
            return [self.order_members(entry, entries) for entry in value]
        if not isinstance(value, dict):
            return value
        members: Json = next((form.get("properties", {}) for form in forms if has_form(value, form)), {})
        names = [name for name in members if name in value] + [name for name in value if name not in members]
        return {name: self.order_members(value[name], members.get(name, {})) for name in names}

    def headers(self, webhooks: Json) -> list[Json]:
        """Return the headers that come with each webhook delivery."""
        first: Json = next(iter(webhooks.values()), {"post": {"parameters": []}})
        return list(first["post"]["parameters"])

    def list_limits(self, values: Mapping[str, object]) -> list[tuple[str, str, object]]:
        """Return (name, meaning, value) for each limit of this installation."""
        members = self._schemas["LimitsReply"]["properties"]
        return [(name, members[name].get("description", ""), value) for name, value in values.items()]

    def _resolve(self, schema: Json) -> Json:
        """Follow references until the schema itself is found."""
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        return schema


def has_form(value: Json, form: Json) -> bool:
    """Return whether a value has the form of this schema: only its members, and its `type` if the schema has one."""
    members = form.get("properties", {})
    kind = members.get("type", {}).get("const", value.get("type"))
    return value.keys() <= members.keys() and bool(kind == value.get("type"))


def make_piece(text: str, object_: str | None = None) -> Json:
    """Return a part of a type; `object_` names the table it links to."""
    return {"text": text, "object": object_}


or_ = (make_piece(" or "),)


def describe_bounds(schema: Json) -> Iterator[str]:
    """Yield each limit of a member in words. A nullable member has its limits in the first alternative."""
    for one in schema.get("anyOf", ()):
        yield from describe_bounds(one)
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
        yield from describe_range(schema.get(low), schema.get(high), unit)
    pattern = schema.get("pattern")
    if pattern is not None and (told := TOLD.get(pattern, f"matches {pattern}")):
        yield told


def describe_range(low: float | None, high: float | None, unit: str) -> Iterator[str]:
    """Yield the range in words, or nothing if it has no bound."""
    if low is not None and high is not None:
        yield f"{low:g}{SEPARATOR}{high:g} {unit}".strip()
    elif high is not None:
        yield f"at most {high:g} {unit}".strip()
    elif low is not None:
        yield f"at least {low:g} {unit}".strip()


def format_default(schema: Json) -> str | None:
    """Return the default as JSON, or None if there is none to show."""
    value = schema.get("default")
    return None if value is None or value == [] else json.dumps(value, ensure_ascii=False)
