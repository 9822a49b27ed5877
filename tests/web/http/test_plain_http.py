"""Port 80 beside https: it proves, redirects, and takes nothing that should have been protected."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.types import Receive, Scope, Send

from esign.system.clock import SystemClock
from esign.web.http.plain_http import PlainHttp, is_challenge
from esign.web.http.request_guard import Guard
from esign.web.http.server import run_server
from tests.web.wire import Seen, ask

BASE = "https://sign.example.com"


async def answer_probe(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"probe"})


@asynccontextmanager
async def serving(obstacle: str | None = None) -> AsyncIterator[int]:
    app = PlainHttp({"abc": b"abc.key"}, answer_probe, lambda: BASE, lambda: obstacle)
    guard = Guard(
        app,
        is_own_host=lambda host, path: host == "sign.example.com" or is_challenge(path),
        clock=SystemClock(),
    )
    async with run_server(guard, "127.0.0.1", 0) as server:
        yield server.port


async def get(port: int, method: str, path: str, *headers: str, host: str = "sign.example.com") -> Seen:
    return await ask(port, method, path, None, *headers, host=host)


@pytest.mark.parametrize("path", ["/", "/s/token?a=1&b=%20", "/api/v1/documents", "/healthz/more", "/%2e%41"])
async def test_reading_leads_to_the_same_place_by_https(path: str) -> None:
    async with serving() as port:
        seen = await get(port, "GET", path)
        assert (seen.status, seen.headers["location"]) == (308, f"{BASE}{path}")


async def test_a_proof_is_given_to_whoever_asks_by_any_name() -> None:
    async with serving() as port:
        seen = await get(port, "GET", "/.well-known/acme-challenge/abc", host="elsewhere.example")
        assert (seen.status, seen.body) == (200, b"abc.key")
        assert (await get(port, "GET", "/.well-known/acme-challenge/other")).status == 404


async def test_no_other_name_is_redirected() -> None:
    async with serving() as port:
        assert (await get(port, "GET", "/", host="elsewhere.example")).status == 400


@pytest.mark.parametrize(
    ("method", "headers"),
    [("POST", ()), ("PUT", ()), ("GET", ("Authorization: Bearer esk_live_1",))],
)
async def test_what_should_have_been_protected_is_refused(method: str, headers: tuple[str, ...]) -> None:
    async with serving() as port:
        seen = await get(port, method, "/api/v1/documents", *headers)
        assert (seen.status, seen.code) == (400, "invalid_request")
        assert "https" in seen.json["error"]["message"]


@pytest.mark.parametrize("obstacle", ["", "Open port 80."])
async def test_without_a_certificate_the_reason_is_told_instead_of_a_redirect(obstacle: str) -> None:
    async with serving(obstacle) as port:
        seen = await get(port, "GET", "/")
        assert seen.status == 503 and seen.headers["retry-after"] == "60"
        assert (
            seen.body.decode() == f"This server has no certificate for https yet. {obstacle}".strip() + "\n"
        )
        assert (await get(port, "GET", "/.well-known/acme-challenge/abc")).status == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_the_probes_answer_here_too(path: str) -> None:
    async with serving() as port:
        assert (await get(port, "GET", path)).body == b"probe"
