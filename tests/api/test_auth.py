from collections.abc import Callable
from typing import cast

import pytest

from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.people import api_key
from esign.core.people.api_key import Scope
from esign.store.engine.database import Database, Transaction
from esign.store.people import api_keys
from esign.web.rest.auth import Authentication
from tests.api.site import Site, SiteAnswer, a_config, a_request, running
from tests.fakes import FakeClock
from tests.web.wire import Seen, ask

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/api/v1/documents"


async def list_documents(site: Site, *lines: str) -> Seen:
    """GET /documents with these header lines and no other."""
    return await ask(site.port, "GET", PATH, None, *lines)


def a_wrong_key(mode: Mode = Mode.LIVE, number: int = 0) -> str:
    """Of right shape and checksum, known to nobody."""
    return api_key.compose_key(mode, f"{number:030}")


def header(key: str) -> str:
    return f"Authorization: Bearer {key}"


async def test_the_scheme_may_be_written_in_any_case(site: Site) -> None:
    for scheme in ("Bearer", "bearer", "BEARER", "bEaReR"):
        assert (await list_documents(site, f"Authorization: {scheme} {site.key}")).status == 200


MISSING = {
    "no header": [],
    "an empty header": ["Authorization: "],
    "another scheme": ["Authorization: Basic YTpi"],
    "no scheme": ["Authorization: {key}"],
    "no key": ["Authorization: Bearer "],
    "two keys": ["Authorization: Bearer {key} {key}"],
    "two headers": ["Authorization: Bearer {key}", "Authorization: Bearer {key}"],
    "a comma": ["Authorization: Bearer {key}, Bearer {key}"],
    "another header": ["X-Api-Key: {key}"],
    "a cookie": ["Cookie: key={key}"],
}


@pytest.mark.parametrize("lines", MISSING.values(), ids=MISSING)
async def test_a_missing_or_malformed_header_is_told_apart(site: Site, lines: list[str]) -> None:
    seen = await list_documents(site, *(line.format(key=site.key) for line in lines))
    assert seen.status == 401 and seen.code == "missing_api_key"
    assert seen.headers["www-authenticate"] == 'Bearer realm="api"'


INVALID: dict[str, Callable[[str], str]] = {
    "a wrong checksum": lambda key: key[:-1] + ("0" if key[-1] != "0" else "1"),
    "a changed character": lambda key: key[:12] + ("A" if key[12] != "A" else "B") + key[13:],
    "one too short": lambda key: key[:-1],
    "one too long": lambda key: key + "0",
    "capitals": lambda key: key.upper(),
    "another mode": lambda key: key.replace("live", "test"),
    "no mode": lambda key: "esk_prod_" + key[9:],
    "10 kB": lambda key: key * 200,
    "not ASCII": lambda key: "esk_live_" + "é" * 36,
    "unknown": lambda key: a_wrong_key(),
}


@pytest.mark.parametrize("change", INVALID.values(), ids=INVALID)
async def test_a_key_that_is_none_is_invalid(site: Site, change: Callable[[str], str]) -> None:
    seen = await list_documents(site, header(change(site.key)))
    assert seen.status == 401 and seen.code == "invalid_api_key"
    assert seen.headers["www-authenticate"] == 'Bearer realm="api", error="invalid_token"'
    assert site.key[9:] not in seen.body.decode()


async def test_the_query_is_never_read_for_a_key(site: Site) -> None:
    for name in ("key", "api_key", "access_token"):
        seen = await ask(site.port, "GET", f"{PATH}?{name}={site.key}")
        assert seen.code == "missing_api_key"


async def test_a_revoked_key_ends_with_the_next_request(site: Site) -> None:
    text = await site.new_key()
    assert (await site.ask("GET", "/documents", key=text)).status == 200
    found = await api_keys.find_by_hash(site.runtime.db, api_key.hash_key(text))
    assert found is not None

    async def revoke(tx: Transaction) -> None:
        await api_keys.revoke(tx, found.id, site.clock.now())

    await site.runtime.db.write(revoke)
    answer = await site.ask("GET", "/documents", key=text)
    assert answer.code == "api_key_revoked"
    assert answer.headers["www-authenticate"] == 'Bearer realm="api", error="invalid_token"'


async def test_a_key_expires_to_the_millisecond(site: Site) -> None:
    text = await site.new_key(days=1)
    site.clock.advance(milliseconds=DAY - 1)
    assert (await site.ask("GET", "/documents", key=text)).status == 200
    site.clock.advance(milliseconds=1)
    assert (await site.ask("GET", "/documents", key=text)).code == "api_key_expired"


async def test_the_last_use_is_written_down(site: Site) -> None:
    text = await site.new_key()
    await site.ask("GET", "/documents", key=text)
    await wait_for_writes(site)
    found = await api_keys.find_by_hash(site.runtime.db, api_key.hash_key(text))
    assert found is not None
    assert (found.last_used_at, found.last_used_ip) == (site.clock.now(), "127.0.0.1")


SCOPES = [
    (Scope.DOCUMENTS_READ, "GET", "/documents"),
    (Scope.DOCUMENTS_WRITE, "POST", "/documents"),
    (Scope.DOCUMENTS_READ, "GET", "/documents/x"),
    (Scope.DOCUMENTS_SEND, "POST", "/documents/x/send"),
    (Scope.DOCUMENTS_READ, "GET", "/documents/x/files/original"),
    (Scope.DOCUMENTS_READ, "GET", "/documents/x/audit"),
    (Scope.WEBHOOKS_WRITE, "POST", "/webhooks"),
    (Scope.WEBHOOKS_WRITE, "DELETE", "/webhooks/x"),
]


@pytest.mark.parametrize("scope, method, path", SCOPES, ids=[f"{row[1]} {row[2]}" for row in SCOPES])
async def test_each_endpoint_needs_its_scope_and_no_other(
    site: Site, scope: Scope, method: str, path: str
) -> None:
    every_other = await site.new_key(*(other for other in Scope if other not in (scope, Scope.ALL)))
    refused = await site.ask(method, path, key=every_other)
    assert refused.code == "insufficient_scope" and str(scope) in refused.body["error"]["message"]
    challenge = f'Bearer realm="api", error="insufficient_scope", scope="{scope}"'
    assert refused.headers["www-authenticate"] == challenge
    only = await site.ask(method, path, key=await site.new_key(scope))
    assert only.status != 401


async def test_a_key_may_only_do_what_its_scopes_say(site: Site) -> None:
    writer = await site.new_key(Scope.DOCUMENTS_WRITE)
    made = await site.ask("POST", "/documents", a_request(), key=writer)
    assert made.status == 201
    assert (await site.ask("GET", f"/documents/{made.body['id']}", key=writer)).code == "insufficient_scope"
    assert (
        await site.ask("POST", f"/documents/{made.body['id']}/send", key=writer)
    ).code == "insufficient_scope"


@pytest.mark.parametrize(
    "plan, code",
    [("free", "plan_required"), ("team", "plan_required"), ("business", "200"), ("enterprise", "200")],
)
async def test_api_access_begins_with_the_business_plan_also_when_it_is_taken_away(
    site: Site, plan: str, code: str
) -> None:
    await own_plan(site, plan)
    try:
        answer = await site.ask("GET", "/documents")
    finally:
        await own_plan(site, None)
    assert answer.code == code
    assert (await site.ask("GET", "/documents")).status == 200


async def own_plan(site: Site, plan: str | None) -> None:
    async def write(tx: Transaction) -> None:
        await tx.run("UPDATE organisation SET plan = :plan", plan=plan)

    await site.runtime.db.write(write)


async def test_a_test_environment_takes_only_test_keys(tmp_path_factory: pytest.TempPathFactory) -> None:
    config = a_config(tmp_path_factory.mktemp("test"))
    server = config.server.model_copy(update={"environment": "test"})
    async with running(config.model_copy(update={"server": server})) as site:
        assert (await site.create_draft())["mode"] == "test"
        answer = await site.ask("GET", "/documents", key=a_wrong_key(Mode.LIVE))
        assert answer.code == "invalid_api_key"

        async def make_live(tx: Transaction) -> None:  # such a key may be left from another configuration
            await tx.run(
                "UPDATE api_key SET mode = 'live', hash = :hash", hash=api_key.hash_key(a_wrong_key())
            )

        await site.runtime.db.write(make_live)
        assert (await site.ask("GET", "/documents", key=a_wrong_key())).code == "invalid_api_key"


async def test_the_checks_come_in_the_order_of_the_contract(site: Site) -> None:
    reader = await site.new_key(Scope.DOCUMENTS_READ)
    unknown = "/documents/doc_00000000000000000000000000"

    async def code(method: str, path: str, key: str | None, **given: object) -> str:
        answer: SiteAnswer = await site.ask(method, path, key=key, **given)  # type: ignore[arg-type]
        return answer.code

    text = {"data": b"x", "headers": {"Content-Type": "text/plain"}}
    bad_replay = {"headers": {"Idempotency-Key": ""}}
    # the key before the route, the route before the scope, the scope before the body
    assert await code("GET", "/nowhere", None) == "missing_api_key"
    assert await code("GET", "/nowhere", reader) == "not_found"
    assert await code("POST", "/documents", reader, **text) == "insufficient_scope"
    # media type, JSON, schema before the Idempotency-Key, that before the object
    assert await code("POST", "/documents", "", **text) == "unsupported_media_type"
    json = {"Content-Type": "application/json"}
    assert await code("POST", "/documents", "", data=b"{", headers=json) == "invalid_json"
    assert await code("POST", f"{unknown}/send", "", body={"a": 1}, **bad_replay) == "invalid_request"
    assert await code("POST", f"{unknown}/send", "", **bad_replay) == "invalid_idempotency_key"
    # the object before If-Match, If-Match before the state
    assert await code("POST", f"{unknown}/send", "", headers={"If-Match": '"7"'}) == "not_found"
    sent = f"/documents/{(await site.send_document())['id']}/send"
    assert await code("POST", sent, "", headers={"If-Match": '"77"'}) == "revision_mismatch"
    assert await code("POST", sent, "") == "document_not_draft"


@pytest.mark.parametrize("key", ["esk_live_" + "0" * 36, "x" * 10_000, "", "esk_live_\xe9"])
async def test_a_bad_shape_is_refused_without_a_look_at_the_database(key: str) -> None:
    no_database = cast(Database, None)
    keys = Authentication(no_database, FakeClock(), failures=1, plan="business", test_only=False)
    for _ in range(3):  # nor does it count as a guess
        with pytest.raises(Problem) as refused:
            await keys.key([b"Bearer " + key.encode("latin-1")], "192.0.2.1")
        assert refused.value.status == 401


async def wait_for_writes(site: Site) -> None:
    """Any write waits behind those that were asked for before."""

    async def wait(tx: Transaction) -> None:
        await tx.one("SELECT 1")

    await site.runtime.db.write(wait)


async def test_no_answer_and_no_log_holds_a_key(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "esign")
    await site.create()
    await site.ask("GET", "/documents", key=a_wrong_key(number=7))
    assert caplog.records
    for secret in (site.key, a_wrong_key(number=7)):
        assert secret not in caplog.text
