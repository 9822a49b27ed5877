"""The command palette finds pages, documents, templates and people, and nothing that its reader could not open."""

import json
from typing import Any

import pytest

from esign.core.language import LANGUAGES
from esign.core.people.member import MemberRole
from esign.core.people.permission import Permission, has_permission
from esign.web.office.frame.words import load_words
from esign.web.office.palette.places import KEYS, PLACES, find_places
from esign.web.office.routes import TABLE
from tests.factories import an_organisation, store_organisation
from tests.web.office.visitor import Office, Visitor

WORDS = load_words("en")
GETS = {line.path: line.needs for line in TABLE if line.method == "GET"}
POSTS = {line.path: line.needs for line in TABLE if line.method == "POST"}


async def find(visitor: Visitor, q: str = "") -> dict[str, list[dict[str, Any]]]:
    """The items of each group."""
    page = await visitor.get(f"/palette?q={q}", headers={"Accept": "application/json"})
    assert page.status == 200, page.text
    return {group["name"]: group["items"] for group in json.loads(page.text)["groups"]}


async def titles(visitor: Visitor, q: str = "") -> dict[str, list[str]]:
    return {name: [one["title"] for one in items] for name, items in (await find(visitor, q)).items()}


def may(role: MemberRole) -> set[Permission]:
    return {act for act in Permission if has_permission(role, act)}


# ---------- pages, settings and actions ----------


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.key)
def test_a_place_is_there_and_asks_for_no_more_than_the_table_of_pages(place: Any) -> None:
    path = place.path.partition("?")[0].partition("#")[0]
    if place.path in (KEYS, "/api"):
        return
    needs = (POSTS if place.form is not None else GETS)[path]
    assert needs in (None, place.needs), "a page that everybody may open is offered to everybody"


# Pages without a place of their own: steps on the way in, answers to a script, and questions before a deed.
ASIDE = (
    *(
        "/sign-in",
        "/confirm",
        "/forgot",
        "/selection/",
        "/palette",
        "/contacts/suggest",
    ),
    "/docs/",
)
QUESTIONS = ("/new", "/remove", "/upload", "/back")


def test_every_page_that_has_one_address_has_a_place() -> None:
    led_to = {place.path.partition("?")[0].partition("#")[0] for place in PLACES}
    pages = {path for path in GETS if "{" not in path and path not in led_to}
    left = {
        path for path in pages if path != "/" and not path.startswith(ASIDE) and not path.endswith(QUESTIONS)
    }
    assert left == set(), "give the page a row in PLACES, or name it above"


@pytest.mark.parametrize("role", MemberRole)
def test_a_role_finds_what_it_may_open(role: MemberRole) -> None:
    found = {
        place.say_title(WORDS)
        for q in ("settings", "new", "add", "invite", "log")
        for place in find_places(q, may(role), "live", WORDS)
    }
    assert ("Your account" in found) and ("Sign out" in found)
    assert ("Webhooks" in found) == has_permission(role, Permission.SETTLE)
    assert ("Audit log" in found) == has_permission(role, Permission.OWN)
    assert ("New document" in found) == has_permission(role, Permission.WORK)


@pytest.mark.parametrize(
    ("q", "first"),
    [
        ("web", "Webhooks"),
        ("smtp", "Mail server"),
        ("api", "API keys"),
        ("TOKENS", "API keys"),
        ("2fa", "Second factor"),
        ("new doc", "New document"),
        ("switch", "Switch to test mode"),
        ("log out", "Sign out"),
        ("gdpr", "Erase personal data"),
        ("shortcuts", "Keyboard shortcuts"),
    ],
)
def test_a_place_is_found_by_the_words_people_know(q: str, first: str) -> None:
    found = find_places(q, may(MemberRole.OWNER), "live", WORDS)
    assert first in [place.say_title(WORDS) for place in found][:2]


@pytest.mark.parametrize("tag", LANGUAGES)
def test_every_title_is_found_by_itself_and_stands_once(tag: str) -> None:
    words = load_words(tag)
    assert len({place.say_title(words) for place in PLACES}) == len(PLACES)
    for place in PLACES:
        found = list(find_places(place.say_title(words), may(MemberRole.OWNER), place.mode or "live", words))
        assert found[0] == place or place in found


@pytest.mark.parametrize(
    ("tag", "typed", "path"),
    [
        ("fr", "modeles", "/templates"),
        ("fr", "api", "/settings/tokens"),
        ("pl", "domyslne", "/settings/defaults"),
        ("ar", "الاعدادات", "/settings"),
    ],
)
def test_accents_and_apostrophes_need_not_be_typed(tag: str, typed: str, path: str) -> None:
    found = find_places(typed, may(MemberRole.OWNER), "live", load_words(tag))
    assert path in [place.path for place in found]


def test_a_mode_is_offered_where_there_is_another_one() -> None:
    owner = may(MemberRole.OWNER)
    assert [place.form for place in find_places("mode", owner, "test", WORDS)] == [{"mode": "live"}]
    assert list(find_places("mode", owner, "test", WORDS, switches=False)) == []


# ---------- documents, templates and people ----------


async def test_documents_templates_and_people_are_found(office: Office) -> None:
    ada, api = await office.signed_in("Ada"), office.site.api
    one = await api.create(
        title="Lease of the boathouse", recipients=[{"name": "Orla Finn", "email": "orla@x.test"}]
    )
    await api.create(title="Minutes")
    made = await api.ok("POST", "/templates", {"fromDocumentId": one, "title": "Boathouse lease"})
    await ada.get("/contacts/new")
    await ada.post("/contacts/new", name="Boateng Osei", email="osei@x.test", company="Quay & Sons")
    found = await find(ada, "boat")
    assert list(found) == ["Documents", "Templates", "People"]
    [document], [template], [person] = found.values()
    assert document["title"] == "Lease of the boathouse" and document["to"] == f"/documents/{one}"
    assert (document["sub"], document["people"]) == ("Draft", "\u2068Orla Finn\u2069")
    assert template["title"] == "Boathouse lease" and template["to"] == f"/templates/{made['id']}"
    assert (person["title"], person["sub"], person["people"]) == (
        "Boateng Osei",
        "osei@x.test",
        "Quay & Sons",
    )
    assert (await ada.get(person["to"])).status == 200
    assert await titles(ada, "orla@x") == {"Documents": ["Lease of the boathouse"]}
    assert await titles(ada, "nothing+of+the+kind") == {}


async def test_before_anything_is_typed_what_changed_last_comes_first(office: Office) -> None:
    ada, api = await office.signed_in("Ada"), office.site.api
    made = [await api.create(title=f"Lease {n}") for n in range(7)]
    office.clock.advance(minutes=5)
    await api.ok("PATCH", f"/documents/{made[0]}", {"title": "Lease, changed"})
    found = await titles(ada)
    assert list(found) == ["Recent documents", "Go to"]
    assert found["Recent documents"] == ["Lease, changed", "Lease 6", "Lease 5", "Lease 4", "Lease 3"]
    assert found["Go to"][0] == "New document"


async def test_nothing_of_another_mode_or_organisation_is_found(office: Office) -> None:
    ada, api = await office.signed_in("Ada"), office.site.api
    made = await api.create(title="Lease of the boathouse")
    await api.ok("POST", "/templates", {"fromDocumentId": made, "title": "Lease of the boathouse"})
    await ada.get("/contacts/new")
    await ada.post("/contacts/new", name="Lea Lease", email="lea@x.test")
    assert {"Documents", "Templates", "People"} <= set(await titles(ada, "lease"))
    other = (await store_organisation(office.runtime.db, an_organisation(id="org_other"))).id
    stranger = await office.signed_in("Stranger", MemberRole.OWNER, other)
    assert await titles(stranger, "lease") == {} and "Recent documents" not in await titles(stranger)
    await ada.post("/mode", mode="test")
    assert await titles(ada, "lease") == {} and "Recent documents" not in await titles(ada)


async def test_a_viewer_finds_documents_and_no_people(office: Office) -> None:
    ada, vera = await office.signed_in("Ada"), await office.signed_in("Vera", MemberRole.VIEWER)
    await office.site.api.create(title="Lease")
    await ada.get("/contacts/new")
    await ada.post("/contacts/new", name="Lea Lease", email="lea@x.test")
    assert await titles(vera, "lease") == {"Documents": ["Lease"]}
    assert "New document" not in (await titles(vera))["Go to"]


async def test_an_address_without_a_session_or_with_nonsense_finds_nothing(office: Office) -> None:
    nobody = await office.visitor().get("/palette?q=a", headers={"Accept": "application/json"})
    assert nobody.to.startswith("/sign-in")
    ada = await office.signed_in("Ada")
    assert (await ada.get(f"/palette?q={'x' * 101}", headers={"Accept": "application/json"})).status == 400
    for q in ("%25", "_", "'", "\\", "a", "%F0%9F%98%80", "lease%20OR%20*"):
        assert (await ada.get(f"/palette?q={q}", headers={"Accept": "application/json"})).status == 200, q
