"""What a person sees where a program reads the JSON of an error."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.core.errors import CATALOGUE, Problem
from esign.core.language import LANGUAGES
from esign.system.clock import SystemClock
from esign.web.error_pages import ErrorPages
from esign.web.http import errors
from esign.web.http.request_guard import Guard
from esign.web.http.server import run_server
from esign.web.pages import Pages
from esign.web.signing.words import WordLibrary
from tests.web.wire import ask

BROWSER = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
FAULTS = ErrorPages(Pages.load(), WordLibrary.load())


async def breaks(request: Request) -> Response:
    raise RuntimeError("nobody foresaw this")


async def refuses(request: Request) -> Response:
    raise Problem(request.path_params["code"], retry_after=90)


PAGES = Starlette(
    routes=[Route("/breaks", breaks), Route("/refuses/{code}", refuses)],
    exception_handlers=errors.make_exception_handlers(FAULTS),
)
PAGES.router.redirect_slashes = False


@pytest.mark.parametrize(
    ("path", "status", "title"),
    [
        ("/nothing", 404, "Page not found"),
        ("/apiary", 404, "Page not found"),
        ("/breaks", 500, "Something went wrong on our side"),
        ("/refuses/rate_limited", 429, "Please wait a moment"),
        ("/refuses/unavailable", 503, "We’re not available right now"),
        ("/refuses/document_not_completed", 409, "That didn’t work"),
        ("/a//b", 400, "That didn’t work"),
    ],
)
async def test_a_browser_gets_a_page_with_the_status_of_the_error(path: str, status: int, title: str) -> None:
    async with run_server(Guard(PAGES, clock=SystemClock(), refuse=FAULTS), "127.0.0.1", 0) as server:
        page = await ask(server.port, "GET", path, None, BROWSER)
        plain = await ask(server.port, "GET", path)
    assert (page.status, plain.status) == (status, status)
    assert f'<h1 id="title" tabindex="-1">{title}</h1>' in page.body.decode()
    assert b"foresaw" not in page.body and b"Traceback" not in page.body
    assert page.headers["cache-control"] == "no-store" and page.headers["x-frame-options"] == "DENY"
    assert page.headers.get("retry-after") == plain.headers.get("retry-after")
    assert plain.headers["content-type"] == "application/json"
    assert (page.headers["x-request-id"] in page.body.decode()) is (status == 500)


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nothing", "/api/v1/nothing"])
async def test_programs_get_json_whatever_they_accept(path: str) -> None:
    async with run_server(Guard(PAGES, clock=SystemClock(), refuse=FAULTS), "127.0.0.1", 0) as server:
        seen = await ask(server.port, "GET", path, None, BROWSER)
    assert (seen.status, seen.headers["content-type"], seen.code) == (404, "application/json", "not_found")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("status", sorted({status for status, _ in CATALOGUE.values()}))
def test_every_status_has_a_page_in_every_language(status: int, tag: str) -> None:
    code = next(code for code, (found, _) in CATALOGUE.items() if found == status)
    scope = {
        "type": "http",
        "path": "/nothing",
        "query_string": b"lang=" + tag.encode(),
        "headers": [(b"accept", b"text/html"), (b"accept-language", b"en")],
        "esign.request_id": "req_1",
    }
    answer = FAULTS(scope, Problem(code, retry_after=600))
    page = bytes(answer.body).decode()
    assert answer.status_code == status
    assert f'<html lang="{tag}" dir="{LANGUAGES[tag].direction}">' in page
    assert "{" not in page.split("<main")[1].split("</main>")[0]
