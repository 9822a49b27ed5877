from typing import Any

import pytest

from esign.actions.people import accounts
from esign.actions.people.accounts import KeyWish
from esign.core.actor import Actor, Author, Mode
from esign.core.instant import DAY, rfc3339
from esign.core.people import api_key
from esign.core.people.api_key import Scope
from tests.api.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def own(site: Site, key: str, listing: str = "") -> dict[str, Any]:
    """The key of this text as the list shows it to an admin."""
    page = await site.ok("GET", "/api-keys?limit=100", key=listing or site.key)
    return next(entry for entry in page["data"] if entry["hint"] == api_key.make_hint(key))


async def test_a_key_shows_all_but_itself(site: Site) -> None:
    key = await site.new_key(Scope.DOCUMENTS_READ, Scope.WEBHOOKS_READ, days=30)
    shown = await own(site, key)
    assert await site.ok("GET", f"/api-keys/{shown['id']}") == shown
    assert shown == {
        "id": shown["id"],
        "name": "ci",
        "mode": "live",
        "hint": api_key.make_hint(key),
        "scopes": ["documents:read", "webhooks:read"],
        "createdAt": rfc3339(site.clock.now()),
        "createdBy": {"kind": "system", "id": None, "name": "command line", "role": None},
        "expiresAt": rfc3339(site.clock.now() + 30 * DAY),
        "lastUsedAt": None,
        "lastUsedIp": None,
        "revokedAt": None,
    }
    assert key not in str(shown)


async def test_the_list_is_paged_newest_first_and_its_cursor_is_its_own(site: Site) -> None:
    for _ in range(5):
        site.clock.advance(seconds=1)
        await site.new_key()
    whole = (await site.ok("GET", "/api-keys?limit=100"))["data"]
    assert [k["createdAt"] for k in whole] == sorted((k["createdAt"] for k in whole), reverse=True)
    page = await site.ok("GET", "/api-keys?limit=2")
    seen = page["data"]
    while page["hasMore"]:
        page = await site.ok("GET", f"/api-keys?limit=2&cursor={page['nextCursor']}")
        seen += page["data"]
    assert [k["id"] for k in seen] == [k["id"] for k in whole] and page["nextCursor"] is None
    cursor = (await site.ok("GET", "/api-keys?limit=1"))["nextCursor"]
    assert (await site.ask("GET", f"/documents?cursor={cursor}")).code == "invalid_cursor"
    assert (await site.ask("GET", "/api-keys?cursor=x")).code == "invalid_cursor"
    assert (await site.ask("GET", "/api-keys?limit=101")).places == {("?limit", "range")}


async def test_a_key_gets_another_name_and_nothing_else(site: Site) -> None:
    before = await own(site, await site.new_key(Scope.DOCUMENTS_READ))
    path = f"/api-keys/{before['id']}"
    assert await site.ok("PATCH", path, {"name": " CRM "}) == {**before, "name": "CRM"}
    assert await site.ok("PATCH", path, {}) == {**before, "name": "CRM"}
    assert await site.ok("GET", path) == {**before, "name": "CRM"}
    for body, place in (
        ({"name": ""}, ("/name", "length")),
        ({"name": "a" * 101}, ("/name", "length")),
        ({"name": "a\nb"}, ("/name", "format")),
        ({"name": None}, ("/name", "type")),
        ({"scopes": ["*"]}, ("/scopes", "unknown_member")),
    ):
        assert (await site.ask("PATCH", path, body)).places == {place}


async def test_a_revoked_key_is_refused_at_its_next_request_and_stays_in_the_list(site: Site) -> None:
    key = await site.new_key()
    assert (await site.ask("GET", "/documents", key=key)).status == 200
    key_id = (await own(site, key))["id"]
    assert await site.ok("DELETE", f"/api-keys/{key_id}") == {"id": key_id}
    assert (await site.ask("GET", "/documents", key=key)).code == "api_key_revoked"
    first = await own(site, key)
    assert first["revokedAt"] == rfc3339(site.clock.now())
    site.clock.advance(minutes=1)
    assert await site.ok("DELETE", f"/api-keys/{key_id}") == {"id": key_id}
    assert (await own(site, key))["revokedAt"] == first["revokedAt"]


async def test_any_key_may_revoke_itself(site: Site) -> None:
    key = await site.new_key(Scope.DOCUMENTS_READ)
    answer = await site.ask("DELETE", "/api-keys/current", key=key, headers={"Idempotency-Key": "bye"})
    assert answer.status == 200 and answer.body == {"id": (await own(site, key))["id"]}
    assert (await site.ask("DELETE", "/api-keys/current", key=key)).code == "api_key_revoked"


async def test_changes_of_keys_are_idempotent(site: Site) -> None:
    key_id, headers = (await own(site, await site.new_key()))["id"], {"Idempotency-Key": "keys-1"}
    answers = [
        await site.ask("PATCH", f"/api-keys/{key_id}", {"name": "one"}, headers=headers) for _ in range(2)
    ]
    assert answers[0].content == answers[1].content and "idempotent-replayed" in answers[1].headers
    other = await site.ask("PATCH", f"/api-keys/{key_id}", {"name": "two"}, headers=headers)
    assert other.code == "idempotency_key_reused"


async def test_keys_of_another_mode_or_organisation_do_not_exist(site: Site) -> None:
    test_key, live = await site.new_key(mode=Mode.TEST), await own(site, site.key)
    in_test = (await site.ok("GET", "/account", key=test_key))["key"]
    shown = (await site.ok("GET", "/api-keys?limit=100"))["data"]
    assert {entry["mode"] for entry in shown} == {"live"}
    for method, body in (("GET", None), ("PATCH", {"name": "mine"}), ("DELETE", None)):
        for foreign in (in_test["id"], "key_x"):
            assert (await site.ask(method, f"/api-keys/{foreign}", body)).code == "not_found"
        refused = await site.ask(method, f"/api-keys/{live['id']}", body, key=test_key)
        assert refused.code == "insufficient_scope"
    assert (await own(site, site.key))["revokedAt"] is None


async def test_keys_are_for_administrators(site: Site) -> None:
    key = await site.new_key(*(scope for scope in Scope if scope not in ("*", Scope.ACCOUNT_ADMIN)))
    for method, path in (("GET", ""), ("GET", "/x"), ("PATCH", "/x"), ("DELETE", "/x")):
        answer = await site.ask(method, f"/api-keys{path}", {} if method == "PATCH" else None, key=key)
        assert answer.code == "insufficient_scope"


async def test_a_key_made_by_a_member_says_so(site: Site) -> None:
    maker = Actor("member", "mem_01kzsz0a1b2c3d4e5f6g7h8j9k", "Mira Okafor", "mira@example.com")
    wish = KeyWish("web", Mode.LIVE, frozenset({Scope.ALL}))
    _, text = await accounts.create_key(site.runtime.installation, wish, Author(maker))
    shown = await own(site, text)
    assert shown["createdBy"] == {"kind": "member", "id": maker.id, "name": "Mira Okafor", "role": None}
