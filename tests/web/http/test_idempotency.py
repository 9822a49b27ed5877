import asyncio
import json

import pytest

from esign.core.errors import Problem
from esign.core.instant import HOUR
from esign.web.http import idempotency
from tests.web.wire import Seen
from tests.web.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

THINGS = "/api/v1/things"
A, B = {"title": "a"}, {"title": "b"}


async def make(world: World, body: object, name: str, key: str = "") -> Seen:
    return await world.ask("POST", THINGS, body, f"Idempotency-Key: {name}", key=key)


async def test_the_same_request_again_gets_the_same_bytes_and_has_no_effect(world: World) -> None:
    first = await make(world, A, "one")
    again = await make(world, b'{ "title" : "\\u0061" }', '"one"')
    assert (again.status, again.body) == (201, first.body)
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["etag"] == first.headers["etag"]
    assert "idempotent-replayed" not in first.headers
    assert len(world.tools.made) == 1


async def test_another_request_under_the_same_key_is_a_conflict(world: World) -> None:
    await make(world, A, "two")
    assert (await make(world, B, "two")).code == "idempotency_key_reused"
    other = await world.ask("POST", f"{THINGS}/thg_1/send", None, "Idempotency-Key: two")
    assert (other.status, other.code) == (409, "idempotency_key_reused")


async def test_each_api_key_has_its_own(world: World) -> None:
    first = await make(world, A, "three")
    other = await make(world, A, "three", key=await world.add_key())
    assert other.status == 201 and other.body != first.body


async def test_while_the_first_runs_the_second_is_told_so(world: World) -> None:
    world.tools.gate.clear()
    first = asyncio.create_task(make(world, A, "four"))
    await world.tools.waiting.wait()
    same, other = await make(world, A, "four"), await make(world, B, "four")
    assert (same.status, same.code, same.headers["retry-after"]) == (409, "idempotency_in_progress", "1")
    assert (other.status, other.code) == (409, "idempotency_key_reused")
    loop, waits = asyncio.get_running_loop(), []
    for _ in range(21):
        asked = loop.time()
        await make(world, A, "four")
        waits.append(loop.time() - asked)
    assert sorted(waits)[10] < 0.05
    world.tools.gate.set()
    assert (await first).status == 201
    assert (await make(world, A, "four")).headers["idempotent-replayed"] == "true"


async def test_fifty_at_once_have_one_effect(world: World) -> None:
    seen = await asyncio.gather(*(make(world, A, "five") for _ in range(50)))
    assert len(world.tools.made) == 1
    assert len({one.body for one in seen if one.status == 201}) == 1
    assert {(one.status, one.code) for one in seen if one.status != 201} <= {(409, "idempotency_in_progress")}


async def test_only_a_success_is_remembered(world: World) -> None:
    assert (await make(world, {"title": ""}, "six")).status == 400
    assert (await make(world, A, "six")).status == 201


async def test_after_a_day_the_key_is_free_again(world: World) -> None:
    first = await make(world, A, "seven")
    world.tools.clock.at = 24 * HOUR / 1000
    assert (await make(world, A, "seven")).body == first.body
    world.tools.clock.at += 1
    assert (await make(world, B, "seven")).json["title"] == "b"


async def test_what_is_stored_is_not_readable(world: World) -> None:
    seen = await make(world, {"title": "very secret"}, "eight")
    row = await world.tools.db.one("SELECT body FROM idempotency WHERE key = :key", key="eight")
    assert row is not None and b"secret" in seen.body and b"secret" not in row["body"]


@pytest.mark.parametrize("value", ["", "a b", "ä", "x" * 256, '"', '"a', '""', '"a b"', '"a\\x"', "a\tb"])
async def test_a_malformed_key_is_refused(world: World, value: str) -> None:
    seen = await make(world, A, value)
    assert (seen.status, seen.code) == (400, "invalid_idempotency_key")
    assert world.tools.made == []


async def test_a_key_given_twice_is_refused(world: World) -> None:
    seen = await world.ask("POST", THINGS, A, "Idempotency-Key: a", "Idempotency-Key: a")
    assert seen.code == "invalid_idempotency_key"


async def test_a_get_ignores_it(world: World) -> None:
    assert (await world.ask("GET", f"{THINGS}/thg_1", None, "Idempotency-Key: ")).status == 200


async def test_a_quoted_key_may_hold_what_a_string_may_hold() -> None:
    assert idempotency.read_key([rb'"a\"b\\c"']) == 'a"b\\c'
    assert idempotency.read_key([b"x" * 255]) == "x" * 255
    assert idempotency.read_key([]) is None
    with pytest.raises(Problem):
        idempotency.read_key([b'"' + b"x" * 256 + b'"'])


async def test_the_fingerprint_sees_values_not_spelling() -> None:
    def of(text: str) -> bytes:
        return idempotency.compute_fingerprint("POST", "/x", json.loads(text))

    assert of('{"a":1,"b":[1.0]}') == of('{ "b" : [1], "a" : 1.0 }')
    assert of('{"a":1}') != of('{"a":2}')
    assert (
        of('"x"')
        != idempotency.compute_fingerprint("POST", "/y", "x")
        != idempotency.compute_fingerprint("PATCH", "/y", "x")
    )
    long, other = "x" * 70_000, "x" * 69_999 + "y"
    assert of(json.dumps(long)) == of(json.dumps(long)) != of(json.dumps(other))
    assert of("[1e300, 123456789012345678901234567890]")
