"""Responses to requests that fail: a page in the reader's language for a browser, JSON for a program."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from esign.core.errors import Problem
from esign.core.language import LANGUAGES, find_accepted
from esign.web.http import errors
from esign.web.pages import Pages
from esign.web.signing.words import WordLibrary

KINDS: Mapping[int, str] = {404: "missing", 429: "busy", 500: "broken", 503: "away"}


@dataclass(frozen=True, slots=True)
class ErrorPages:
    """Makes the response for a problem. A program that asks below /api always gets JSON."""

    pages: Pages
    library: WordLibrary

    @classmethod
    @cache
    def load(cls) -> "ErrorPages":
        """Load the templates and the sentences, once per process."""
        return cls(Pages.load(), WordLibrary.load())

    def __call__(self, scope: Scope, problem: Problem) -> Response:
        """Return the error page, or the JSON error if the client is not a browser."""
        if not is_reader(scope):
            return errors.respond_as_json(scope, problem)
        request, kind = Request(scope), KINDS.get(problem.status, "wrong")
        words = self.library.choose(
            request.query_params.get("lang"), find_accepted(request.headers.get("accept-language"))
        )
        wait = words.count("minutes_only", ceil((problem.retry_after or 1) / 60))
        shown = {
            "state": "error",
            "kind": kind,
            "t": words,
            "languages": LANGUAGES,
            "brand": ("#2546d8", "#ffffff"),
            "wait": wait,
            "number": errors.get_request_id(request) if kind == "broken" else None,
        }
        answer = self.pages.page("signing/fault.html", shown)
        answer.status_code = problem.status
        answer.headers.update(dict(errors.list_headers(problem)))
        return answer


def is_reader(scope: Scope) -> bool:
    """Return whether a browser asks for a page: it accepts HTML, and the path is not below /api."""
    path = scope["path"]
    if path == "/api" or path.startswith("/api/"):
        return False
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])
