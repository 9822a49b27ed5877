"""The description of the API (OpenAPI 3.1), generated from the table and the models that answer requests.

The caller supplies the prose, so this package knows nothing about documents. Each answer lists the error codes
of its status in its description, with an example of each. There is no enumeration of codes, because new codes
may be added (contract 9).
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel

from esign.core.people.api_key import LIVE_ONLY
from esign.core.people.permission import Permission
from esign.web.rest.endpoint import ApiRoute, Endpoint
from esign.web.rest.openapi.answers import (
    ALL_HEADERS,
    ERRORS,
    STRING,
    describe_failures,
    describe_not_modified,
    describe_success,
    has_etag,
)
from esign.web.rest.openapi.schemas import Json, Schemas
from esign.web.rest.openapi.words import ApiWords
from esign.web.rest.routes import list_parameters

SILENT = ApiWords()
IDEMPOTENCY: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Makes the request safe to send again: the first success is remembered and replayed.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "example": "8e03978e-40d5-43dd-bc93-6894a57f9324",
}
IF_MATCH: Json = {
    "name": "If-Match",
    "in": "header",
    "description": "Go on only at this revision, in quotes.",
    "schema": STRING,
    "example": '"3"',
}
IF_NONE_MATCH: Json = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The `ETag` of an earlier answer: while it is the present one, the answer is 304 without a body.",
    "schema": STRING,
    "example": '"3"',
}
SIGNED: tuple[Json, ...] = tuple(
    {
        "name": name,
        "in": "header",
        "required": True,
        "description": text,
        "schema": STRING,
        "example": example,
    }
    for name, text, example in (
        (
            "webhook-id",
            "The id of the event, the same with every repetition: what was seen before need not be done again.",
            "evt_01kzt0v8q3e5m7p9r1s3t5v7w9",
        ),
        ("webhook-timestamp", "Unix time of this attempt, in seconds.", "1795219200"),
        (
            "webhook-signature",
            "`v1,` and the base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>` under the decoded "
            "secret; several, separated by spaces, while a secret is being replaced.",
            "v1,kdabQavh8LsLZObHtP9DJ76PgXmEJTUGV26OW7Td9QA=",
        ),
    )
)


def describe(
    endpoints: Sequence[Endpoint],
    *,
    version: str,
    server: str,
    webhooks: Mapping[str, type[BaseModel]] | None = None,
    words: ApiWords = SILENT,
) -> Json:
    """Return the whole description. `webhooks` holds the model of each event's body by its name."""
    routes = [ApiRoute(endpoint) for endpoint in endpoints]
    events = webhooks or {}
    schemas = Schemas(routes, events.values(), words)
    paths: dict[str, Json] = {}
    for route in routes:
        operations = paths.setdefault(route.endpoint.path, {})
        operations[route.endpoint.method.lower()] = describe_operation(route, schemas, words)
    tags = dict.fromkeys(endpoint.tag for endpoint in endpoints if endpoint.tag)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "esign",
            "version": version,
            "summary": "Electronic signatures: documents, recipients, sealed PDFs, webhooks.",
            "description": words.introduction,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server, "description": "The installation that serves this description."}],
        "security": [{"apiKey": []}],
        "tags": [{"name": tag, "description": words.tags.get(tag, "")} for tag in tags],
        "paths": paths,
        "webhooks": {
            name: {"post": describe_delivery(name, model, schemas, words)} for name, model in events.items()
        },
        "components": {
            "schemas": {**ERRORS, **schemas.defined},
            "headers": ALL_HEADERS,
            "securitySchemes": {
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key: `esk_live_…` or `esk_test_…`.",
                }
            },
        },
    }


def describe_operation(route: ApiRoute, schemas: Schemas, words: ApiWords) -> Json:
    """Return the operation object of one endpoint."""
    endpoint = route.endpoint
    made: Json = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": "\n\n".join(describe_handler(route)),
        "parameters": [
            *(describe_path_parameter(endpoint.path, name, words) for name in list_parameters(endpoint.path)),
            *(schemas.parameters(route.query) if route.query is not None else ()),
            *([IDEMPOTENCY] if endpoint.idempotent else ()),
            *([IF_MATCH] if endpoint.if_match else ()),
            *([IF_NONE_MATCH] if has_etag(route) and endpoint.method == "GET" else ()),
        ],
        "responses": {
            str(endpoint.success): describe_success(route, schemas),
            **dict(describe_not_modified(route)),
            **dict(describe_failures(route)),
        },
    }
    if endpoint.tag:
        made["tags"] = [endpoint.tag]
    if route.body is not None and route.body.model_fields:
        required = any(field.is_required() for field in route.body.model_fields.values())
        made["requestBody"] = {
            "required": required,
            "content": schemas.describe_content(route.body, "validation"),
        }
    if endpoint.public:
        made["security"] = []
    if endpoint.deprecation is not None:
        made["deprecated"] = True
    return made


def describe_handler(route: ApiRoute) -> Iterator[str]:
    """Yield the paragraphs about an operation: the docstring of its handler, then scope, policy and deprecation."""
    endpoint = route.endpoint
    yield " ".join((inspect.getdoc(endpoint.handler) or "").split())
    if endpoint.scope is not None:
        yield f"Needs the scope `{endpoint.scope}`."
    elif not endpoint.public:
        yield "Any key of test mode may call this." if endpoint.test_only else "Any key may call this."
    if endpoint.act is Permission.WORK:
        yield "Not if the member who made it is a viewer today."
    if endpoint.scope in LIVE_ONLY:
        yield "Test keys never have it."
    if endpoint.policy is not None:
        yield f"Counts against the rate policy `{endpoint.policy}` too, where that is set."
    if endpoint.deprecation is not None:
        yield endpoint.deprecation.words()


def describe_path_parameter(path: str, name: str, words: ApiWords) -> Json:
    """Return the parameter object of a parameter in the path.

    The segment before it names the resource that it identifies.
    """
    segments = path.split("/")
    noun, example = words.nouns.get(segments[segments.index(f"{{{name}}}") - 1], ("", None))
    found: Json = {"name": name, "in": "path", "required": True, "schema": STRING}
    if name in words.values:
        found["schema"] = {"type": "string", "enum": list(words.values[name])}
        example = words.values[name][0]
    if name in words.parameters:
        found["description"] = words.parameters[name].format(noun=noun)
    if example is not None:
        found["example"] = example
    return found


def describe_delivery(name: str, model: type[BaseModel], schemas: Schemas, words: ApiWords) -> Json:
    """Return the path item of an event as a webhook receives it."""
    content = schemas.describe_content(model, "serialization")["application/json"]
    if (example := words.event_examples.get(name)) is not None:
        content = {"schema": content["schema"], "example": example}
    return {
        "operationId": "on" + "".join(part.capitalize() for part in name.replace("_", ".").split(".")),
        "summary": words.events.get(name, f"Sent for {name}."),
        "description": "Posted until it is taken, ten times within about three days, with the same bytes each time.",
        "security": [],
        "parameters": list(SIGNED),
        "requestBody": {"required": True, "content": {"application/json": content}},
        "responses": {
            "2XX": {"description": "Taken, within 15 seconds. Any other answer is tried again."},
            "410": {"description": "Nobody listens here any more: the webhook is switched off at once."},
        },
    }
