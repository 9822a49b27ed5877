"""Every endpoint × everybody who may not use it (T21), made from the table of endpoints: a new one is in it at once.

What a new path parameter needs is a line in `MAKERS`: how a program makes an object with such an id.
"""

import asyncio
import re
import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio

from esign.core.actor import Mode
from esign.core.people import api_key
from esign.core.people.api_key import LIVE_ONLY, Scope
from esign.store.engine.database import Transaction
from esign.store.people import api_keys
from esign.web.api.endpoint_table import ENDPOINTS
from esign.web.rest import V1
from esign.web.rest.endpoint import ApiRoute, Endpoint
from tests.api.site import Site, SiteAnswer, a_request
from tests.factories import an_organisation, store_organisation

pytestmark = pytest.mark.asyncio(loop_scope="module")

METHODS = ("GET", "POST", "PATCH", "DELETE", "PUT", "OPTIONS", "TRACE")
CELLS = 1_200


# ---------- what there is to ask for ----------

Ids = dict[str, str]


@dataclass
class OwnerObjects:
    """An organisation in one mode, with one object of each kind, made when it is first asked for."""

    site: Site
    key: str
    mode: Mode
    ids: Ids = field(default_factory=dict)

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        return await self.site.ok(method, path, body, key=self.key)

    async def id(self, place: str) -> str:
        """The id at the end of a path such as `/documents/{id}`."""
        if place not in self.ids:
            if place not in MAKERS:
                raise AssertionError(f"MAKERS has no line for {place}")
            self.ids[place] = await MAKERS[place](self)
        return self.ids[place]


async def a_document(owner: OwnerObjects) -> str:
    made = await owner.call("POST", "/documents", a_request())
    return str((await owner.call("POST", f"/documents/{made['id']}/send"))["id"])


async def a_recipient(owner: OwnerObjects) -> str:
    return str(
        (await owner.call("GET", f"/documents/{await owner.id('/documents/{id}')}"))["recipients"][0]["id"]
    )


async def a_template(owner: OwnerObjects) -> str:
    body = {"fromDocumentId": await owner.id("/documents/{id}")}
    return str((await owner.call("POST", "/templates", body))["id"])


async def a_webhook(owner: OwnerObjects) -> str:
    body = {"url": "https://ok.test/", "events": ["template.deleted"]}
    return str((await owner.call("POST", "/webhooks", body))["id"])


async def a_delivery(owner: OwnerObjects) -> str:
    return str((await owner.call("POST", f"/webhooks/{await owner.id('/webhooks/{id}')}/test"))["deliveryId"])


async def an_event(owner: OwnerObjects) -> str:
    await owner.id("/documents/{id}")
    return str((await owner.call("GET", "/events?limit=1"))["data"][0]["id"])


async def a_member(owner: OwnerObjects) -> str:
    body = {"email": f"{owner.mode}@example.test", "name": "Ada", "role": "member"}
    return str((await owner.call("POST", "/members", body))["id"])


async def a_key(owner: OwnerObjects) -> str:
    return str((await owner.call("GET", "/account"))["key"]["id"])


async def a_variant(owner: OwnerObjects) -> str:
    return "original"


MAKERS: dict[str, Callable[[OwnerObjects], Awaitable[str]]] = {
    "/documents/{id}": a_document,
    "/documents/{id}/files/{variant}": a_variant,
    "/documents/{id}/recipients/{rid}": a_recipient,
    "/test/documents/{id}": a_document,
    "/templates/{id}": a_template,
    "/webhooks/{id}": a_webhook,
    "/webhooks/{id}/deliveries/{did}": a_delivery,
    "/events/{id}": an_event,
    "/members/{id}": a_member,
    "/api-keys/{id}": a_key,
}
WITHOUT_MODE = {"/members/{id}"}
NO_OBJECT = {"/documents/{id}/files/{variant}"}


def places(endpoint: Endpoint) -> list[str]:
    """The paths up to each parameter: `/documents/{id}`, `/documents/{id}/recipients/{rid}`."""
    path = endpoint.path.removeprefix(V1)
    return [path[: found.end()] for found in re.finditer(r"\{\w+\}", path)]


async def concrete(endpoint: Endpoint, owners: Sequence[OwnerObjects | None]) -> str:
    """The path with the id of each place from its owner; None: an id that nobody has."""
    path = endpoint.path.removeprefix(V1)
    for place, owner in zip(places(endpoint), owners, strict=True):
        known = await owner.id(place) if owner is not None else ""
        parameter = re.findall(r"\{\w+\}", place)[-1]
        path = path.replace(parameter, known or UNKNOWN.get(place, "xyz_") + "0" * 26, 1)
    return path


UNKNOWN = {place: f"{place.split('/')[-2][:3]}_" for place in MAKERS}


def body_of(endpoint: Endpoint) -> Any:
    """The example of the description, which every check of the schema lets through."""
    model = ApiRoute(endpoint).body
    if model is None or endpoint.method == "GET":
        return None
    extra: Any = model.model_config.get("json_schema_extra") or {}
    return next(iter(extra.get("examples", [{}])))


WRITES = [e for e in ENDPOINTS if e.method != "GET"]
KEYED = [e for e in ENDPOINTS if not e.public]
WITH_ID = [e for e in ENDPOINTS if set(places(e)) - NO_OBJECT]
BARE = [e for e in ENDPOINTS if e.public]


def name_endpoint(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path.removeprefix(V1)}"


def needs_test_key(endpoint: Endpoint) -> bool:
    return endpoint.path.startswith(f"{V1}/test/")


# ---------- who asks ----------


@dataclass
class MatrixPeople:
    """The owners, and keys that open nothing."""

    here: dict[Mode, OwnerObjects]
    elsewhere: dict[Mode, OwnerObjects]
    scoped: dict[tuple[Scope, Mode], str]
    revoked: str
    expired: str
    poor: str

    def asking(self, endpoint: Endpoint) -> OwnerObjects:
        return self.here[Mode.TEST if needs_test_key(endpoint) else Mode.LIVE]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def people(site: Site) -> MatrixPeople:
    later = site.clock.now() + 1  # a key is made for the organisation that is the oldest
    other = await store_organisation(site.runtime.db, an_organisation(created_at=later))
    poor = await store_organisation(
        site.runtime.db, an_organisation(id="org_poor", plan="team", created_at=later)
    )

    async def owner(mode: Mode, organisation: str | None) -> OwnerObjects:
        return OwnerObjects(site, await site.new_key(mode=mode, organisation=organisation), mode)

    revoked, expired = await site.new_key(), await site.new_key(days=1)
    found = await api_keys.find_by_hash(site.runtime.db, api_key.hash_key(revoked))
    assert found is not None

    async def revoke(tx: Transaction) -> None:
        await api_keys.revoke(tx, found.id, site.clock.now())

    await site.runtime.db.write(revoke)
    site.clock.advance(days=1)
    return MatrixPeople(
        here={mode: await owner(mode, None) for mode in Mode},
        elsewhere={mode: await owner(mode, other.id) for mode in Mode},
        scoped={
            (scope, mode): await site.new_key(scope, mode=mode)
            for scope in Scope
            for mode in Mode
            if mode is Mode.LIVE or scope not in LIVE_ONLY
        },
        revoked=revoked,
        expired=expired,
        poor=await site.new_key(organisation=poor.id),
    )


async def ask_endpoint(
    site: Site, endpoint: Endpoint, path: str, key: str | None, body: Any = None
) -> SiteAnswer:
    return await site.ask(endpoint.method, path, body, key=key)


# ---------- the cells ----------


@pytest.mark.parametrize("endpoint", KEYED, ids=name_endpoint)
async def test_without_a_key_that_is_good_today_nothing_is_answered(
    site: Site, people: MatrixPeople, endpoint: Endpoint
) -> None:
    owner = people.asking(endpoint)
    path = await concrete(endpoint, [owner] * len(places(endpoint)))
    wrong = owner.key[:-1] + ("0" if owner.key[-1] != "0" else "1")
    link_token = "A" * 43
    cases: dict[str | None, str] = {
        None: "missing_api_key",
        wrong: "invalid_api_key",
        link_token: "invalid_api_key",
        api_key.compose_key(Mode.LIVE, "0" * 30): "invalid_api_key",
        api_key.compose_key(Mode.TEST, "0" * 30): "invalid_api_key",
        people.revoked: "api_key_revoked",
        people.expired: "api_key_expired",
        people.poor: "plan_required",
    }
    for key, code in cases.items():
        for body in (None, body_of(endpoint)):
            answer = await ask_endpoint(site, endpoint, path, key, body)
            assert (answer.status, answer.code) == (401, code)
            assert answer.headers["www-authenticate"].startswith('Bearer realm="api"')
            assert "ratelimit" not in answer.headers


@pytest.mark.parametrize("endpoint", KEYED, ids=name_endpoint)
async def test_each_scope_opens_what_the_contract_says_and_nothing_else(
    site: Site, people: MatrixPeople, endpoint: Endpoint
) -> None:
    """Asked so that the next check refuses: nobody's id, and text where JSON belongs."""
    path = await concrete(endpoint, [None] * len(places(endpoint)))
    mode = people.asking(endpoint).mode
    text: dict[str, Any] = {"data": b"x", "headers": {"Content-Type": "text/plain"}}
    for scope in Scope:
        if (scope, mode) not in people.scoped:
            continue
        given = {} if endpoint.method == "GET" else text
        answer = await site.ask(endpoint.method, path, key=people.scoped[scope, mode], **given)
        if endpoint.scope in (None, scope) or scope is Scope.ALL:
            expected = ("200", "404") if endpoint.method == "GET" else ("unsupported_media_type",)
            assert answer.code in expected or answer.status in (200, 404), answer
        else:
            assert (answer.status, answer.code) == (401, "insufficient_scope")
            assert "ratelimit" in answer.headers  # whose key it is, is known
            challenge = f'Bearer realm="api", error="insufficient_scope", scope="{endpoint.scope}"'
            assert answer.headers["www-authenticate"] == challenge
            assert str(endpoint.scope) in answer.body["error"]["message"]


def compare_answer(answer: SiteAnswer) -> tuple[int, Any, dict[str, str]]:
    """All of an answer but what differs from request to request."""
    body = answer.body
    error = {name: value for name, value in body.get("error", body).items() if name != "requestId"}
    changing = re.compile("x-request-id|date|x?-?ratelimit.*")
    return answer.status, error, {n: v for n, v in answer.headers.items() if not changing.fullmatch(n)}


@pytest.mark.parametrize("endpoint", WITH_ID, ids=name_endpoint)
async def test_what_belongs_to_somebody_else_is_answered_like_what_nobody_has(
    site: Site, people: MatrixPeople, endpoint: Endpoint
) -> None:
    owner = people.asking(endpoint)
    where, body = places(endpoint), body_of(endpoint)
    other_mode = people.here[Mode.LIVE if owner.mode is Mode.TEST else Mode.TEST]
    foreign = [people.elsewhere[owner.mode]]
    if where[0] not in WITHOUT_MODE:  # what has no mode is made with live keys alone
        foreign += [people.elsewhere[other_mode.mode], other_mode]
    depths = [n for n, place in enumerate(where) if place not in NO_OBJECT]
    paths = {
        (depth, number): await concrete(endpoint, [owner] * depth + [stranger] * (len(where) - depth))
        for depth in depths
        for number, stranger in enumerate(foreign)
    }
    await site.await_jobs()
    before = await everything(site)
    for depth in depths:
        unknown_path = await concrete(endpoint, [owner] * depth + [None] + [owner] * (len(where) - depth - 1))
        for headers in ({}, {"If-Match": '"99"'}, {"Idempotency-Key": "foreign"}):
            unknown = await site.ask(endpoint.method, unknown_path, body, key=owner.key, headers=headers)
            assert (unknown.status, unknown.code) == (404, "not_found"), unknown
            for number in range(len(foreign)):
                path = paths[depth, number]
                answer = await site.ask(endpoint.method, path, body, key=owner.key, headers=headers)
                assert compare_answer(answer) == compare_answer(unknown)
                assert len(answer.content) == len(unknown.content)
        assert await everything(site) == before


async def everything(site: Site) -> list[int]:
    """How much there is of what a request could add to or take away."""
    tables = ("document", "recipient", "audit", "link", "event", "outbox", "template", "webhook", "member")
    rows = [await site.runtime.db.one(f"SELECT count(*) AS n FROM {table}") for table in tables]
    return [row["n"] for row in rows if row is not None]


@pytest.mark.parametrize("endpoint", WITH_ID, ids=name_endpoint)
async def test_the_owner_is_not_turned_away_by_the_same_request(
    site: Site, people: MatrixPeople, endpoint: Endpoint
) -> None:
    """Or all of the above would prove nothing; with a stale revision nothing is done where one is looked at."""
    owner = people.asking(endpoint)
    path = await concrete(endpoint, [owner] * len(places(endpoint)))
    text: dict[str, Any] = {"data": b"x", "headers": {"Content-Type": "text/plain"}}
    given = {} if endpoint.method == "GET" else text
    answer = await site.ask(endpoint.method, path, key=owner.key, **given)
    assert (
        answer.status in (200, 409) if endpoint.method == "GET" else answer.code == "unsupported_media_type"
    )


# ---------- ids elsewhere than in the path ----------


async def test_a_foreign_id_in_a_body_or_a_query_is_as_unknown_as_any(
    site: Site, people: MatrixPeople
) -> None:
    owner, stranger = people.here[Mode.LIVE], people.elsewhere[Mode.LIVE]
    document = await stranger.id("/documents/{id}")
    nobody = "doc_" + "0" * 26

    async def template(source: str) -> SiteAnswer:
        return await site.ask("POST", "/templates", {"fromDocumentId": source}, key=owner.key)

    assert compare_answer(await template(document)) == compare_answer(await template(nobody))
    assert (await template(document)).status in (400, 404)
    own = await owner.id("/documents/{id}")
    recipient, unknown = await stranger.id("/documents/{id}/recipients/{rid}"), "rcp_" + "0" * 26

    async def remind(who: str) -> SiteAnswer:
        return await site.ask("POST", f"/documents/{own}/remind", {"recipientIds": [who]}, key=owner.key)

    assert compare_answer(await remind(recipient)) == compare_answer(await remind(unknown))
    assert (await remind(recipient)).places == {("/recipientIds/0", "reference")}
    template_id = await stranger.id("/templates/{id}")
    for query, foreign in (("events?documentId=", document), ("documents?templateId=", template_id)):
        nobody_s = foreign[:4] + "0" * 26
        found, unknown_s = [
            await site.ask("GET", f"/{query}{asked}", key=owner.key) for asked in (foreign, nobody_s)
        ]
        assert (
            found.status == 200
            and found.body["data"] == []
            and compare_answer(found) == compare_answer(unknown_s)
        )


# ---------- what is not there ----------


@pytest.mark.parametrize("path", sorted({e.path.removeprefix(V1) for e in ENDPOINTS}))
async def test_every_other_method_is_not_found_and_told_which_there_are(
    site: Site, people: MatrixPeople, path: str
) -> None:
    known = {e.method for e in ENDPOINTS if e.path == V1 + path}
    public = any(e.public for e in ENDPOINTS if e.path == V1 + path)
    concretely = re.sub(r"\{\w+\}", "x" * 30, path)
    owner = people.here[Mode.TEST if path.startswith("/test/") else Mode.LIVE]
    for method in (m for m in METHODS if m not in known):
        answer = await site.ask(method, concretely, key=owner.key)
        assert (answer.status, answer.code) == (404, "not_found")
        allowed = known | ({"HEAD"} if "GET" in known else set())
        assert set(answer.headers["allow"].split(", ")) == allowed
        if not public:
            assert (await site.ask(method, concretely, key=None)).code == "missing_api_key"


@pytest.mark.parametrize("path", sorted({e.path.removeprefix(V1) for e in ENDPOINTS}))
async def test_a_path_beside_a_known_one_is_not_found(site: Site, people: MatrixPeople, path: str) -> None:
    key = people.here[Mode.LIVE].key
    concretely = re.sub(r"\{\w+\}", "x" * 30, path)
    for beside in (f"{concretely}/", f"{concretely}/nothing", concretely.upper(), f"{concretely}%20"):
        if any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", e.path), V1 + beside) for e in ENDPOINTS):
            continue
        answer = await site.ask("GET", beside, key=key)
        assert (answer.status, answer.code) == (404, "not_found") and "allow" not in answer.headers, beside
        assert (await site.ask("GET", beside, key=None)).code == "missing_api_key"


async def test_the_time_of_the_answer_does_not_tell_a_foreign_id_from_an_unknown_one(
    site: Site, people: MatrixPeople
) -> None:
    owner = people.here[Mode.LIVE]
    foreign = f"/documents/{await people.elsewhere[Mode.LIVE].id('/documents/{id}')}"
    times: dict[str, list[float]] = {foreign: [], f"/documents/doc_{'0' * 26}": []}
    for _ in range(250):
        for path, spent in times.items():
            began = asyncio.get_running_loop().time()
            async with site.session.get(
                f"{site.base}{V1}{path}", headers={"Authorization": f"Bearer {owner.key}"}
            ) as answer:
                await answer.read()
            spent.append(asyncio.get_running_loop().time() - began)
            assert answer.status == 404
    one, other = (statistics.median(spent) for spent in times.values())
    assert abs(one - other) < 0.002


async def test_the_matrix_grew_with_the_endpoints() -> None:
    """Each endpoint with a key is asked 16 times without a good one and once for each scope."""
    assert len(KEYED) * (16 + len(Scope)) + len(WITH_ID) * 9 >= CELLS
