import json
import logging
import re
from ipaddress import ip_network

import pytest

from esign.config import Config
from esign.system.entropy import make_id
from esign.web.http.origin import Proxies
from esign.web.http.request_guard import Guard, RequestIds, mask_path
from tests.web.wire import Wire, request
from tests.web.world import START, World

pytestmark = pytest.mark.asyncio(loop_scope="module")

THING = "/api/v1/things/thg_1"
V1_THINGS = "/api/v1/things"


async def raw(world: World, *lines: str) -> int:
    """The status of a request made of these lines, with a key."""
    wire = await Wire.open(world.port)
    await wire.write("\r\n".join((*lines, f"Authorization: Bearer {world.key}", "", "")).encode("latin-1"))
    seen = await wire.read()
    await wire.close()
    if seen.status == 400:
        assert seen.code == "invalid_request"
        assert seen.json["error"]["requestId"] == seen.headers["x-request-id"]
        assert seen.headers["cache-control"] == "no-store"
    return seen.status


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8080",
        "127.0.0.1:1",
        "[::1]",
        "[::1]:80",
        "sign.example.com",
        "Sign.Example.com:443",
    ],
)
async def test_the_own_names_are_answered(world: World, host: str) -> None:
    assert await raw(world, f"GET {THING} HTTP/1.1", f"Host: {host}") == 200


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        ["Host: localhost", "Host: localhost"],
        ["Host: localhost", "Host: evil.example"],
        ["Host: evil.example"],
        ["Host: localhost.evil.example"],
        ["Host: evil.example:80@localhost"],
        ["Host: "],
        ["Host: localhost, localhost"],
        ["Host: localhost:"],
        ["Host: localhost."],
    ],
)
async def test_any_other_host_is_refused(world: World, hosts: list[str]) -> None:
    assert await raw(world, f"GET {THING} HTTP/1.1", *hosts) == 400


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ([f"X-{n}: 1" for n in range(62)], 200),
        ([f"X-{n}: 1" for n in range(63)], 400),
        (["X: " + "a" * 8192], 200),
        (["X: " + "a" * 8193], 400),
        ([f"X-{n}: " + "a" * 8000 for n in range(5)], 400),
        (["X: " + "a" * 66_000], 400),
        ([f"X-{n}: 1" for n in range(5000)], 400),
    ],
)
async def test_the_head_of_a_request_has_its_limits(world: World, lines: list[str], status: int) -> None:
    assert await raw(world, f"GET {THING} HTTP/1.1", "Host: localhost", *lines) == status


async def test_a_head_without_end_is_refused_while_it_comes(world: World) -> None:
    wire = await Wire.open(world.port)
    await wire.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 300_000)
    seen = await wire.read()
    assert (seen.status, seen.code) == (400, "invalid_request")
    assert await wire.read_to_end() == b""
    await wire.close()


@pytest.mark.parametrize(
    "target",
    [
        "//api/v1/things",
        "/api//v1/things",
        "/api/v1/../v1/things",
        "/api/v1/./things",
        "/api/v1/things/..",
        "/api/v1/%2e%2E/things",
        "/api/v1/things/a%00b",
        "/api/v1/things/thg_1?x=a%00b",
        "/api/v1/things/%zz",
        "/api/v1/things/\\",
        "http://localhost/api/v1/things",
        "*",
        "/" + "a" * 8192,
        "/?" + "a" * 8192,
    ],
)
async def test_a_target_that_is_not_plain_is_refused(world: World, target: str) -> None:
    assert await raw(world, f"GET {target} HTTP/1.1", "Host: localhost") == 400


async def test_names_that_begin_with_a_dot_are_plain(world: World) -> None:
    assert await raw(world, "GET /api/v1/.well-known HTTP/1.1", "Host: localhost") == 404


async def test_request_ids_are_of_the_form_of_all_ids_and_never_repeat() -> None:
    names = RequestIds(START)
    made = [names.next(START + n // 2000) for n in range(4000)]
    assert len(set(made)) == 4000
    assert all(re.fullmatch("req_[0-9a-hjkmnp-tv-z]{26}", name) for name in made)
    assert made[0][:14] == make_id("req", START)[:14]


async def test_every_request_gets_an_id_of_its_own(world: World) -> None:
    first, second = [await world.ask("GET", THING, None, "X-Request-Id: req_mine") for _ in range(2)]
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert "mine" not in first.headers["x-request-id"]


async def test_a_client_that_waits_to_be_asked_is_answered_and_let_go(world: World) -> None:
    wire = await Wire.open(world.port)
    await wire.write(request("POST", THING, None, "Expect: 100-continue", "Content-Length: 100"))
    seen = await wire.read()
    assert (seen.status, seen.headers["connection"]) == (401, "close")
    assert await wire.read_to_end() == b""
    await wire.close()


async def test_one_line_of_json_tells_of_each_request_and_of_no_secret(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "esign.access")
    seen = await world.ask("GET", THING)
    token = "Q" * 43
    await world.ask("GET", f"/api/v1/{token}?key={world.key}")
    line, other = [json.loads(record.message) for record in caplog.records if record.name == "esign.access"]
    assert line == {
        "at": "2026-11-21T00:00:00.000Z",
        "event": "request",
        "requestId": seen.headers["x-request-id"],
        "method": "GET",
        "path": "/api/v1/things/{id}",
        "status": 200,
        "ms": 0.0,
        "ip": "127.0.0.1",
        "keyId": line["keyId"],
    }
    assert other["path"] == "/api/v1/***" and other["status"] == 404
    assert token not in caplog.text and world.key not in caplog.text


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/s/abc/complete", "/s/***/complete"),
        ("/s/abc", "/s/***"),
        ("/download/" + "a" * 43, "/download/***"),
        ("/api/v1/documents/doc_01kzt0v8q3e5m7p9r1s3t5v7w9/send", "/api/v1/documents/***/send"),
        ("/set-up/abc", "/set-up/***"),
        ("/invitation/abc", "/invitation/***"),
        ("/password/abc", "/password/***"),
        ("/healthz", "/healthz"),
    ],
)
async def test_tokens_and_ids_are_masked(path: str, shown: str) -> None:
    assert mask_path(path) == shown


async def test_a_trusted_proxy_says_who_asks(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "esign.access")
    forwarded = "X-Forwarded-For: 9.9.9.9, 192.0.2.7"
    await world.ask("GET", THING, None, forwarded)
    proxies = Proxies([ip_network("127.0.0.1")])
    world.app = Guard(world.api, clock=world.tools.clock, proxies=proxies)
    await world.ask("GET", THING, None, forwarded)
    lines = [json.loads(record.message) for record in caplog.records if record.name == "esign.access"]
    assert [line["ip"] for line in lines] == ["127.0.0.1", "192.0.2.7"]


async def test_a_spoofed_address_does_not_beat_the_throttle(world: World) -> None:
    world.serves(Config.model_validate({"limits": {"auth_failures_per_minute": 2}}))
    key = "esk_live_" + "0" * 30 + "29ZqNo"
    seen = [await world.ask("GET", THING, None, f"X-Forwarded-For: 1.2.3.{n}", key=key) for n in range(3)]
    assert [one.status for one in seen] == [401, 401, 429]


async def test_two_media_types_are_refused_whatever_they_are(world: World) -> None:
    for first, second in (
        ("application/json", "application/json"),
        ("application/json", "text/plain"),
        ("text/plain", "application/json"),
    ):
        lines = (f"POST {V1_THINGS} HTTP/1.1", "Host: localhost", "Content-Length: 2")
        assert await raw(world, *lines, f"Content-Type: {first}", f"content-type: {second}") == 400
    assert await raw(world, f"GET {THING} HTTP/1.1", "Host: localhost", "Content-Type: a/b") == 200
