"""The description of the API (OpenAPI 3.1), made from the very table and models that answer the requests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from esign.core.errors import CATALOGUE
from esign.web.endpoint import Endpoint, Route
from esign.web.routes import parameters
from esign.web.validation import RULES

Json = dict[str, Any]

REF = "#/components/schemas/{model}"
EXAMPLE_ID = "req_01kzt0v8q3e5m7p9r1s3t5v7w9"
MEANING = {
    200: "Done.",
    201: "Created.",
    400: "The request can never work like this.",
    401: "The API key is missing, not valid, or lacks something.",
    404: "Unknown path, method or id.",
    409: "The present state forbids it.",
    429: "Too many requests; see Retry-After.",
    500: "Something went wrong here; safe to send again.",
    503: "Not available now; safe to send again.",
}
STATE = {
    "document_not_draft": "sent",
    "document_not_sent": "draft",
    "document_not_completed": "sent",
    "document_in_progress": "sent",
    "document_not_ready": "draft",
    "seal_not_failed": "completed",
}
INTEGER, STRING = {"type": "integer"}, {"type": "string"}
HEADERS: dict[str, Json] = {
    "X-Request-Id": {"description": "Names this request in support and logs.", "schema": STRING},
    "RateLimit-Policy": {"description": "Every policy that applies: quota and window.", "schema": STRING},
    "RateLimit": {
        "description": "The tightest policy: what is left, seconds to its reset.",
        "schema": STRING,
    },
    "X-RateLimit-Limit": {"description": "Quota of the tightest policy.", "schema": INTEGER},
    "X-RateLimit-Remaining": {"description": "What is left of it.", "schema": INTEGER},
    "X-RateLimit-Reset": {"description": "Unix time of its reset.", "schema": INTEGER},
    "Retry-After": {"description": "Seconds to wait.", "schema": INTEGER},
    "WWW-Authenticate": {"description": "What is wrong with the key (RFC 6750).", "schema": STRING},
    "Location": {"description": "Where the new resource is.", "schema": STRING},
    "ETag": {"description": "The revision, for If-Match.", "schema": STRING},
    "Idempotent-Replayed": {"description": "true on a stored answer.", "schema": STRING},
}
RATES = [name for name in HEADERS if "RateLimit" in name]
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
ERROR: Json = {
    "type": "object",
    "title": "Error",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "requestId"],
            "properties": {
                "code": {"type": "string", "description": "For programs; never changes its meaning."},
                "message": {"type": "string", "description": "For people; may change."},
                "requestId": STRING,
                "details": {
                    "type": "array",
                    "maxItems": 100,
                    "items": {
                        "type": "object",
                        "required": ["path", "message", "rule"],
                        "properties": {
                            "path": {
                                "type": "string",
                                "description": "JSON Pointer into the body, or ?name of a parameter.",
                            },
                            "message": STRING,
                            "rule": {"type": "string", "enum": list(RULES)},
                        },
                    },
                },
                "currentStatus": {"type": "string", "description": "The state that forbids it."},
            },
        }
    },
}


def describe(
    endpoints: Sequence[Endpoint],
    *,
    version: str,
    server: str,
    webhooks: Mapping[str, type[BaseModel]] | None = None,
) -> Json:
    """The whole document; `webhooks` holds the body of each event by its name."""
    routes = [Route(endpoint) for endpoint in endpoints]
    events = webhooks or {}
    schemas = Schemas(routes, events.values())
    paths: dict[str, Json] = {}
    for route in routes:
        operations = paths.setdefault(route.endpoint.path, {})
        operations[route.endpoint.method.lower()] = operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "esign",
            "version": version,
            "description": "Electronic signatures: documents, recipients, sealed PDFs, webhooks.",
        },
        "servers": [{"url": server}],
        "security": [{"apiKey": []}],
        "paths": paths,
        "webhooks": {name: {"post": delivery(name, model, schemas)} for name, model in events.items()},
        "components": {
            "schemas": {"Error": ERROR, **schemas.defined},
            "headers": HEADERS,
            "securitySchemes": {
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key: esk_live_… or esk_test_…",
                }
            },
        },
    }


class Schemas:
    """Every model of the table as JSON Schema, each once."""

    def __init__(self, routes: Iterable[Route], events: Iterable[type[BaseModel]]) -> None:
        used: list[tuple[type[BaseModel], Any]] = [(model, "serialization") for model in events]
        for route in routes:
            used += [(model, "validation") for model in (route.body, route.query) if model is not None]
            used += [(route.reply, "serialization")] if route.reply is not None else []
        self._places, found = models_json_schema(used, ref_template=REF)
        self.defined: dict[str, Json] = found.get("$defs", {})
        queries = {route.query for route in routes if route.query is not None}
        self._queries = {model: self.defined.pop(self._name(model, "validation")) for model in queries}

    def content(self, model: type[BaseModel], mode: Any) -> Json:
        """`application/json` of that model, with its first example."""
        content: Json = {"schema": self._places[model, mode]}
        if examples := self.defined[self._name(model, mode)].get("examples"):
            content["example"] = examples[0]
        return {"application/json": content}

    def parameters(self, model: type[BaseModel]) -> Iterator[Json]:
        schema = self._queries[model]
        for name, member in schema["properties"].items():
            yield {
                "name": name,
                "in": "query",
                "required": name in schema.get("required", ()),
                "schema": member,
                **({"description": member["description"]} if "description" in member else {}),
            }

    def _name(self, model: type[BaseModel], mode: Any) -> str:
        return str(self._places[model, mode]["$ref"]).rpartition("/")[2]


def operation(route: Route, schemas: Schemas) -> Json:
    endpoint = route.endpoint
    made: Json = {
        "operationId": ".".join(filter(None, (endpoint.tag, endpoint.handler.__name__))),
        "summary": endpoint.summary,
        "parameters": [
            *(
                {"name": n, "in": "path", "required": True, "schema": STRING}
                for n in parameters(endpoint.path)
            ),
            *(schemas.parameters(route.query) if route.query is not None else ()),
            *([IDEMPOTENCY] if endpoint.idempotent else ()),
            *([IF_MATCH] if endpoint.if_match else ()),
        ],
        "responses": {str(endpoint.success): success(route, schemas), **dict(failures(route))},
    }
    if endpoint.tag:
        made["tags"] = [endpoint.tag]
    if route.body is not None:
        required = any(field.is_required() for field in route.body.model_fields.values())
        made["requestBody"] = {"required": required, "content": schemas.content(route.body, "validation")}
    if endpoint.public:
        made["security"] = []
    elif endpoint.scope is not None:
        made["description"] = f"Needs the scope `{endpoint.scope}`."
    return made


def success(route: Route, schemas: Schemas) -> Json:
    endpoint = route.endpoint
    content = {} if route.reply is None else schemas.content(route.reply, "serialization")
    if endpoint.media is not None:
        content[endpoint.media] = {} if endpoint.media.endswith("json") else {"schema": STRING}
    names = [] if endpoint.public else list(RATES)
    names += ["Location"] if endpoint.location is not None else []
    names += ["ETag"] if route.reply is not None and "revision" in route.reply.model_fields else []
    names += ["Idempotent-Replayed"] if endpoint.idempotent else []
    return {"description": MEANING[endpoint.success], "headers": header_refs(names), "content": content}


def failures(route: Route) -> Iterator[tuple[str, Json]]:
    """One answer for each status, with an example for each code."""
    ranked = sorted(codes(route), key=lambda code: CATALOGUE[code][0])
    for status, group in groupby(ranked, key=lambda code: CATALOGUE[code][0]):
        names = {401: ["WWW-Authenticate"], 429: ["Retry-After", *RATES], 503: ["Retry-After"]}.get(
            status, []
        )
        content: Json = {
            "schema": {"$ref": REF.format(model="Error")},
            "examples": {code: {"value": example(code, route)} for code in group},
        }
        yield (
            str(status),
            {
                "description": MEANING[status],
                "headers": header_refs(names),
                "content": {"application/json": content},
            },
        )


def codes(route: Route) -> list[str]:
    """Every code of contract 6 that this endpoint may answer, each once."""
    endpoint = route.endpoint
    found = ["invalid_request"]
    if not endpoint.public:
        found += ["missing_api_key", "invalid_api_key", "api_key_revoked", "api_key_expired", "plan_required"]
        found += ["not_found", "rate_limited", "too_many_auth_failures"]
    if endpoint.scope is not None:
        found += ["insufficient_scope"]
    if route.body is not None:
        found += ["invalid_json", "unsupported_media_type", "request_too_large"]
    if endpoint.idempotent:
        found += ["invalid_idempotency_key", "idempotency_key_reused", "idempotency_in_progress"]
    if endpoint.if_match:
        found += ["revision_mismatch"]
    return list(dict.fromkeys([*found, *endpoint.errors, "internal_error", "unavailable"]))


def example(code: str, route: Route) -> Json:
    error: Json = {"code": code, "message": CATALOGUE[code][1], "requestId": EXAMPLE_ID}
    if code == "invalid_request":
        error["details"] = [
            {"path": misused(route), "message": "There is no such member.", "rule": "unknown_member"}
        ]
    if code in STATE:
        error["currentStatus"] = STATE[code]
    return {"error": error}


def misused(route: Route) -> str:
    return "?colour" if route.endpoint.method == "GET" else "/colour"


def header_refs(names: Iterable[str]) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *names)}


def delivery(name: str, model: type[BaseModel], schemas: Schemas) -> Json:
    """What a webhook receives."""
    return {
        "operationId": name,
        "summary": f"Sent for {name}.",
        "security": [],
        "requestBody": {"required": True, "content": schemas.content(model, "serialization")},
        "responses": {"2XX": {"description": "Taken; any other status is tried again."}},
    }
