import asyncio
import json
from collections.abc import Callable

import pytest

from esign.config import Config
from esign.core.actor import Mode
from esign.core.people.api_key import Scope
from esign.web.http.ratelimit import SlowUpload, Uploads
from tests.web.wire import Wire, request
from tests.web.world import START, World

pytestmark = pytest.mark.asyncio(loop_scope="module")

THINGS = "/api/v1/things"


async def test_a_valid_request_is_answered_with_every_promised_header(world: World) -> None:
    seen = await world.ask("GET", f"{THINGS}/thg_1")
    assert seen.status == 200
    assert seen.json == {"id": "thg_1", "title": "of ci", "revision": 3, "madeAt": "2026-11-21T00:00:00.000Z"}
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["cache-control"] == "no-store"
    assert seen.headers["x-content-type-options"] == "nosniff"
    assert seen.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert seen.headers["etag"] == '"3"'
    assert seen.headers["x-request-id"].startswith("req_")
    assert seen.headers["ratelimit-policy"] == '"default";q=600;w=60'
    assert seen.headers["ratelimit"] == '"default";r=599;t=60'
    assert seen.headers["x-ratelimit-limit"] == "600"
    assert seen.headers["x-ratelimit-remaining"] == "599"
    assert seen.headers["x-ratelimit-reset"] == str(START // 1000 + 60)
    assert "server" not in seen.headers
    assert not [name for name in seen.headers if name.startswith("access-control")]


async def test_head_answers_as_get_without_the_body(world: World) -> None:
    get = await world.ask("GET", f"{THINGS}/thg_1")
    head = await world.ask("HEAD", f"{THINGS}/thg_1")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(get.body))


@pytest.mark.parametrize("path", ["/api/v1/nothing", f"{THINGS}/", "/api/v1", "/api/v1/%74hings"])
async def test_an_unknown_path_is_not_found_and_never_redirected(world: World, path: str) -> None:
    seen = await world.ask("GET", path)
    assert (seen.status, seen.code) == (404, "not_found")
    assert seen.json["error"]["requestId"] == seen.headers["x-request-id"]
    assert "allow" not in seen.headers
    assert "ratelimit" in seen.headers


@pytest.mark.parametrize("method", ["PATCH", "DELETE", "PUT", "OPTIONS", "BREW"])
async def test_an_unknown_method_is_not_found_with_those_that_exist(world: World, method: str) -> None:
    seen = await world.ask(method, THINGS)
    assert (seen.status, seen.code, seen.headers["allow"]) == (404, "not_found", "GET, HEAD, POST")


async def test_checks_come_in_the_order_of_the_contract(world: World) -> None:
    reader = await world.add_key(scopes=(Scope.DOCUMENTS_READ,))
    bad = b"{"
    assert (await world.ask("POST", "/api/v1/nothing", bad, key=None)).code == "missing_api_key"
    assert (await world.ask("PUT", THINGS, bad, key=None)).code == "missing_api_key"
    assert (await world.ask("POST", "/api/v1/nothing", bad, key=reader)).code == "not_found"
    assert (await world.ask("POST", THINGS, bad, key=reader)).code == "insufficient_scope"
    text = await world.ask("POST", THINGS, bad, "Content-Type: text/plain", "Idempotency-Key: a b")
    assert text.code == "unsupported_media_type"
    assert (await world.ask("POST", THINGS, bad, "Idempotency-Key: a b")).code == "invalid_json"
    assert (await world.ask("POST", THINGS, {}, "Idempotency-Key: a b")).code == "invalid_request"
    named = await world.ask("POST", THINGS, {"title": "a"}, "Idempotency-Key: a b")
    assert named.code == "invalid_idempotency_key"
    assert (
        await world.ask("POST", f"{THINGS}/thg_1/send", None, 'If-Match: "2"')
    ).code == "revision_mismatch"


async def test_all_problems_of_a_body_are_named_at_once(world: World) -> None:
    body = {
        "title": "",
        "owner": "a@b",
        "kind": "oval",
        "colour": 1,
        "parts": [{"size": "1"}, {"size": 101}, {"exact": 1}, 7],
    }
    seen = await world.ask("POST", THINGS, body)
    assert (seen.status, seen.code) == (400, "invalid_request")
    assert seen.places == {
        ("/title", "length"),
        ("/owner", "format"),
        ("/kind", "enum"),
        ("/colour", "unknown_member"),
        ("/parts/0/size", "type"),
        ("/parts/1/size", "range"),
        ("/parts/2/exact", "type"),
        ("/parts/3", "type"),
    }


async def test_a_request_without_a_body_misses_its_required_members(world: World) -> None:
    assert (await world.ask("POST", THINGS)).places == {("/title", "required")}


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("limit=0", {("?limit", "range")}),
        ("limit=101", {("?limit", "range")}),
        ("limit=ten", {("?limit", "type")}),
        ("limit=5&limit=5", {("?limit", "duplicate")}),
        ("limt=5&x=", {("?limt", "unknown_member"), ("?x", "unknown_member")}),
    ],
)
async def test_query_parameters_are_checked_by_name(
    world: World, query: str, places: set[tuple[str, str]]
) -> None:
    assert (await world.ask("GET", f"{THINGS}?{query}")).places == places


async def test_what_is_wrong_with_a_query_speaks_of_parameters(world: World) -> None:
    [detail] = (await world.ask("GET", f"{THINGS}?colour=red")).json["error"]["details"]
    assert detail["message"] == "This parameter doesn’t exist."


async def test_an_endpoint_without_parameters_refuses_any(world: World) -> None:
    assert (await world.ask("GET", f"{THINGS}/thg_1?x=1")).places == {("?x", "unknown_member")}
    assert (await world.ask("POST", THINGS + "?x=1", {"title": "a"})).places == {("?x", "unknown_member")}


async def test_a_list_reads_its_parameters(world: World) -> None:
    assert (await world.ask("GET", f"{THINGS}?limit=7&cursor=a%20b")).json["title"] == "7 a b"


@pytest.mark.parametrize(
    "media", ["application/json", "APPLICATION/JSON;charset=UTF-8", 'application/json; charset="utf-8"']
)
async def test_json_in_utf8_is_taken_however_it_is_spelt(world: World, media: str) -> None:
    assert (await world.ask("POST", THINGS, {"title": "ä"}, f"Content-Type: {media}")).status == 201


@pytest.mark.parametrize("media", ["", "text/json", "application/json; charset=latin-1", "application/jsonp"])
async def test_any_other_media_type_is_refused(world: World, media: str) -> None:
    seen = await world.ask("POST", THINGS, {"title": "a"}, f"Content-Type: {media}")
    assert (seen.status, seen.code) == (400, "unsupported_media_type")


@pytest.mark.parametrize("body", [None, b"", b"{}", b" { } "])
async def test_where_no_body_is_taken_an_empty_one_is_fine_whatever_it_calls_itself(
    world: World, body: bytes | None
) -> None:
    for media in ("application/json", "text/plain"):
        assert (await world.ask("POST", f"{THINGS}/thg_1/send", body, f"Content-Type: {media}")).status == 200


async def test_where_no_body_is_taken_members_are_unknown(world: World) -> None:
    assert (await world.ask("POST", f"{THINGS}/thg_1/send", {"a": 1})).places == {("/a", "unknown_member")}
    assert (await world.ask("POST", f"{THINGS}/thg_1/send", b"[]")).places == {("", "type")}


async def test_the_body_of_a_get_is_ignored(world: World) -> None:
    assert (await world.ask("GET", f"{THINGS}/thg_1", b"{{{")).status == 200


@pytest.mark.parametrize(
    ("value", "status"),
    [('"3"', 200), ('"3" ', 200), ("*", 200), ("* ", 200), ('"4"', 409), ("3", 400), ('W/"3"', 400)],
)
async def test_if_match_takes_one_revision(world: World, value: str, status: int) -> None:
    assert (await world.ask("POST", f"{THINGS}/thg_1/send", None, f"If-Match: {value}")).status == status


async def test_a_created_thing_says_where_it_is(world: World) -> None:
    seen = await world.ask("POST", THINGS, {"title": "a"})
    assert seen.status == 201
    assert seen.headers["location"] == f"{THINGS}/{seen.json['id']}"


async def test_a_response_of_the_handlers_own_gets_the_headers_it_lacks(world: World) -> None:
    seen = await world.ask("GET", f"{THINGS}/thg_1/content")
    assert (seen.status, seen.body) == (200, b"%PDF-")
    assert seen.headers["content-security-policy"] == "sandbox"
    assert seen.headers["cache-control"] == "no-store"
    assert "ratelimit" in seen.headers and "x-request-id" in seen.headers


async def test_what_nobody_foresaw_is_a_500_that_tells_nothing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    seen = await world.ask("GET", "/api/v1/broken")
    assert (seen.status, seen.code) == (500, "internal_error")
    assert b"foresaw" not in seen.body
    assert seen.headers["x-request-id"] in caplog.text and "nobody foresaw this" in caplog.text


async def test_an_idempotent_endpoint_that_keeps_nothing_is_a_fault(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await world.ask("POST", f"{THINGS}/thg_1/forget", {"title": "a"})).status == 500
    assert "kept no answer" in caplog.text


async def test_the_description_needs_no_key(world: World) -> None:
    assert (await world.ask("GET", "/api/v1/openapi.json", key=None)).status == 200
    seen = await world.ask("POST", "/api/v1/openapi.json", key=None)
    assert (seen.status, seen.headers["allow"]) == (404, "GET, HEAD")


async def test_a_limit_of_a_narrower_policy_is_the_one_that_counts(world: World) -> None:
    world.serves(Config.model_validate({"limits": {"requests_per_minute": 10, "creates_per_minute": 2}}))
    first = await world.ask("POST", THINGS, {"title": "a"})
    assert first.headers["ratelimit-policy"] == '"default";q=10;w=60, "create";q=2;w=60'
    assert first.headers["ratelimit"] == '"create";r=1;t=60'
    world.tools.clock.at = 17.5
    await world.ask("POST", THINGS, {"title": "a"})
    third = await world.ask("POST", THINGS, b"{")
    assert (third.status, third.code, third.headers["retry-after"]) == (429, "rate_limited", "43")
    assert third.headers["ratelimit"] == '"create";r=0;t=43'
    assert (await world.ask("GET", f"{THINGS}/thg_1")).status == 200
    world.tools.clock.at = 60
    assert (await world.ask("POST", THINGS, {"title": "a"})).status == 201


async def test_beyond_the_default_policy_even_an_unknown_path_is_429(world: World) -> None:
    world.serves(Config.model_validate({"limits": {"requests_per_minute": 1}}))
    assert (await world.ask("GET", "/api/v1/nothing")).status == 404
    assert (await world.ask("GET", "/api/v1/nothing")).status == 429


async def test_a_file_may_be_large_and_anything_else_may_not(world: World) -> None:
    large = json.dumps({"file": "A" * 2**21}).encode()
    assert (await world.ask("POST", "/api/v1/files", large)).json == {"size": 2**21}
    assert (await world.ask("POST", THINGS, large)).code == "request_too_large"


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_over_the_limit_is_refused_before_it_is_read(world: World, chunked: bool) -> None:
    wire = await Wire.open(world.port)
    length = "Transfer-Encoding: chunked" if chunked else "Content-Length: 40000000"
    head = ("Content-Type: application/json", f"Authorization: Bearer {world.key}", length)
    await wire.write(request("POST", "/api/v1/files", None, *head))

    async def pour() -> None:
        piece = b"A" * 100_000
        framed = b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece
        try:
            for _ in range(400):
                await wire.write(framed)
        except ConnectionError:
            pass

    pouring = asyncio.create_task(pour())
    seen = await wire.read()
    assert (seen.status, seen.code, seen.headers["connection"]) == (400, "request_too_large", "close")
    assert await wire.read_to_end() == b""
    await pouring
    await wire.close()


async def test_a_thousand_nested_arrays_cost_nothing(world: World) -> None:
    seen = await world.ask("POST", THINGS, b"[" * 100_000 + b"]" * 100_000)
    assert (seen.status, seen.code) == (400, "invalid_json")


async def test_a_client_that_leaves_stops_no_effect(world: World) -> None:
    world.tools.gate.clear()
    body = b'{"title":"a"}'
    wire = await Wire.open(world.port)
    head = ("Content-Type: application/json", f"Authorization: Bearer {world.key}", "Idempotency-Key: left")
    await wire.write(request("POST", THINGS, body, *head))
    await world.tools.waiting.wait()
    await wire.close()
    world.tools.gate.set()
    await world.api.settle()
    seen = await world.ask("POST", THINGS, body, "Idempotency-Key: left")
    assert (seen.status, seen.headers["idempotent-replayed"]) == (201, "true")
    assert len(world.tools.made) == 1


async def test_an_effect_that_takes_long_does_not_hold_up_the_end_of_the_program(world: World) -> None:
    world.tools.gate.clear()
    asking = asyncio.create_task(world.ask("POST", THINGS, b'{"title":"a"}', "Idempotency-Key: late"))
    await world.tools.waiting.wait()
    try:
        async with asyncio.timeout(10):
            await world.api.settle(0.05)
        assert not world.tools.made
    finally:
        world.tools.gate.set()
    assert (await asking).status == 201, "it was not cancelled"


async def test_a_test_installation_knows_no_live_key(world: World) -> None:
    world.serves(Config.model_validate({"server": {"environment": "test"}}))
    assert (await world.ask("GET", f"{THINGS}/thg_1")).code == "invalid_api_key"
    test_key = await world.add_key(mode=Mode.TEST)
    assert (await world.ask("GET", f"{THINGS}/thg_1", key=test_key)).status == 200


async def test_the_second_half_of_an_answer_does_not_wait_for_the_client(world: World) -> None:
    """Head and body are two writes: held back until the first is acknowledged, each answer would take 40 ms."""
    wire = await Wire.open(world.port)
    loop = asyncio.get_running_loop()
    spent = []
    for _ in range(30):
        began = loop.time()
        await wire.write(request("GET", "/api/v1/things/thg_1", None, f"Authorization: Bearer {world.key}"))
        await wire.read()
        spent.append(loop.time() - began)
    await wire.close()
    assert sorted(spent)[15] < 0.03


SENT = json.dumps({"file": "A" * 2 * 2**20}).encode()
HELD = 2**20 + 2**17  # bytes after which a body holds a place


async def test_a_key_sends_four_large_bodies_at_once_and_all_keys_eight(world: World) -> None:
    """What waits begins as soon as another ends, or is told to come again when nobody makes room."""
    keys = [world.key, await world.add_key(), await world.add_key()]
    sending = [await begin(world, keys[n // 4], SENT[:HELD]) for n in range(8)]
    await until(lambda: world.api._uploads.taken_places == 8)
    fifth, ninth = await begin(world, keys[0], SENT), await begin(world, keys[2], SENT)
    for wire in (fifth, ninth):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wire.read(), 0.2)
    assert (await world.ask("POST", "/api/v1/files", {"file": "small"})).status == 200
    for place, waiting in ((0, fifth), (4, ninth)):
        await sending[place].write(SENT[HELD:])
        assert (await sending[place].read()).status == 200
        assert (await waiting.read()).status == 200
    for wire in (*sending, fifth, ninth):
        await wire.close()
    await until(lambda: not world.api._uploads.taken_places)


async def test_who_announces_much_and_sends_little_keeps_nobody_from_sending(world: World) -> None:
    """Eight and more that hold nothing: neither those that are silent nor those that stop before the first MiB."""
    silent = [await begin(world, world.key, b"", size=36_000_000) for _ in range(12)]
    stopped = [await begin(world, world.key, SENT[: 2**20], size=36_000_000) for _ in range(12)]
    assert not world.api._uploads.taken_places
    large = {"file": "A" * 2 * 2**20}
    assert (await world.ask("POST", "/api/v1/files", large)).status == 200
    for wire in (*silent, *stopped):
        await wire.close()


async def test_who_holds_places_and_sends_slowly_makes_room_for_others(world: World) -> None:
    """Not for the further uploads of the same key."""
    quick = SlowUpload(after=0.1, look=0.05)
    world.api._uploads = Uploads(in_all=2, slow=quick, patience=30)
    slow = [await begin(world, world.key, SENT[:HELD]) for _ in range(2)]
    await until(lambda: world.api._uploads.taken_places == 2)
    again = await begin(world, world.key, SENT)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(again.read(), 0.5)
    other = await world.add_key()
    assert (await world.ask("POST", "/api/v1/files", {"file": "A" * 2**21}, key=other)).status == 200
    told = [await asyncio.wait_for(wire.read(), 5) for wire in slow[:1]]
    assert [(seen.status, seen.code, seen.headers["connection"]) for seen in told] == [
        (429, "rate_limited", "close")
    ]
    assert (await again.read()).status == 200
    for wire in (*slow, again):
        await wire.close()


async def test_an_organisation_leaves_places_to_others(world: World) -> None:
    world.api._uploads = Uploads(in_all=3, per_group=2, patience=0.1)
    keys = [world.key, await world.add_key(), await world.add_key()]
    held = [await begin(world, key, SENT[:HELD]) for key in keys[:2]]
    await until(lambda: world.api._uploads.taken_places == 2)
    third = await begin(world, keys[2], SENT)
    assert (await third.read()).code == "rate_limited"
    async with world.api._uploads.place("key", "another organisation") as place:
        await place.take()
    for wire in (*held, third):
        await wire.close()


async def test_who_finds_no_room_for_a_large_body_in_time_is_told_when_to_come_again(world: World) -> None:
    world.api._uploads = Uploads(patience=0.1)
    sending = [await begin(world, world.key, SENT[:HELD]) for _ in range(4)]
    await until(lambda: world.api._uploads.taken_places == 4)
    late = await begin(world, world.key, SENT)
    seen = await asyncio.wait_for(late.read(), 5)
    assert (seen.status, seen.code, seen.headers["retry-after"]) == (429, "rate_limited", "5")
    for wire in (*sending, late):
        await wire.close()
    await until(lambda: not world.api._uploads.taken_places)  # who left has left its place too
    body = {"file": "A" * 2**20}
    assert (await world.ask("POST", "/api/v1/files", body)).status == 200


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110  what is waited for sets no event
            await asyncio.sleep(0.01)


async def begin(world: World, key: str, body: bytes, size: int = len(SENT)) -> Wire:
    """The head of a large upload, and what of its body is sent for now."""
    head = ("Content-Type: application/json", f"Authorization: Bearer {key}", f"Content-Length: {size}")
    wire = await Wire.open(world.port)
    await wire.write(request("POST", "/api/v1/files", None, *head) + body)
    return wire
