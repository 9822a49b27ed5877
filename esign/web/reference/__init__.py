"""The page at /api: the description of the API for people, rendered by the server from the OpenAPI document.

The first request renders the page, and the process keeps it until the address of the server changes. The start
does not wait for it, and later requests cost nothing.
"""

import asyncio
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.config import Config
from esign.runtime import Runtime
from esign.web.api import endpoint_table
from esign.web.api.account import present_limits
from esign.web.http.encoding import KeptBody
from esign.web.http.security import PAGE_HEADERS, READING_POLICY
from esign.web.pages import Pages
from esign.web.reference.operations import (
    describe_operation,
    find_error_example,
    format_json,
    list_error_codes,
)
from esign.web.reference.schema_members import SchemaTables

HEADERS = {**PAGE_HEADERS, "Content-Security-Policy": READING_POLICY}

VERIFICATION = """\
import base64, hashlib, hmac, time

def authentic(secret, headers, body):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    fresh = abs(time.time() - int(headers["webhook-timestamp"])) <= 300
    given = headers["webhook-signature"].split(" ")
    return fresh and any(hmac.compare_digest(one, f"v1,{expected}") for one in given)"""


def build_routes(runtime: Runtime, pages: Pages) -> list[Route]:
    """Return the route of the page. The first request renders it in a thread."""

    @lru_cache(1)
    def page(address: str) -> KeptBody:
        return KeptBody("text/html; charset=utf-8", render_reference(pages, runtime.config))

    async def reference(request: Request) -> Response:
        return await (await asyncio.to_thread(page, runtime.config.server.base_url)).respond(
            request.scope, HEADERS
        )

    return [Route("/api", reference)]


def render_reference(pages: Pages, config: Config) -> bytes:
    """Return the page as bytes, with the addresses and limits of this installation."""
    text = pages.environment.get_template("reference/page.html").render(build_context(config))
    return text.encode()


def build_context(config: Config) -> dict[str, Any]:
    """Return the context of the template, with the operations grouped by tag."""
    description = endpoint_table.describe()
    objects = SchemaTables(description)
    operations = [
        describe_operation(description, objects, config.server.base_url, path, method)
        for path, methods in description["paths"].items()
        for method in methods
    ]
    events = [
        {
            "name": name,
            "summary": item["post"]["summary"],
            "example": format_json(item["post"]["requestBody"]["content"]["application/json"]["example"]),
        }
        for name, item in description["webhooks"].items()
    ]
    tags = [
        {**tag, "operations": [found for found in operations if tag["name"] in found["tags"]]}
        for tag in description["tags"]
    ]
    return {
        "base": config.server.base_url,
        "version": description["info"]["version"],
        "idempotency_hours": config.limits.idempotency_hours,
        "verification": VERIFICATION,
        "error": format_json(find_error_example(description)),
        "introduction": description["info"]["description"].strip().split("\n\n"),
        "tags": tags,
        "events": events,
        "headers": objects.headers(description["webhooks"]),
        "codes": list_error_codes(),
        "limits": objects.list_limits(present_limits(config.limits).model_dump(by_alias=True)),
        "objects": objects.list_objects(),
    }
