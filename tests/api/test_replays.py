"""Column I of the contract (3.2 to 3.5): which endpoints take an Idempotency-Key, and that each of them replays.

All that change something do, but `POST /verify`, which changes nothing. `MAKERS` has a line for each: how a program
comes to a request there that succeeds.
"""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.core.people import api_key
from esign.store.engine.database import Transaction
from esign.store.people import api_keys
from esign.web.api.endpoint_table import ENDPOINTS
from esign.web.rest import V1
from esign.web.rest.endpoint import Endpoint
from tests.api.site import ONE_PAGE, Site, a_request
from tests.api.test_matrix import body_of, name_endpoint, needs_test_key
from tests.journeys.api import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

PURE = {"POST /verify"}
TAKING = [e for e in ENDPOINTS if e.idempotent]
HOOK = {"url": "https://ok.test/", "events": ["template.deleted"]}


@pytest.fixture(scope="module")
def limits() -> dict[str, int]:
    return {"webhooks": 1000}


# ---------- which take one ----------


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=name_endpoint)
async def test_what_changes_something_takes_a_key(endpoint: Endpoint) -> None:
    assert endpoint.idempotent == (endpoint.method != "GET" and name_endpoint(endpoint) not in PURE)


@pytest.mark.parametrize("endpoint", [e for e in ENDPOINTS if not e.public], ids=name_endpoint)
async def test_a_malformed_key_is_refused_where_one_is_taken_and_ignored_elsewhere(
    site: Site, endpoint: Endpoint
) -> None:
    path = re.sub(r"\{\w+\}", "x" * 30, endpoint.path.removeprefix(V1))
    key = await site.new_key(mode=Mode.TEST if needs_test_key(endpoint) else Mode.LIVE)
    headers = {"Idempotency-Key": "two words"}
    answer = await site.ask(endpoint.method, path, body_of(endpoint), headers=headers, key=key)
    assert (answer.code == "invalid_idempotency_key") == endpoint.idempotent


# ---------- each of them ----------

Request = tuple[str, Any]


async def draft(site: Site) -> str:
    return f"/documents/{await site.create()}"


async def out(site: Site) -> str:
    return f"/documents/{(await site.send_document())['id']}"


async def recipient(site: Site, of: Callable[[Site], Awaitable[str]]) -> str:
    path = await of(site)
    return f"{path}/recipients/{(await site.ok('GET', path))['recipients'][0]['id']}"


async def reminding(site: Site) -> Request:
    path = await out(site)
    site.clock.advance(hours=2)
    return f"{path}/remind", {}


async def template(site: Site) -> str:
    body = {"fileName": "a.pdf", "file": ONE_PAGE, "roles": [{"key": "buyer", "name": "Buyer"}]}
    return f"/templates/{(await site.ok('POST', '/templates', body))['id']}"


async def using(site: Site) -> Request:
    filled = {"roleKey": "buyer", "email": "ada@example.test", "name": "Ada"}
    return f"{await template(site)}/documents", {"recipients": [filled]}


async def hook(site: Site) -> str:
    return f"/webhooks/{(await site.ok('POST', '/webhooks', HOOK))['id']}"


async def delivery(site: Site) -> Request:
    """A delivery that was tried."""
    path = await hook(site)
    made = await site.ok("POST", f"{path}/test")
    return f"{path}/deliveries/{made['deliveryId']}/redeliver", {}


async def an_api_key(site: Site) -> str:
    found = await api_keys.find_by_hash(site.runtime.db, api_key.hash_key(await site.new_key()))
    assert found is not None
    return f"/api-keys/{found.id}"


async def member(site: Site, role: str = "member") -> str:
    person = site.signer(role=role)
    return f"/members/{(await site.ok('POST', '/members', person))['id']}"


async def failing_seal(site: Site) -> Request:
    """A document whose file is away when it is to be sealed."""
    signer = site.signer()
    document = await site.send_document(recipients=[signer])
    person = await site.person(signer["email"])
    await person.view()
    [row] = await site.runtime.db.all("SELECT file FROM document WHERE id = :id", id=document["id"])
    away = json.dumps({**json.loads(row["file"]), "prepared": "0" * 64})

    async def lose(tx: Transaction) -> None:
        await tx.run("UPDATE document SET file = :file WHERE id = :id", file=away, id=document["id"])

    await site.runtime.db.write(lose)
    assert (await person.complete()).status == 200

    async def find_failure() -> str | None:
        error: str | None = (await site.get(document["id"]))["sealError"]
        return error

    await until(find_failure, "failure")
    return f"/documents/{document['id']}/retry-seal", {}


async def simulating(site: Site) -> Request:
    return f"/test{await out(site)}/simulate", {"action": "view"}


def at(
    path: str | Callable[[Site], Awaitable[str]], body: Any = None, more: str = ""
) -> Callable[[Site], Awaitable[Request]]:
    """A request to a path that is known, or made when it is needed."""

    async def make_request(site: Site) -> Request:
        where = path if isinstance(path, str) else await path(site)
        return where + more, body

    return make_request


async def coded_out(site: Site) -> str:
    """A document that is out, its recipient asked for a code that was tried too often."""
    signer = site.signer(authentication="access_code", accessCode="Blue-4711")
    document = await site.send_document(recipients=[signer])
    person = await site.person(signer["email"])
    for _ in range(5):
        await person.enter("wrong")
    return f"/documents/{document['id']}"


MAKERS: dict[str, Callable[[Site], Awaitable[Request]]] = {
    "POST /documents": at("/documents", a_request()),
    "PATCH /documents/{id}": at(draft, {"title": "Another"}),
    "DELETE /documents/{id}": at(draft),
    "POST /documents/{id}/send": at(draft, {}, "/send"),
    "POST /documents/{id}/cancel": at(out, {}, "/cancel"),
    "POST /documents/{id}/remind": reminding,
    "POST /documents/{id}/duplicate": at(draft, {}, "/duplicate"),
    "POST /documents/{id}/retry-seal": failing_seal,
    "POST /documents/{id}/recipients": at(draft, {"email": "b@example.test", "name": "Bo"}, "/recipients"),
    "PATCH /documents/{id}/recipients/{rid}": at(lambda site: recipient(site, draft), {"name": "Bo"}),
    "DELETE /documents/{id}/recipients/{rid}": at(lambda site: recipient(site, draft)),
    "POST /documents/{id}/recipients/{rid}/link": at(lambda site: recipient(site, out), {}, "/link"),
    "POST /documents/{id}/recipients/{rid}/unblock": at(
        lambda site: recipient(site, coded_out), {}, "/unblock"
    ),
    "POST /templates": at("/templates", {"fileName": "a.pdf", "file": ONE_PAGE}),
    "PATCH /templates/{id}": at(template, {"title": "Another"}),
    "DELETE /templates/{id}": at(template),
    "POST /templates/{id}/documents": using,
    "POST /webhooks": at("/webhooks", HOOK),
    "PATCH /webhooks/{id}": at(hook, {"description": "ours"}),
    "DELETE /webhooks/{id}": at(hook),
    "POST /webhooks/{id}/rotate-secret": at(hook, {}, "/rotate-secret"),
    "POST /webhooks/{id}/test": at(hook, {}, "/test"),
    "POST /webhooks/{id}/deliveries/{did}/redeliver": delivery,
    "POST /webhooks/{id}/recover": at(hook, {"since": "2026-11-20T00:00:00Z"}, "/recover"),
    "PATCH /api-keys/{id}": at(an_api_key, {"name": "another"}),
    "DELETE /api-keys/{id}": at(an_api_key),
    "DELETE /api-keys/current": at("/api-keys/current"),
    "PATCH /settings": at("/settings", {"timeZone": "Europe/Berlin"}),
    "POST /members": at("/members", {"email": "m@example.test", "name": "Mo", "role": "member"}),
    "PATCH /members/{id}": at(member, {"name": "Mo"}),
    "DELETE /members/{id}": at(member),
    "POST /test/documents/{id}/simulate": simulating,
}
LAST_WORD = {"DELETE /api-keys/current"}  # nobody can ask with that key again


@pytest.mark.parametrize("endpoint", TAKING, ids=name_endpoint)
async def test_the_same_request_again_is_answered_with_the_same_bytes_and_does_nothing(
    site: Site, endpoint: Endpoint
) -> None:
    assert name_endpoint(endpoint) in MAKERS, "MAKERS needs a line for this endpoint"
    key = site.key = await site.new_key(mode=Mode.TEST if needs_test_key(endpoint) else Mode.LIVE)
    path, body = await MAKERS[name_endpoint(endpoint)](site)
    headers = {"Idempotency-Key": "once"}
    first = await site.ask(endpoint.method, path, body, headers=headers, key=key)
    assert first.status == endpoint.success and "idempotent-replayed" not in first.headers, first
    if name_endpoint(endpoint) in LAST_WORD:
        assert (await site.ask(endpoint.method, path, headers=headers, key=key)).code == "api_key_revoked"
        return
    before = await effects(site)
    again = await site.ask(endpoint.method, path, body, headers=headers, key=key)
    assert (again.status, again.content) == (first.status, first.content)
    assert again.headers["idempotent-replayed"] == "true" and "ratelimit" in again.headers
    for name in ("location", "etag", "content-type"):
        assert again.headers.get(name) == first.headers.get(name)
    assert await effects(site) == before
    other = await site.ask("POST", "/webhooks", HOOK, headers=headers, key=key)
    if path != "/webhooks":
        assert other.code == "idempotency_key_reused"


async def effects(site: Site) -> list[int]:
    """How much there is of what a request could add or take away; workers add to none of it by themselves."""
    tables = ("document", "recipient", "link", "template", "webhook", "member", "api_key", "idempotency")
    rows = [await site.runtime.db.one(f"SELECT count(*) AS n FROM {table}") for table in tables]
    acts = await site.runtime.db.one("SELECT count(*) AS n FROM audit WHERE actor_kind != 'system'")
    return [row["n"] for row in (*rows, acts) if row is not None]
