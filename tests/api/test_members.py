from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from esign.actions.people import accounts, one_time_links
from esign.actions.people.accounts import KeyWish
from esign.core.actor import Actor, Author, Mode
from esign.core.instant import rfc3339
from esign.core.people.api_key import Scope
from esign.core.people.member import MemberRole
from esign.store.engine.database import Transaction
from esign.store.people import members, users
from tests.api.site import Site, a_config, gather, running
from tests.factories import an_organisation, store_organisation

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """An installation of its own for each test, since members are everybody's."""
    async with running(a_config(tmp_path_factory.mktemp("site"))) as site:
        yield site


async def invite_member(site: Site, name: str, role: str = "member") -> Any:
    body = {"email": f"{name.lower()}@example.test", "name": name, "role": role}
    return await site.ok("POST", "/members", body)


async def test_a_member_is_invited_changed_and_removed(site: Site) -> None:
    ada = await invite_member(site, "Ada", "admin")
    assert ada == {
        "id": ada["id"],
        "email": "ada@example.test",
        "name": "Ada",
        "role": "admin",
        "status": "invited",
        "createdAt": rfc3339(site.clock.now()),
    }
    path = f"/members/{ada['id']}"
    assert ada["id"].startswith("mem_")
    assert await site.ok("PATCH", path, {"role": "viewer"}) == {**ada, "role": "viewer"}
    assert await site.ok("PATCH", path, {"name": "Ada L."}) == {**ada, "role": "viewer", "name": "Ada L."}
    page = await site.ok("GET", "/members")
    assert page == {
        "data": [{**ada, "role": "viewer", "name": "Ada L."}],
        "hasMore": False,
        "nextCursor": None,
    }
    assert await site.ok("DELETE", path) == {"id": ada["id"], "revokedApiKeys": []}
    assert (await site.ok("GET", "/members"))["data"] == []
    assert (await site.ask("DELETE", path)).code == "not_found"


async def test_an_address_is_a_member_once_however_it_is_written(site: Site) -> None:
    await invite_member(site, "Ada")
    again = {"email": "ADA@Example.test", "name": "Ada", "role": "viewer"}
    assert (await site.ask("POST", "/members", again)).code == "member_exists"
    answers = await gather(
        *(
            site.ask("POST", "/members", {"email": "bo@example.test", "name": "Bo", "role": "member"})
            for _ in range(5)
        )
    )
    assert sorted(answer.code for answer in answers) == ["201", *["member_exists"] * 4]


async def test_a_member_goes_with_the_keys_they_made(site: Site) -> None:
    organisation = (await site.ok("GET", "/account"))["organisation"]["id"]
    now = site.clock.now()
    user = one_time_links.make_user("bo@example.test", "Bo", now, "no hash")
    bo = replace(one_time_links.make_owner(organisation, user, now), role=MemberRole.ADMIN)

    async def write(tx: Transaction) -> None:
        await users.add(tx, user)
        await members.add(tx, bo)

    await site.runtime.db.write(write)
    made = [
        await accounts.create_key(
            site.runtime.installation,
            KeyWish("CRM", mode, frozenset({Scope.ALL})),
            Author(Actor("member", bo.id, bo.name, bo.email)),
        )
        for mode in Mode
    ]
    assert (await site.ask("GET", "/documents", key=made[0][1])).status == 200
    removed = await site.ok("DELETE", f"/members/{bo.id}")
    assert removed["id"] == bo.id and set(removed["revokedApiKeys"]) == {key.id for key, _ in made}
    for _, text in made:
        assert (await site.ask("GET", "/documents", key=text)).code == "api_key_revoked"


async def test_members_are_paged_newest_first(site: Site) -> None:
    made = []
    for name in ("Ada", "Bo", "Cy"):
        site.clock.advance(seconds=1)
        made.append((await invite_member(site, name))["id"])
    first = await site.ok("GET", "/members?limit=2")
    second = await site.ok("GET", f"/members?limit=2&cursor={first['nextCursor']}")
    assert [m["id"] for m in first["data"] + second["data"]] == made[::-1] and not second["hasMore"]
    assert (await site.ask("GET", f"/api-keys?cursor={first['nextCursor']}")).code == "invalid_cursor"


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"email": "ada"}, "/email", "format"),
    ({"name": ""}, "/name", "length"),
    ({"role": "king"}, "/role", "enum"),
    ({"status": "active"}, "/status", "unknown_member"),
]


async def test_what_does_not_fit_is_refused_at_its_member(site: Site) -> None:
    whole = {"email": "ada@example.test", "name": "Ada", "role": "member"}
    for given, path, rule in REFUSED:
        assert (await site.ask("POST", "/members", {**whole, **given})).places == {(path, rule)}
    ada = await site.ok("POST", "/members", whole)
    for given, path, rule in (*REFUSED[1:], ({"email": "b@example.test"}, "/email", "unknown_member")):
        assert (await site.ask("PATCH", f"/members/{ada['id']}", given)).places == {(path, rule)}
    for name in ("name", "role"):
        answer = await site.ask("PATCH", f"/members/{ada['id']}", {name: None})
        assert answer.places == {(f"/{name}", "type")}


async def test_members_are_for_administrators_of_their_own_organisation(site: Site) -> None:
    ada = await invite_member(site, "Ada")
    reader = await site.new_key(Scope.ACCOUNT_READ)
    assert (await site.ask("GET", "/members", key=reader)).code == "insufficient_scope"
    other = (await store_organisation(site.runtime.db, an_organisation())).id
    key = await site.new_key(organisation=other)
    assert (await site.ok("GET", "/members", key=key))["data"] == []
    assert (await site.ask("PATCH", f"/members/{ada['id']}", {}, key=key)).code == "not_found"
    assert (await site.ask("DELETE", f"/members/{ada['id']}", key=key)).code == "not_found"


async def test_an_invitation_is_replayed_under_its_key(site: Site) -> None:
    body, headers = {"email": "a@example.test", "name": "A", "role": "member"}, {"Idempotency-Key": "m-1"}
    answers = [await site.ask("POST", "/members", body, headers=headers) for _ in range(2)]
    assert [a.status for a in answers] == [201, 201] and answers[0].content == answers[1].content
    assert answers[0].headers["location"] == f"/api/v1/members/{answers[0].body['id']}"
