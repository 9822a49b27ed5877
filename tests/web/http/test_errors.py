import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from esign.core.errors import CATALOGUE, Detail, Problem
from esign.system.clock import SystemClock
from esign.web.http import errors
from esign.web.http.request_guard import Guard
from esign.web.http.server import run_server
from tests.web.wire import ask


async def page(request: Request) -> Response:
    return PlainTextResponse("page")


async def refuses(request: Request) -> Response:
    raise Problem("document_not_sent", current_status="draft")


async def breaks(request: Request) -> Response:
    raise RuntimeError("nobody foresaw this")


PAGES = Starlette(
    routes=[Route("/page", page), Route("/refuses", refuses), Route("/breaks", breaks)],
    exception_handlers=errors.make_exception_handlers(),
)


@pytest.mark.parametrize(
    ("method", "path", "status", "code", "allow"),
    [
        ("GET", "/nothing", 404, "not_found", None),
        ("GET", "/page/", 404, "not_found", None),
        ("POST", "/page", 405, "not_found", "GET, HEAD"),
        ("PUT", "/page", 405, "not_found", "GET, HEAD"),
        ("GET", "/refuses", 409, "document_not_sent", None),
        ("GET", "/breaks", 500, "internal_error", None),
    ],
)
async def test_pages_fail_in_the_shape_of_the_contract(
    method: str, path: str, status: int, code: str, allow: str | None
) -> None:
    PAGES.router.redirect_slashes = False
    async with run_server(Guard(PAGES, clock=SystemClock()), "127.0.0.1", 0) as server:
        seen = await ask(server.port, method, path)
    assert (seen.status, seen.code) == (status, code)
    assert seen.json["error"]["requestId"] == seen.headers["x-request-id"]
    assert seen.headers["cache-control"] == "no-store"
    assert b"foresaw" not in seen.body
    found = seen.headers.get("allow")
    if status == 405:
        assert seen.json["error"]["message"] == f"This address does not take {method}. It takes: GET, HEAD."
    assert (found and ", ".join(sorted(found.split(", ")))) == allow


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_code_has_an_answer_of_its_status(code: str) -> None:
    made = errors.build_answer(Problem(code, retry_after=0), "req_1")
    assert made.status == CATALOGUE[code][0]
    names = dict(made.headers)
    assert names[b"retry-after"] == b"1"
    assert (b"www-authenticate" in names) == (made.status == 401)


def test_details_and_state_are_told_when_there_are_any() -> None:
    plain = errors.build_answer(Problem("not_found"), "req_1").body
    assert plain == (
        b'{"error":{"code":"not_found",'
        b'"message":"Nothing was found at this address. Check the path and the id.","requestId":"req_1"}}'
    )
    full = Problem("document_not_ready", details=[Detail("/a", "A.", "required")], current_status="draft")
    assert errors.build_answer(full, "req_1").body.endswith(
        b'"details":[{"path":"/a","message":"A.","rule":"required"}],"currentStatus":"draft"}}'
    )


def test_what_the_database_cannot_read_is_logged_in_a_sentence_and_a_mistake_with_its_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "damaged.db").write_bytes(b"\xff" * 8192)
    with (
        closing(sqlite3.connect(tmp_path / "damaged.db")) as damaged,
        pytest.raises(sqlite3.DatabaseError) as refused,
    ):
        damaged.execute("SELECT 1 FROM sqlite_master")
    errors.log_unexpected(refused.value, "req_1")
    errors.log_unexpected(RuntimeError("nobody foresaw this"), "req_2")
    told, mistake = caplog.records
    assert "req_1" in told.message and "esign doctor" in told.message and not told.exc_info
    assert mistake.exc_info
