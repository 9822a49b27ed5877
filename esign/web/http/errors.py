"""The one place where a failure becomes an answer (contract 6)."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from esign.core.errors import Problem
from esign.store.engine.failures import is_storage
from esign.web.http.answer import JSON, Answer, pairs
from esign.web.http.security import API_HEADERS

log = logging.getLogger("esign.web")

CHALLENGE = 'Bearer realm="api"'
FORMS = {
    "missing_api_key": CHALLENGE,
    "insufficient_scope": f'{CHALLENGE}, error="insufficient_scope"',  # RFC 6750 section 3.1
}  # every other 401 says what is wrong with the key


def answer(problem: Problem, request_id: str) -> Answer:
    """The body of contract 6, and the headers that belong to its status."""
    error: dict[str, Any] = {"code": problem.code, "message": problem.message, "requestId": request_id}
    if problem.details:
        error["details"] = [{"path": d.path, "message": d.message, "rule": d.rule} for d in problem.details]
    if problem.current_status is not None:
        error["currentStatus"] = problem.current_status
    return Answer(problem.status, orjson.dumps({"error": error}), pairs(headers(problem)))


def headers(problem: Problem) -> Iterator[tuple[str, str]]:
    if problem.status == 401 and "WWW-Authenticate" not in problem.headers:
        yield "WWW-Authenticate", FORMS.get(problem.code, f'{CHALLENGE}, error="invalid_token"')
    if problem.retry_after is not None:
        yield "Retry-After", str(max(1, problem.retry_after))
    yield from problem.headers.items()


def unexpected(error: Exception, request_id: str) -> Answer:
    """What nobody foresaw: the log gets the cause, the caller only the request id."""
    log_unexpected(error, request_id)
    return answer(Problem("internal_error"), request_id)


def log_unexpected(error: Exception, request_id: str) -> None:
    """Log what the disk or the database refused in a sentence, and what nobody foresaw with its traceback."""
    if is_storage(error):
        log.error(
            "request %s failed: %s; check the disk and, with esign check, the database", request_id, error
        )
    else:
        log.error("request %s failed", request_id, exc_info=error)


def as_json(scope: Scope, problem: Problem) -> Response:
    """The same for those who answer with a Starlette response."""
    made = answer(problem, str(scope.get("esign.request_id", "")))
    shown = Response(made.body, made.status)
    shown.raw_headers = [JSON, *(h for h in shown.raw_headers if h[0] == b"content-length")]
    shown.raw_headers += [*API_HEADERS, *made.headers]
    return shown


def handlers(refuse: Callable[[Scope, Problem], Response] = as_json) -> dict[Any, Any]:
    """`exception_handlers` of the Starlette application that holds the pages."""

    def refused(request: Request, error: Problem) -> Response:
        request.scope["esign.problem"] = error
        return refuse(request.scope, error)

    def unrouted(request: Request, error: HTTPException) -> Response:
        """An unknown path or method is `not_found`, with the methods that the path does know (contract 3.1)."""
        code = "not_found" if error.status_code in (404, 405) else "invalid_request"
        allow = (error.headers or {}).get("Allow")
        return refuse(request.scope, Problem(code, headers={"Allow": allow} if allow else None))

    def failed(request: Request, error: Exception) -> Response:
        """The error goes on to the guard, which writes it down."""
        return refuse(request.scope, Problem("internal_error"))

    return {Problem: refused, HTTPException: unrouted, Exception: failed}


def request_id(request: Request) -> str:
    """The id that the guard gave to this request."""
    return str(request.scope.get("esign.request_id", ""))
