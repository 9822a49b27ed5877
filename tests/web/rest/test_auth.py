import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from esign.config import Config
from esign.core.actor import Mode
from esign.core.instant import MINUTE
from esign.core.people import api_key
from esign.core.people.api_key import Scope
from esign.store.people import api_keys
from tests.web.wire import ask
from tests.web.world import START, World

pytestmark = pytest.mark.asyncio(loop_scope="module")

THING = "/api/v1/things/thg_1"
UNKNOWN = api_key.compose_key(Mode.LIVE, "0" * 30)


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("Authorization: ",),
        ("Authorization: Bearer",),
        (f"Authorization: {UNKNOWN}",),
        (f"Authorization: Basic {UNKNOWN}",),
        (f"Authorization: Bearer Bearer {UNKNOWN}",),
        (f"Authorization: Bearer {UNKNOWN}", f"Authorization: Bearer {UNKNOWN}"),
    ],
)
async def test_a_missing_or_malformed_header_is_a_missing_key(world: World, lines: tuple[str, ...]) -> None:
    seen = await ask(world.port, "GET", THING, None, *lines)
    assert (seen.status, seen.code) == (401, "missing_api_key")
    assert seen.headers["www-authenticate"] == 'Bearer realm="api"'
    assert "ratelimit" not in seen.headers


@pytest.mark.parametrize(
    "text", [UNKNOWN[:-1] + "p", "x", "x" * 10_240, "esk_live_ü" + "0" * 35, UNKNOWN.upper()]
)
async def test_a_key_of_wrong_shape_or_checksum_is_invalid_however_often(world: World, text: str) -> None:
    for _ in range(25):
        seen = await world.ask("GET", THING, key=text)
        assert (seen.status, seen.code) == (401, "invalid_api_key")
        assert seen.headers["www-authenticate"] == 'Bearer realm="api", error="invalid_token"'


async def test_the_scheme_may_be_written_in_any_case(world: World) -> None:
    assert (await ask(world.port, "GET", THING, None, f"authorization: bEARER  {world.key}")).status == 200


async def test_a_key_in_the_address_is_not_read(world: World) -> None:
    seen = await ask(world.port, "GET", f"{THING}?api_key={world.key}&access_token={world.key}")
    assert seen.code == "missing_api_key"


async def test_guesses_are_throttled_by_address_and_a_valid_key_is_not(world: World) -> None:
    guesses = [
        await world.ask("GET", THING, key=api_key.compose_key(Mode.LIVE, f"{n:030}")) for n in range(22)
    ]
    assert [(seen.status, seen.code) for seen in guesses[:20]] == [(401, "invalid_api_key")] * 20
    assert [(seen.status, seen.code) for seen in guesses[20:]] == [(429, "too_many_auth_failures")] * 2
    assert guesses[20].headers["retry-after"] == "60"
    assert (await world.ask("GET", THING)).status == 200
    assert (await world.ask("GET", THING, key="misshapen")).status == 401
    world.tools.clock.at = 60
    assert (await world.ask("GET", THING, key=UNKNOWN)).status == 401


async def test_revoked_and_expired_keys_say_so(world: World) -> None:
    revoked = await world.add_key(revoked_at=START - 1, expires_at=START - 1)
    assert (await world.ask("GET", THING, key=revoked)).code == "api_key_revoked"
    expiring = await world.add_key(expires_at=START + MINUTE)
    assert (await world.ask("GET", THING, key=expiring)).status == 200
    world.tools.clock.at = 60
    assert (await world.ask("GET", THING, key=expiring)).code == "api_key_expired"


async def test_a_revocation_counts_at_the_next_request(world: World) -> None:
    text = await world.add_key()
    assert (await world.ask("GET", THING, key=text)).status == 200
    found = await api_keys.find_by_hash(world.tools.db, api_key.hash_key(text))
    assert found is not None
    await world.tools.db.write(lambda tx: api_keys.revoke(tx, found.id, START))
    assert (await world.ask("GET", THING, key=text)).code == "api_key_revoked"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("UPDATE api_key SET revoked_at = 1", "api_key_revoked"),
        ("UPDATE api_key SET expires_at = 1", "api_key_expired"),
        ("UPDATE api_key SET scopes = '[]'", "insufficient_scope"),
        ("UPDATE organisation SET plan = 'free'", "plan_required"),
        ('UPDATE api_key SET created_by = \'{"kind":"member","id":"mem_1"}\'', "insufficient_scope"),
    ],
)
async def test_what_another_process_changes_counts_at_the_next_request(
    world: World, change: str, code: str
) -> None:
    """As `esign keys revoke` and the office do, while the key is in use."""
    text = await world.add_key()
    for _ in range(3):
        assert (await world.ask("GET", THING, key=text)).status == 200
    await world.api.settle()
    path = next(row["file"] for row in await world.tools.db.all("PRAGMA database_list"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute(change)
    assert (await world.ask("GET", THING, key=text)).status == 200
    other.execute("COMMIT")
    assert (await world.ask("GET", THING, key=text)).code == code
    other.execute("UPDATE organisation SET plan = NULL")
    other.execute(
        "UPDATE api_key SET revoked_at = NULL, expires_at = NULL, scopes = '[\"*\"]',"
        ' created_by = \'{"kind":"system","name":"command line"}\''
    )
    other.close()
    assert (await world.ask("GET", THING, key=text)).status == 200


async def test_a_key_without_the_scope_learns_which_one(world: World) -> None:
    reader = await world.add_key(scopes=(Scope.DOCUMENTS_WRITE,))
    seen = await world.ask("GET", THING, key=reader)
    assert (seen.status, seen.code) == (401, "insufficient_scope")
    assert "documents:read" in seen.json["error"]["message"]
    assert seen.headers["www-authenticate"] == (
        'Bearer realm="api", error="insufficient_scope", scope="documents:read"'
    )
    assert "ratelimit" in seen.headers


@pytest.mark.parametrize(
    ("plan", "status"), [("free", 401), ("team", 401), ("business", 200), ("enterprise", 200)]
)
async def test_the_api_begins_with_the_business_plan(world: World, plan: str, status: int) -> None:
    world.serves(
        Config.model_validate({"organisation": {"plan": plan}, "limits": {"requests_per_minute": 1}})
    )
    seen = await world.ask("GET", THING)
    assert seen.status == status
    if status == 401:
        again = await world.ask("GET", "/api/v1/nothing")
        assert (seen.code, again.code) == ("plan_required", "plan_required")


async def test_the_last_use_is_written_once_a_minute(world: World) -> None:
    text = await world.add_key()

    async def find_last_use() -> tuple[int | None, str | None]:
        await world.ask("GET", THING, key=text)
        await world.api.settle()
        found = await api_keys.find_by_hash(world.tools.db, api_key.hash_key(text))
        assert found is not None
        return found.last_used_at, found.last_used_ip

    assert await find_last_use() == (START, "127.0.0.1")
    world.tools.clock.at = 59
    assert await find_last_use() == (START, "127.0.0.1")
    world.tools.clock.at = 60
    assert await find_last_use() == (START + MINUTE, "127.0.0.1")


@asynccontextmanager
async def statements(world: World) -> AsyncIterator[list[str]]:
    """Everything that any connection to the database is asked meanwhile; no worker runs here."""
    db = world.tools.db
    asked: list[str] = []

    async def tell(listen: Callable[[str], None] | None) -> None:
        for reader in (*db._readers._connections, db.points._connection):
            assert reader is not None
            reader.set_trace_callback(listen)
        await db._writer.set_trace_callback(listen)  # type: ignore[arg-type]  # None ends it, as in sqlite3

    await tell(asked.append)
    try:
        yield asked
    finally:
        await tell(None)


async def test_a_request_costs_one_indexed_read_of_its_key_and_no_write(world: World) -> None:
    """After a commit; until the next one it only asks whether there was one."""
    assert (await world.ask("GET", THING)).status == 200
    await world.api.settle()  # the use of a key is noted once a minute
    for method, path, body in (("GET", THING, None), ("GET", "/api/v1/nowhere", None), ("POST", THING, {})):
        await world.add_key()
        async with statements(world) as asked:
            for _ in range(3):
                await world.ask(method, path, body)
            await world.api.settle()
        version, sql, *again = asked
        assert [version, *again] == ["PRAGMA data_version"] * 3
        assert "FROM api_key" in sql
        plan = await world.tools.db.all(f"EXPLAIN QUERY PLAN {sql}")
        assert all(row["detail"].startswith("SEARCH ") for row in plan)


async def test_a_key_that_is_none_costs_no_statement_and_an_unknown_one_a_single_read(world: World) -> None:
    for key, reads in (("esk_live_" + "0" * 36, 0), ("x" * 10_240, 0), (UNKNOWN, 2)):  # one asks for commits
        async with statements(world) as asked:
            assert (await world.ask("GET", THING, key=key)).status == 401
        assert len(asked) == reads


async def test_a_bad_shape_costs_less_than_five_milliseconds_of_work(world: World) -> None:
    """Processor time of the server and of this client together, so that a busy machine does not count."""
    costs = []
    for _ in range(51):
        began = time.process_time()
        assert (await world.ask("GET", THING, key="esk_live_" + "x" * 36)).status == 401
        costs.append(time.process_time() - began)
    assert sorted(costs)[25] < 0.005
