"""The order of checks of contract 3.1: of two checks that a request fails, the answer is that of the earlier one.

`PAIRS` has a row for each two neighbours; each row first shows that the later check refuses by itself.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from esign.core.actor import Mode
from esign.core.people import api_key
from esign.core.people.api_key import Scope
from esign.store.engine.database import Transaction
from tests.api.site import Site, SiteAnswer, a_request, b64
from tests.factories import an_organisation, store_organisation

pytestmark = pytest.mark.asyncio(loop_scope="module")

REQUESTS, NARROW, RECIPIENTS, TEMPLATES = 6, 1, 2, 1
TEXT = {"Content-Type": "text/plain"}
JSON = {"Content-Type": "application/json"}
TOO_MUCH = b" " * (2**20 + 1)


@pytest.fixture(scope="module")
def limits() -> dict[str, int]:
    return {
        "requests_per_minute": REQUESTS,
        "creates_per_minute": NARROW,
        "sends_per_minute": NARROW,
        "verifies_per_minute": NARROW,
        "auth_failures_per_minute": 1,
        "recipients": RECIPIENTS,
        "templates": TEMPLATES,
    }


class Asking:
    """Requests of keys that nobody has counted yet; what is prepared costs other keys."""

    def __init__(self, site: Site, poor: str) -> None:
        self.site = site
        self.poor = poor

    async def key(self, *scopes: Scope, organisation: str | None = None) -> str:
        return await self.site.new_key(*scopes, organisation=organisation)

    async def fresh(self) -> Site:
        """The site with a key of its own, so that what is prepared is not refused either."""
        self.site.key = await self.key()
        return self.site

    async def used_up(self, key: str) -> str:
        for _ in range(REQUESTS):
            await self.site.ask("GET", "/account", key=key)
        return key

    async def use_up_creations(self, *scopes: Scope) -> str:
        """A key whose one creation of this minute is over."""
        key = await self.key(*scopes)
        assert (await self.create(key)).code == "invalid_request"
        return key

    async def create(self, key: str, body: Any = None, **given: Any) -> SiteAnswer:
        if not given:
            body = body or {}
        return await self.site.ask("POST", "/documents", body, key=key, **given)

    async def hook(self, data: bytes, headers: dict[str, str], key: str = "") -> SiteAnswer:
        """On an endpoint without a policy of its own."""
        return await self.site.ask(
            "POST", "/webhooks", data=data, headers=headers, key=key or await self.key()
        )

    async def template(self, file: str) -> SiteAnswer:
        body = {"fileName": "a.pdf", "file": file}
        return await self.site.ask("POST", "/templates", body, key=await self.key())


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def asking(site: Site) -> Asking:
    later = site.clock.now() + 1  # a key is made for the organisation that is the oldest
    poor = await store_organisation(
        site.runtime.db, an_organisation(id="org_poor", plan="team", created_at=later)
    )
    return Asking(site, poor.id)


Case = Callable[[Asking], Awaitable[tuple[SiteAnswer, SiteAnswer]]]
"""The answer to what fails the later check alone, and to what fails both."""

UNKNOWN = "/documents/doc_" + "0" * 26


async def key_before_throttle(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    """The 429 comes in place of the 401 of a guess, and of no other."""
    site = a.site
    site.clock.advance(minutes=1)
    guesses = [api_key.compose_key(Mode.LIVE, f"{n:030}") for n in range(3)]
    await site.ask("GET", "/account", key=guesses[0])
    throttled = await site.ask("GET", "/account", key=guesses[1])
    return throttled, await site.ask("GET", "/account", key=None)


async def key_before_plan(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    site = a.site
    good, bad = await a.key(organisation=a.poor), await a.key(organisation=a.poor)

    async def revoke(tx: Transaction) -> None:
        await tx.run("UPDATE api_key SET revoked_at = 1 WHERE hash = :hash", hash=api_key.hash_key(bad))

    await site.runtime.db.write(revoke)
    site.clock.advance(minutes=1)
    return await site.ask("GET", "/account", key=good), await site.ask("GET", "/account", key=bad)


async def plan_before_rate(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    site, key = a.site, await a.used_up(await a.key())
    alone = await site.ask("GET", "/account", key=key)

    async def move(tx: Transaction) -> None:
        await tx.run(
            "UPDATE api_key SET organisation_id = :to WHERE hash = :hash",
            to=a.poor,
            hash=api_key.hash_key(key),
        )

    await site.runtime.db.write(move)
    return alone, await site.ask("GET", "/account", key=key)


async def rate_before_route(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    alone = await a.site.ask("GET", "/nowhere", key=await a.key())
    return alone, await a.site.ask("GET", "/nowhere", key=await a.used_up(await a.key()))


async def route_before_scope(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    key = await a.key(Scope.WEBHOOKS_READ)
    alone = await a.site.ask("GET", "/documents", key=key)
    return alone, await a.site.ask("PATCH", "/documents", key=key)


async def scope_before_narrow_rate(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    key = await a.use_up_creations()
    alone = await a.create(key)

    async def narrow(tx: Transaction) -> None:
        await tx.run(
            "UPDATE api_key SET scopes = :scopes WHERE hash = :hash",
            scopes=json.dumps(["documents:read"]),
            hash=api_key.hash_key(key),
        )

    await a.site.runtime.db.write(narrow)
    return alone, await a.create(key)


async def narrow_rate_before_media_type(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    alone = await a.create(await a.key(), data=b"x", headers=TEXT)
    return alone, await a.create(await a.use_up_creations(), data=b"x", headers=TEXT)


async def media_type_before_size(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    return await a.hook(TOO_MUCH, JSON), await a.hook(TOO_MUCH, TEXT)


async def size_before_json(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    return await a.hook(b"{", JSON), await a.hook(b"{" + TOO_MUCH, JSON)


async def json_before_schema(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    return await a.hook(b'{"url": 1}', JSON), await a.hook(b'{"url": 1, "url": 2}', JSON)


async def schema_before_idempotency(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    key = await a.key()
    headers = {**JSON, "Idempotency-Key": "taken"}
    body = {"url": "https://ok.test/", "events": ["template.deleted"]}
    assert (await a.hook(json.dumps(body).encode(), headers, key)).status == 201
    alone = await a.hook(json.dumps({**body, "description": "other"}).encode(), headers, key)
    return alone, await a.hook(b'{"url": 1}', headers, key)


async def idempotency_before_object(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    site, key = a.site, await a.key()
    headers = {"Idempotency-Key": "taken"}
    hook = {"url": "https://ok.test/", "events": ["template.deleted"]}
    await site.ask("POST", "/webhooks", hook, headers=headers, key=key)
    alone = await site.ask("POST", f"{UNKNOWN}/cancel", key=key)
    return alone, await site.ask("POST", f"{UNKNOWN}/cancel", key=key, headers=headers)


async def object_before_if_match(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    site = await a.fresh()
    stale = {"If-Match": '"99"'}
    alone = await site.ask("DELETE", f"/documents/{await site.create()}", headers=stale)
    return alone, await site.ask("DELETE", UNKNOWN, headers=stale)


async def if_match_before_state(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    site = await a.fresh()
    path = f"/documents/{(await site.send_document())['id']}"
    alone = await site.ask("DELETE", path)
    return alone, await site.ask("DELETE", path, headers={"If-Match": '"99"'})


async def state_before_stored_limits(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    site = await a.fresh()
    draft = await site.create(recipients=[site.signer() for _ in range(RECIPIENTS)])
    alone = await site.ask("POST", f"/documents/{draft}/recipients", site.signer())
    site = await a.fresh()
    await site.ok("POST", f"/documents/{draft}/send")
    return alone, await site.ask("POST", f"/documents/{draft}/recipients", site.signer())


async def stored_limits_before_file(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    alone = await a.template(b64(b"no PDF"))
    assert (await a.template(a_request()["file"])).status == 201
    return alone, await a.template(b64(b"no PDF"))


async def stored_limits_before_placement(a: Asking) -> tuple[SiteAnswer, SiteAnswer]:
    site = await a.fresh()
    outside = site.signer(fields=[{"type": "text", "page": 9, "x": 1, "y": 1}])
    draft = await site.create(recipients=[site.signer()])
    alone = await site.ask("POST", f"/documents/{draft}/recipients", outside)
    await site.ok("POST", f"/documents/{draft}/recipients", site.signer())
    return alone, await site.ask("POST", f"/documents/{draft}/recipients", outside)


PAIRS: dict[Case, tuple[str, str]] = {
    key_before_throttle: ("missing_api_key", "too_many_auth_failures"),
    key_before_plan: ("api_key_revoked", "plan_required"),
    plan_before_rate: ("plan_required", "rate_limited"),
    rate_before_route: ("rate_limited", "not_found"),
    route_before_scope: ("not_found", "insufficient_scope"),
    scope_before_narrow_rate: ("insufficient_scope", "rate_limited"),
    narrow_rate_before_media_type: ("rate_limited", "unsupported_media_type"),
    media_type_before_size: ("unsupported_media_type", "request_too_large"),
    size_before_json: ("request_too_large", "invalid_json"),
    json_before_schema: ("invalid_json", "invalid_request"),
    schema_before_idempotency: ("invalid_request", "idempotency_key_reused"),
    idempotency_before_object: ("idempotency_key_reused", "not_found"),
    object_before_if_match: ("not_found", "revision_mismatch"),
    if_match_before_state: ("revision_mismatch", "document_in_progress"),
    state_before_stored_limits: ("document_not_draft", "limit_reached"),
    stored_limits_before_file: ("limit_reached", "invalid_file"),
    stored_limits_before_placement: ("limit_reached", "field_out_of_bounds"),
}


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: case.__name__)
async def test_of_two_failing_checks_the_earlier_one_answers(asking: Asking, case: Case) -> None:
    asking.site.clock.advance(minutes=1)
    earlier, later = PAIRS[case]
    alone, both = await case(asking)
    assert alone.code == later
    assert both.code == earlier
