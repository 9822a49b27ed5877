"""Holds every answer of the API against its description: status, error code, headers, and the whole body."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

from jsonschema_rs import Draft202012Validator, Registry

from esign.web.api import endpoint_table

describe = cache(endpoint_table.describe)

JSON = "application/json"
EVERYWHERE = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "strict-transport-security": "max-age=63072000; includeSubDomains",
}
RATES = {"RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
"""What is refused before it is counted carries none of these."""


@cache
def templates() -> list[tuple[re.Pattern[str], str]]:
    """Each path of the description with what matches it."""
    paths = sorted(describe()["paths"], key=lambda path: path.count("{"))
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path) for path in paths]


@cache
def registry() -> Registry:
    """The description, under the name by which `validator` refers to it."""
    return Registry([("urn:api", describe())])


@cache
def validator(*pointer: str) -> Draft202012Validator:
    """For the schema at this place of the description, in the dialect of JSON Schema that OpenAPI 3.1 takes."""
    escaped = quote("/".join(step.replace("~", "~0").replace("/", "~1") for step in pointer))
    return Draft202012Validator({"$ref": f"urn:api#/{escaped}"}, registry=registry())


def operation(method: str, path: str) -> tuple[str, ...] | None:
    """Where the description speaks of this request; None for one that it does not know."""
    spoken = "get" if method == "HEAD" else method.lower()
    for pattern, template in templates():
        if pattern.fullmatch(path) and spoken in describe()["paths"][template]:
            return ("paths", template, spoken)
    return None


def check(method: str, path: str, status: int, headers: Mapping[str, str], body: Any) -> None:
    """Fails where an answer is not as it is described; `body` is the parsed JSON, None for other media."""
    assert headers["x-request-id"].startswith("req_")
    assert "access-control-allow-origin" not in headers and "server" not in headers
    for name, value in EVERYWHERE.items():
        assert headers[name] == value, name
    found = operation(method, path.partition("?")[0])
    if found is None:
        return
    answers = describe()["paths"][found[1]][found[2]]["responses"]
    assert str(status) in answers, f"{method} {found[1]} does not speak of {status}: {body}"
    described = answers[str(status)]
    code = body["error"]["code"] if status >= 400 and body is not None else ""
    counted = code not in ("", "too_many_auth_failures") and status in (404, 409, 429)
    needed = {
        name for name, sent in described.get("headers", {}).items() if not sent["$ref"].endswith("-maybe")
    }
    needed |= RATES if counted else set()
    needed |= {"Retry-After"} if code == "idempotency_in_progress" else set()
    missing = {name for name in needed if name.lower() not in headers}
    assert not missing, missing
    content = described.get("content", {}).get(JSON, {})
    if code:
        assert code in content["examples"], f"{found[1]} does not speak of {body}"
        assert body["error"]["requestId"] == headers["x-request-id"]
    if body is not None and "schema" in content:
        faults = list(
            validator(*found, "responses", str(status), "content", JSON, "schema").iter_errors(body)
        )
        assert not faults, [f"{fault.instance_path}: {fault.message}" for fault in faults]
