"""What a key may do: every endpoint × the maker of the key as they are today × mode × scopes, as `table` says."""

import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio

from esign.actions.people import one_time_links, users
from esign.core.actor import COMMAND_LINE, Actor, Mode
from esign.core.people import api_key
from esign.core.people.api_key import ApiKey, Scope
from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.store.engine.database import Transaction
from esign.store.people import api_keys, members
from esign.store.people import users as people
from esign.system.entropy import make_id, make_key_secret
from esign.web.api.endpoint_table import ENDPOINTS
from esign.web.rest import V1
from esign.web.rest.endpoint import Endpoint
from tests.api.site import Site, SiteAnswer, a_config, running
from tests.api.test_matrix import OwnerObjects, body_of, concrete, name_endpoint, places
from tests.rights.table import ADMIN, API, MEMBER, OWNER, SCOPES, VIEWER, WITHOUT_SCOPE, RightsRow

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPERATOR, REMOVED, DISABLED = "operator", "removed", "disabled"
# Who made the key; all but the operator were administrators when they made it.
MAKERS: Mapping[str, MemberRole | None] = {
    OPERATOR: ADMIN,
    OWNER.value: OWNER,
    ADMIN.value: ADMIN,
    MEMBER.value: MEMBER,
    VIEWER.value: VIEWER,
    REMOVED: None,
    DISABLED: None,
}
EVERY = frozenset(Scope) - {Scope.ALL}
Scopes = frozenset[Scope]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    async with running(a_config(tmp_path_factory.mktemp("site"))) as site:
        yield site


@dataclass
class Keys:
    """Makes keys straight in the store, also such as older versions made; each maker is made once."""

    site: Site
    organisation: str
    makers: dict[str, Member]
    made: dict[tuple[str, Mode, Scopes], str]

    async def get(self, maker: str, mode: Mode, *scopes: Scope) -> str:
        wanted = (maker, mode, frozenset(scopes))
        if wanted not in self.made:
            by = COMMAND_LINE if maker == OPERATOR else actor_of(self.makers[maker])
            self.made[wanted] = await a_key(self.site, self.organisation, by, mode, frozenset(scopes))
        return self.made[wanted]


def actor_of(member: Member) -> Actor:
    return Actor("member", member.id, member.name, member.email)


async def a_key(site: Site, organisation: str, by: Actor, mode: Mode, scopes: Scopes) -> str:
    now, text = site.clock.now(), api_key.compose_key(mode, make_key_secret())
    hint = api_key.make_hint(text)
    key = ApiKey(make_id("key", now), organisation, mode, "CRM", hint, scopes, now, created_by=by)

    async def write(tx: Transaction) -> None:
        await api_keys.add(tx, key, api_key.hash_key(text))

    await site.runtime.db.write(write)
    return text


async def a_maker(site: Site, organisation: str, name: str, role: MemberRole = ADMIN) -> Member:
    """Somebody who signs in, as a member of the organisation."""
    now = site.clock.now()
    user = one_time_links.make_user(f"{name}@example.test", name.title(), now, "no hash")
    member = Member(
        make_id("mem", now), organisation, user.email, user.name, role, MemberStatus.ACTIVE, now, user.id
    )

    async def write(tx: Transaction) -> None:
        await people.add(tx, user)
        await members.add(tx, member)

    await site.runtime.db.write(write)
    return member


async def become(site: Site, member: Member, now: str) -> None:
    """The maker is removed, is disabled, or has another role from now on."""
    db = site.runtime.db
    if now == DISABLED:
        return await users.disable(site.runtime.installation, member.email)

    async def write(tx: Transaction) -> None:
        if now == REMOVED:
            await members.delete(tx, member.id)
        else:
            await members.save(tx, replace(member, role=MemberRole(now)))

    await db.write(write)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def keys(site: Site) -> Keys:
    organisation = (await site.ok("GET", "/account"))["organisation"]["id"]
    makers = {name: await a_maker(site, organisation, name) for name in MAKERS if name != OPERATOR}
    for name, member in makers.items():
        await become(site, member, name)
    return Keys(site, organisation, makers, {})


# ---------- scopes, makers and modes ----------


def row_of(endpoint: Endpoint) -> RightsRow:
    return API[name_endpoint(endpoint)]


def find_expected_answer(row: RightsRow, maker: str, mode: Mode, scopes: Scopes) -> str:
    """What the table says: `through`, `not_found` or `insufficient_scope`."""
    need, role = row.words[0], MAKERS[maker]
    if "test" in row.words and mode is Mode.LIVE:
        return "not_found"
    if need in ("public", "key"):
        return "through"
    roles = WITHOUT_SCOPE.get(need)
    if roles is None:
        roles, modes = SCOPES[need]
        if mode not in modes or not {Scope(need), Scope.ALL} & scopes:
            return "insufficient_scope"
    return "through" if role in roles else "insufficient_scope"


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=name_endpoint)
async def test_a_key_does_what_the_table_says(site: Site, keys: Keys, endpoint: Endpoint) -> None:
    """Asked so that the next check refuses: nobody's id, and text where JSON belongs."""
    row = row_of(endpoint)
    path = await concrete(endpoint, [None] * len(places(endpoint)))
    text: dict[str, Any] = {"data": b"x", "headers": {"Content-Type": "text/plain"}}
    given = {} if endpoint.method == "GET" else text
    need = Scope(row.words[0]) if row.words[0] in SCOPES else None
    wrong = []
    for maker in MAKERS:
        for mode in Mode:
            for scopes in ({Scope.ALL}, {need} if need else set(), EVERY - {need}):
                if not scopes:
                    continue
                key = await keys.get(maker, mode, *scopes)
                answer = await site.ask(endpoint.method, path, key=key, **given)
                found = verdict(endpoint, answer)
                wanted = find_expected_answer(row, maker, mode, frozenset(scopes))
                if found != wanted:
                    wrong.append((maker, mode.value, sorted(scopes), wanted, found))
    assert not wrong, f"(maker, mode, scopes, expected, found): {wrong}"


def verdict(endpoint: Endpoint, answer: SiteAnswer) -> str:
    if answer.code == "insufficient_scope":
        assert answer.status == 401
        assert 'error="insufficient_scope"' in answer.headers["www-authenticate"], answer.headers
        return answer.code
    test_only = endpoint.test_only and answer.code == "not_found" and answer.headers.get("allow") is None
    if test_only and endpoint.method != "GET":
        return "not_found"
    if test_only and not places(endpoint):
        return "not_found"
    assert answer.status in (200, 404) or answer.code == "unsupported_media_type", answer
    return "through"


# ---------- at once ----------


async def test_what_becomes_of_the_maker_counts_at_the_next_request(site: Site, keys: Keys) -> None:
    member = await a_maker(site, keys.organisation, "mira")
    key = await a_key(site, keys.organisation, actor_of(member), Mode.LIVE, frozenset({Scope.ALL}))

    async def may() -> list[str]:
        asked = [
            ("GET", "/documents"),
            ("POST", "/documents"),
            ("GET", "/webhooks"),
            ("PATCH", "/settings"),
        ]
        answers = [
            await site.ask(method, path, {"file": 1} if method == "POST" else None, key=key)
            for method, path in asked
        ]
        return ["no" if answer.code == "insufficient_scope" else "yes" for answer in answers]

    assert await may() == ["yes"] * 4
    await become(site, member, "member")
    assert await may() == ["yes", "yes", "no", "no"]
    await become(site, member, "viewer")
    assert await may() == ["yes", "no", "no", "no"]
    await become(site, member, "admin")
    assert await may() == ["yes"] * 4
    await become(site, member, DISABLED)
    assert await may() == ["no"] * 4
    await users.enable(site.runtime.installation, member.email)
    assert await may() == ["yes"] * 4
    await become(site, member, REMOVED)
    assert await may() == ["no"] * 4
    refused = await site.ask("GET", "/documents", key=key)
    assert "is not active in the organisation any more" in refused.body["error"]["message"]
    assert (await site.ask("DELETE", "/api-keys/current", key=key)).status == 200


async def test_an_answer_of_before_is_not_replayed_to_the_key_of_somebody_who_left(
    site: Site, keys: Keys
) -> None:
    member = await a_maker(site, keys.organisation, "noa")
    key = await a_key(site, keys.organisation, actor_of(member), Mode.LIVE, frozenset({Scope.ALL}))
    body, headers = {"email": "x@example.test", "name": "X", "role": "member"}, {"Idempotency-Key": "x-1"}
    assert (await site.ask("POST", "/members", body, key=key, headers=headers)).status == 201
    assert (await site.ask("POST", "/members", body, key=key, headers=headers)).status == 201
    await become(site, member, REMOVED)
    assert (await site.ask("POST", "/members", body, key=key, headers=headers)).code == "insufficient_scope"


async def test_a_member_of_another_organisation_lends_a_key_nothing(site: Site, keys: Keys) -> None:
    """The maker is looked up where the key belongs."""
    from tests.factories import an_organisation, store_organisation

    later = site.clock.now() + 1
    other = await store_organisation(site.runtime.db, an_organisation(id="org_else", created_at=later))
    stranger = await a_maker(site, other.id, "stranger", OWNER)
    key = await a_key(site, keys.organisation, actor_of(stranger), Mode.LIVE, frozenset({Scope.ALL}))
    assert (await site.ask("GET", "/documents", key=key)).code == "insufficient_scope"


async def test_a_key_shows_the_role_that_it_acts_with(site: Site, keys: Keys) -> None:
    for maker, role in MAKERS.items():
        text = await keys.get(maker, Mode.LIVE, Scope.ALL)
        key = await api_keys.find_by_hash(site.runtime.db, api_key.hash_key(text))
        assert key is not None
        shown = await site.ok("GET", f"/api-keys/{key.id}")
        expected_role = None if maker == OPERATOR or role is None else role.value
        assert shown["createdBy"]["role"] == expected_role


# ---------- owners ----------

GONE = "gone"
ENTRANCES = (OPERATOR, OWNER.value, ADMIN.value)


@pytest.mark.parametrize("maker", ENTRANCES)
@pytest.mark.parametrize("after", [*[role.value for role in MemberRole], "named", GONE])
@pytest.mark.parametrize("before", [None, *MemberRole])
async def test_no_key_makes_changes_or_removes_an_owner(
    site: Site, keys: Keys, before: MemberRole | None, after: str, maker: str
) -> None:
    key = await keys.get(maker, Mode.LIVE, Scope.ALL)
    name = f"{before}-{after}-{maker}"
    if before is None:
        if after in ("named", GONE):
            return
        body = {"email": f"{name}@example.test", "name": "N", "role": after}
        answer = await site.ask("POST", "/members", body, key=key)
        assert answer.code == ("insufficient_scope" if after == "owner" else "201")
        return
    target = await a_maker(site, keys.organisation, name, before)
    path = f"/members/{target.id}"
    if after == GONE:
        answer = await site.ask("DELETE", path, key=key)
    else:
        answer = await site.ask(
            "PATCH", path, {"name": "M"} if after == "named" else {"role": after}, key=key
        )
    touches_owner = "owner" in (before.value, after)
    now = await members.get(site.runtime.db, target.id)
    if touches_owner:
        assert answer.code == "insufficient_scope" and "web application" in answer.body["error"]["message"]
        assert now == target
    else:
        assert answer.status == 200, answer
        assert (now is None) == (after == GONE)
        if now is not None:
            assert now.role == (before if after == "named" else after)


# ---------- test mode and what is live ----------

WRITES = [one for one in ENDPOINTS if one.method != "GET"]
WITHOUT_MODE = ("organisation", "member", "app_user", "ticket", "session", "recovery_code")
PASSING = {"usage", "mail_count", "idempotency"}  # counters; answers that are kept
VOLATILE = {"last_used_at", "last_used_ip"}
# Of what is under way meanwhile: that there is such a job, not how far it has come.
STEADY = {"outbox": ("id", "kind", "organisation_id", "mode", "document_id")}


async def live_rows(site: Site) -> dict[str, str]:
    """A fingerprint of each table that holds something live, or something of no mode."""
    db = site.runtime.db
    tables = [str(row["name"]) for row in await db.all("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {}
    for table in set(tables) - PASSING:
        columns = [str(row["name"]) for row in await db.all(f"SELECT name FROM pragma_table_info('{table}')")]
        if "mode" not in columns and table not in WITHOUT_MODE:
            continue
        where = "WHERE mode IS NOT 'test'" if "mode" in columns and table != "session" else ""
        if table == "event":  # the administrative log tells of test keys too
            where += " AND type <> 'audit.recorded'"
        kept = ", ".join(STEADY.get(table) or (one for one in columns if one not in VOLATILE))
        rows = [tuple(row) for row in await db.all(f"SELECT {kept} FROM {table} {where}")]
        found[table] = hashlib.sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()
    assert {"organisation", "member", "document", "api_key", "webhook", "template"} <= found.keys()
    return found


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def live(site: Site) -> OwnerObjects:
    """What is live, an object of each kind; nothing of it is to change."""
    owner = OwnerObjects(site, site.key, Mode.LIVE)
    for place in ("/documents/{id}", "/templates/{id}", "/webhooks/{id}", "/members/{id}"):
        await owner.id(place)
    return owner


@pytest.mark.parametrize("endpoint", WRITES, ids=name_endpoint)
async def test_a_test_key_leaves_everything_live_as_it_is(
    site: Site, keys: Keys, live: OwnerObjects, endpoint: Endpoint
) -> None:
    """Asked with ids that there are and the example of the description: nothing but the right is in the way."""
    test = OwnerObjects(site, await keys.get(OPERATOR, Mode.TEST, Scope.ALL), Mode.TEST)
    shared = ("/members", "/api-keys")
    owner = live if endpoint.path.removeprefix(V1).startswith(shared) else test
    path = await concrete(endpoint, [owner] * len(places(endpoint)))
    if endpoint.path.endswith("/api-keys/current"):
        return  # it ends itself, which is of test mode
    await site.await_jobs()
    before = await live_rows(site)
    for key in (test.key, await keys.get(OPERATOR, Mode.TEST, *EVERY)):
        answer = await site.ask(endpoint.method, path, body_of(endpoint), key=key)
        assert answer.status < 500
        if SCOPES.get(row_of(endpoint).words[0], (None, {Mode.TEST}))[1] == {Mode.LIVE}:
            assert answer.code == "insufficient_scope"
            assert "live key" in answer.body["error"]["message"]
    assert await live_rows(site) == before


async def test_a_test_key_is_not_made_with_what_only_live_keys_have(site: Site) -> None:
    from esign.actions.people.accounts import KeyWish, LiveScopeOfTestKey, create_key

    async def make(mode: Mode) -> ApiKey:
        wish = KeyWish("CI", mode, frozenset({Scope.ACCOUNT_ADMIN, Scope.DOCUMENTS_READ}))
        key, _ = await create_key(site.runtime.installation, wish)
        return key

    assert (await make(Mode.LIVE)).allows(Scope.ACCOUNT_ADMIN)
    with pytest.raises(LiveScopeOfTestKey):
        await make(Mode.TEST)
