"""One operation as the page shows it: parameters, body, responses, errors, and a call to copy."""

import json
from collections.abc import Iterator

from esign.core.errors import CATALOGUE
from esign.web.api.words import NOUNS
from esign.web.reference.schema_members import OR_NULL, SchemaTables, describe_bounds
from esign.web.rest.openapi.schemas import Json

JSON = "application/json"
# Errors that every call can have are listed once on the page.
COMMON = frozenset(
    (
        *("invalid_request", "invalid_json", "unsupported_media_type", "request_too_large"),
        *("missing_api_key", "invalid_api_key", "api_key_revoked", "api_key_expired", "plan_required"),
        *("insufficient_scope", "not_found", "rate_limited", "too_many_auth_failures"),
        *("invalid_idempotency_key", "idempotency_key_reused", "idempotency_in_progress"),
        *("internal_error", "unavailable"),
    )
)


def describe_operation(description: Json, objects: SchemaTables, base: str, path: str, method: str) -> Json:
    """Return what the template shows of one operation."""
    found: Json = description["paths"][path][method]
    [(status, success)] = [item for item in found["responses"].items() if item[0][0] == "2"]
    shown = success["content"].get(JSON, {})
    reply = shown.get("schema", {})
    return {
        "id": found["operationId"],
        "tags": found["tags"],
        "method": method.upper(),
        "path": path,
        "summary": found["summary"],
        "text": found["description"].split("\n\n"),
        "parameters": [describe_parameter(objects, one) for one in found["parameters"]],
        "body": objects.list_forms(found["requestBody"]["content"][JSON]["schema"])
        if "requestBody" in found
        else [],
        "curl": write_curl(objects, base, path, method, found),
        "status": status,
        "reply": objects.type(reply) if reply else [],
        "media": [media for media in success["content"] if media != JSON],
        "headers": [name for name in success["headers"] if "RateLimit" not in name],
        "example": format_json(objects.order_members(list_examples(shown)[0], reply))
        if list_examples(shown)
        else None,
        "refusals": list(list_refusals(found)),
    }


def describe_parameter(objects: SchemaTables, given: Json) -> Json:
    """Return one row of the table of parameters."""
    schema = given["schema"]
    return {
        "name": given["name"],
        "in": given["in"],
        "required": given.get("required", False),
        "type": [one for one in objects.type(schema) if one["text"] != OR_NULL],
        "bounds": ", ".join(describe_bounds(schema)),
        "default": schema.get("default"),
        "text": given.get("description", ""),
    }


def list_refusals(found: Json) -> Iterator[tuple[str, list[str]]]:
    """Yield (status, codes) of the errors that not every call can have."""
    for status, answer in found["responses"].items():
        if status[0] in "45":
            named = [code for code in answer["content"][JSON]["examples"] if code not in COMMON]
            if named:
                yield status, named


def list_error_codes() -> list[Json]:
    """Return every error code with its status and meaning."""
    return [
        {"code": code, "status": status, "text": text, "common": code in COMMON}
        for code, (status, text) in CATALOGUE.items()
    ]


def find_error_example(description: Json) -> object:
    """Return the example of an error that has nearly every member an error can have."""
    refused = description["paths"]["/api/v1/documents/{id}/send"]["post"]["responses"]["409"]
    return refused["content"][JSON]["examples"]["document_not_ready"]["value"]


def list_examples(content: Json) -> list[object]:
    """Return the examples of a body."""
    alone = [content["example"]] if "example" in content else []
    return alone + [example["value"] for example in content.get("examples", {}).values()]


def format_json(value: object) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def write_curl(objects: SchemaTables, base: str, path: str, method: str, found: Json) -> str:
    """Return the call as a shell command.

    It reads the key from $KEY, and each id in the path from a variable of its own.
    """
    lines = [f'curl -s "{base}{insert_variables(path, found)}"']
    if method not in ("get", "post") or (method == "post" and "requestBody" not in found):
        lines[0] = lines[0].replace("curl -s", f"curl -s -X {method.upper()}")
    if found.get("security") != []:
        lines.append('-H "Authorization: Bearer $KEY"')
    success = next(answer for status, answer in found["responses"].items() if status[0] == "2")
    if others := [media for media in success["content"] if media != JSON]:
        lines.append(f'-H "Accept: {others[0]}" -o document.pdf')
    if "requestBody" in found:
        content = found["requestBody"]["content"][JSON]
        body = objects.order_members(list_examples(content)[0], content["schema"])
        quoted = format_json(body).replace("'", "'\\''")
        for noun, (_, example) in NOUNS.items():  # a variable replaces the id of the example
            quoted = quoted.replace(f'"{example}"', f"\"'${make_variable_name(noun)}'\"")
        lines += ['-H "Content-Type: application/json"', f"-d '{quoted}'"]
    return " \\\n  ".join(lines)


def insert_variables(path: str, found: Json) -> str:
    """Return the path as `/documents/$DOCUMENT/…`. A parameter with few values shows its example instead."""
    for given in found["parameters"]:
        if given["in"] == "path":
            value = (
                given["example"] if "enum" in given["schema"] else "$" + name_variable(path, given["name"])
            )
            path = path.replace(f"{{{given['name']}}}", value)
    return path


def name_variable(path: str, name: str) -> str:
    """Return the variable for an id, such as `DOCUMENT` for the one after `/documents/`."""
    segments = path.split("/")
    return make_variable_name(segments[segments.index(f"{{{name}}}") - 1])


def make_variable_name(segment: str) -> str:
    """Return the singular of a path segment in capitals, as a name for a shell variable."""
    noun = segment.replace("-", "_").upper()
    return noun[:-3] + "Y" if noun.endswith("IES") else noun.removesuffix("S")
