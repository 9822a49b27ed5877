"""Every answer that an operation may give: its headers, its error codes, and an example of each."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from esign.core.errors import CATALOGUE
from esign.web.http.answer import NOT_MODIFIED
from esign.web.http.validation import RULES
from esign.web.rest.endpoint import ApiRoute
from esign.web.rest.openapi.schemas import REF, Json, Schemas

EXAMPLE_ID = "req_01kzt0v8q3e5m7p9r1s3t5v7w9"
MEANING = {
    200: "Done.",
    201: "Created.",
    304: "It is still as the `ETag` in `If-None-Match` names it.",
    400: "The request can never work like this.",
    401: "The API key is missing, not valid, or lacks something.",
    404: "Unknown path, method or id; also what belongs to another organisation or mode.",
    409: "The present state forbids it.",
    429: "Too many requests, or too much; `Retry-After` says when to come back.",
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
DETAILS = {
    "document_not_ready": ("/recipients", "At least one signer is needed.", "required"),
    "field_out_of_bounds": ("/recipients/0/fields/0/page", "The document has 3 pages.", "range"),
}
INTEGER, STRING = {"type": "integer"}, {"type": "string"}


def make_header(description: str, schema: Json, example: object) -> Json:
    """Return a header object."""
    return {"description": description, "required": True, "schema": schema, "example": example}


HEADERS: dict[str, Json] = {
    "X-Request-Id": make_header("Names this request in support and logs.", STRING, EXAMPLE_ID),
    "RateLimit-Policy": make_header(
        "Every policy that applies: quota and window.", STRING, '"default";q=600;w=60'
    ),
    "RateLimit": make_header(
        "The tightest policy: what is left, seconds to its reset.", STRING, '"default";r=599;t=42'
    ),
    "X-RateLimit-Limit": make_header("Quota of the tightest policy.", INTEGER, 600),
    "X-RateLimit-Remaining": make_header("What is left of it.", INTEGER, 599),
    "X-RateLimit-Reset": make_header("Unix time of its reset.", INTEGER, 1_795_219_260),
    "Retry-After": make_header("Seconds to wait.", INTEGER, 42),
    "WWW-Authenticate": make_header(
        "What is wrong with the key (RFC 6750).", STRING, 'Bearer realm="api", error="invalid_token"'
    ),
    "Location": make_header(
        "Where the new resource is.", STRING, "/api/v1/documents/doc_01kzt0v8q3e5m7p9r1s3t5v7w9"
    ),
    "ETag": make_header("The revision, for If-Match and If-None-Match.", STRING, '"3"'),
    "Idempotent-Replayed": make_header("`true` on an answer that was remembered.", STRING, "true"),
    "Content-Disposition": make_header(
        "The name to save the file under (RFC 6266).", STRING, 'attachment; filename="contract.pdf"'
    ),
    "Repr-Digest": make_header(
        "SHA-256 of the file (RFC 9530).", STRING, "sha-256=:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=:"
    ),
}
MAYBE = "-maybe"
ALL_HEADERS = HEADERS | {f"{name}{MAYBE}": {**sent, "required": False} for name, sent in HEADERS.items()}
RATES = tuple(name for name in HEADERS if "RateLimit" in name)
ONLY_FILES = ("Content-Disposition", "Repr-Digest")
# By status: the headers that are always sent, and those that depend on the case.
SENT: Mapping[int, tuple[tuple[str, ...], tuple[str, ...]]] = {
    400: ((), RATES),
    401: (("WWW-Authenticate",), RATES),
    404: (RATES, ()),
    409: (RATES, ()),
    429: (("Retry-After",), RATES),
    500: ((), RATES),
    503: ((), ("Retry-After", *RATES)),
}
# The schemas of an error: `Error` is the body of every refusal and every failure.
ERRORS: Json = {
    "Error": {
        "type": "object",
        "title": "Error",
        "description": "Every refusal and every failure has this body.",
        "required": ["error"],
        "properties": {
            "error": {"$ref": REF.format(model="ErrorBody"), "description": "What was refused, and why."}
        },
    },
    "ErrorBody": {
        "type": "object",
        "title": "ErrorBody",
        "required": ["code", "message", "requestId"],
        "properties": {
            "code": {"type": "string", "description": "For programs; never changes its meaning."},
            "message": {"type": "string", "description": "For people; may change."},
            "requestId": {"type": "string", "description": "As in `X-Request-Id`."},
            "details": {
                "type": "array",
                "description": "Every problem found, where there are places to name.",
                "maxItems": 100,
                "items": {"$ref": REF.format(model="ErrorDetail")},
            },
            "currentStatus": {"type": "string", "description": "The state that forbids it."},
        },
    },
    "ErrorDetail": {
        "type": "object",
        "title": "ErrorDetail",
        "required": ["path", "message", "rule"],
        "properties": {
            "path": {"type": "string", "description": "JSON Pointer into the body, or ?name of a parameter."},
            "message": {"type": "string", "description": "For people; may change."},
            "rule": {"type": "string", "description": "What was broken, for programs.", "enum": list(RULES)},
        },
    },
}


def describe_success(route: ApiRoute, schemas: Schemas) -> Json:
    """Return the response object of the successful answer."""
    endpoint = route.endpoint
    content = {} if route.reply is None else schemas.describe_content(route.reply, "serialization")
    optional: tuple[str, ...] = ()
    if endpoint.media == "application/json":
        content[endpoint.media] = {"schema": {"type": "object"}}
    elif endpoint.media is not None:
        content[endpoint.media] = {"schema": {"type": "string", "format": "binary"}}
        optional += ONLY_FILES
    names = [] if endpoint.public else list(RATES)
    names += ["Location"] if endpoint.location is not None else []
    names += ["ETag"] if has_etag(route) else []
    optional += ("Idempotent-Replayed",) if endpoint.idempotent else ()
    return {
        "description": MEANING[endpoint.success],
        "headers": refer_to_headers(names, optional),
        "content": content,
    }


def has_etag(route: ApiRoute) -> bool:
    """Return whether the successful answer has an ETag."""
    return route.reply is not None and "revision" in route.reply.model_fields


def describe_not_modified(route: ApiRoute) -> Iterator[tuple[str, Json]]:
    """Yield the status 304 with its response object, if the operation may answer it."""
    if route.endpoint.method == "GET" and has_etag(route):
        headers = refer_to_headers((*RATES, "ETag"), ())
        yield str(NOT_MODIFIED), {"description": MEANING[NOT_MODIFIED], "headers": headers}


def describe_failures(route: ApiRoute) -> Iterator[tuple[str, Json]]:
    """Yield each status of a failure with its response object, which has an example for each code."""
    ranked = sorted(list_codes(route), key=lambda code: CATALOGUE[code][0])
    for status, group in groupby(ranked, key=lambda code: CATALOGUE[code][0]):
        found = list(group)
        always, sometimes = SENT[status]
        if "idempotency_in_progress" in found:
            sometimes = (*sometimes, "Retry-After")
        if route.endpoint.public:
            always, sometimes = (), tuple(name for name in sometimes if name not in RATES)
        content: Json = {
            "schema": {"$ref": REF.format(model="Error")},
            "examples": {
                code: {"summary": CATALOGUE[code][1], "value": build_example(code, route)} for code in found
            },
        }
        yield (
            str(status),
            {
                "description": describe_status(status, found),
                "headers": refer_to_headers(always, sometimes),
                "content": {"application/json": content},
            },
        )


def describe_status(status: int, found: Iterable[str]) -> str:
    """Return the description of a status, with each code that it may have."""
    return "\n".join([MEANING[status], "", *(f"- `{code}`: {CATALOGUE[code][1]}" for code in found)])


def list_codes(route: ApiRoute) -> list[str]:
    """Return every code of contract 6 that this endpoint may answer, each once."""
    endpoint = route.endpoint
    found = ["invalid_request"]
    if not endpoint.public:
        found += ["missing_api_key", "invalid_api_key", "api_key_revoked", "api_key_expired", "plan_required"]
        found += ["not_found", "rate_limited", "too_many_auth_failures"]
    if endpoint.scope is not None or (endpoint.act is not None and not endpoint.public):
        found += ["insufficient_scope"]
    if endpoint.method != "GET":
        found += ["invalid_json", "unsupported_media_type", "request_too_large"]
    if endpoint.idempotent:
        found += ["invalid_idempotency_key", "idempotency_key_reused", "idempotency_in_progress"]
    if endpoint.if_match:
        found += ["revision_mismatch"]
    return list(dict.fromkeys([*found, *endpoint.errors, "internal_error", "unavailable"]))


def build_example(code: str, route: ApiRoute) -> Json:
    """Return an example of an error answer."""
    error: Json = {"code": code, "message": CATALOGUE[code][1], "requestId": EXAMPLE_ID}
    if code == "invalid_request":
        path = name_unknown_member(route)
        part = "parameter" if path.startswith("?") else "member"
        error["details"] = [{"path": path, "message": f"There is no such {part}.", "rule": "unknown_member"}]
    if code in DETAILS:
        error["details"] = [dict(zip(("path", "message", "rule"), DETAILS[code], strict=True))]
    if code in STATE:
        error["currentStatus"] = STATE[code]
    return {"error": error}


def name_unknown_member(route: ApiRoute) -> str:
    """Return a member or a parameter that the endpoint does not have, for the example of `invalid_request`."""
    return "?colour" if route.endpoint.method == "GET" else "/colour"


def refer_to_headers(always: Iterable[str], sometimes: Iterable[str]) -> Json:
    """Return references to header objects. Those that are not always sent are referred to as optional."""
    found: Json = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *always)}
    return found | {name: {"$ref": f"#/components/headers/{name}{MAYBE}"} for name in sometimes}
