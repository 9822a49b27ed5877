"""The only place that turns a failure into an answer (contract 6)."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from esign.core.errors import Problem
from esign.core.sentence import say
from esign.store.engine.failures import is_storage
from esign.web.http.answer import JSON, ApiAnswer, encode_headers
from esign.web.http.security import API_HEADERS

log = logging.getLogger("esign.web")

METHOD_NOT_ALLOWED = 405
CHALLENGE = 'Bearer realm="api"'
FORMS = {
    "missing_api_key": CHALLENGE,
    "insufficient_scope": f'{CHALLENGE}, error="insufficient_scope"',  # RFC 6750 section 3.1
}  # every other 401 is about a key that is not valid


def make_method_problem(method: str, allow: str) -> Problem:
    """Return the problem of a method that an address does not take. `allow` lists those that it takes."""
    methods = ", ".join(sorted(allow.split(", ")))
    told = say("This address does not take {method}. It takes: {methods}.", method=method, methods=methods)
    return Problem("not_found", told, headers={"Allow": allow})


def build_answer(problem: Problem, request_id: str) -> ApiAnswer:
    """Return the answer for a problem: the body of contract 6 and the headers of its status."""
    error: dict[str, object] = {"code": problem.code, "message": problem.message, "requestId": request_id}
    if problem.details:
        error["details"] = [{"path": d.path, "message": d.message, "rule": d.rule} for d in problem.details]
    if problem.current_status is not None:
        error["currentStatus"] = problem.current_status
    return ApiAnswer(problem.status, orjson.dumps({"error": error}), encode_headers(list_headers(problem)))


def list_headers(problem: Problem) -> Iterator[tuple[str, str]]:
    """Yield the headers of a problem: `WWW-Authenticate` with a 401, `Retry-After`, and its own."""
    if problem.status == 401 and "WWW-Authenticate" not in problem.headers:
        yield "WWW-Authenticate", FORMS.get(problem.code, f'{CHALLENGE}, error="invalid_token"')
    if problem.retry_after is not None:
        yield "Retry-After", str(max(1, problem.retry_after))
    yield from problem.headers.items()


def answer_unexpected(error: Exception, request_id: str) -> ApiAnswer:
    """Log an unexpected error and return `internal_error`, which tells the client the request id only."""
    log_unexpected(error, request_id)
    return build_answer(Problem("internal_error"), request_id)


def log_unexpected(error: Exception, request_id: str) -> None:
    """Log an unexpected error.

    A failure of the disk or the database is logged in one sentence, any other error with its traceback.
    """
    if is_storage(error):
        log.error(
            "request %s failed: %s; check the disk and, with esign doctor, the database", request_id, error
        )
    else:
        log.error("request %s failed", request_id, exc_info=error)


def respond_as_json(scope: Scope, problem: Problem) -> Response:
    """Return the answer for a problem as a Starlette response."""
    made = build_answer(problem, str(scope.get("esign.request_id", "")))
    response = Response(made.body, made.status)
    response.raw_headers = [JSON, *(h for h in response.raw_headers if h[0] == b"content-length")]
    response.raw_headers += [*API_HEADERS, *made.headers]
    return response


def make_exception_handlers(
    refuse: Callable[[Scope, Problem], Response] = respond_as_json,
) -> dict[object, Any]:
    """Return the `exception_handlers` of the Starlette application that serves the pages.

    `refuse` makes the response to a problem.
    """

    def answer_problem(request: Request, error: Problem) -> Response:
        """Return the response to a problem that an endpoint raised, and store the problem in the scope."""
        request.scope["esign.problem"] = error
        return refuse(request.scope, error)

    def answer_http_exception(request: Request, error: HTTPException) -> Response:
        """Answer an unknown path with `not_found`, and an unknown method with 405 and those of the path."""
        allow = (error.headers or {}).get("Allow")
        if error.status_code == METHOD_NOT_ALLOWED and allow:
            problem = make_method_problem(request.method, allow)
            problem.status = METHOD_NOT_ALLOWED  # of pages; for the API, contract 3.1 says 404
            return refuse(request.scope, problem)
        return refuse(request.scope, Problem("not_found" if error.status_code == 404 else "invalid_request"))

    def answer_exception(request: Request, error: Exception) -> Response:
        """Return the 500 page. Starlette raises the error again afterwards, and the guard logs it."""
        return refuse(request.scope, Problem("internal_error"))

    return {Problem: answer_problem, HTTPException: answer_http_exception, Exception: answer_exception}


def get_request_id(request: Request) -> str:
    """Return the id that the guard gave to this request."""
    return str(request.scope.get("esign.request_id", ""))
