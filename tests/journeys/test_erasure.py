"""Erasing what is kept of one person: what goes, what stays and why, and that it goes on where it was stopped."""

import json
from dataclasses import replace
from typing import Any, TypeVar, cast

import pytest

from esign.actions.base.caller import Caller
from esign.actions.people import erase_person
from esign.actions.verification import verify_trails
from esign.core.actor import Actor, Author, Mode, Origin, Owner
from esign.core.document.erasure import ErasureRequest, Fate
from esign.jobs import erase, prune
from esign.store.engine.database import Database, Write
from esign.store.people import erasings, organisations
from esign.system.vault import Vault
from tests.fakes import FakeClock
from tests.journeys.api import Api
from tests.journeys.site import JourneySite

T = TypeVar("T")

ADA, BOB = "ada@example.test", "bob@example.test"
OWNER = Actor("member", "mem_1", "Maren Holt", "maren@example.test")
WITH_BOB = {
    "recipients": [
        {"name": "Ada Lovelace", "email": "Ada@Example.test"},
        {"name": "Bob Noyce", "email": BOB},
    ]
}
ONLY_BOB = {"recipients": [{"name": "Bob Noyce", "email": BOB}]}


async def owner(site: JourneySite, mode: Mode = Mode.LIVE) -> Owner:
    found = await organisations.find_first(site.runtime.db)
    assert found
    return Owner(found.id, mode)


async def caller(site: JourneySite) -> Caller:
    return Caller(await owner(site), Author(OWNER, Origin("127.0.0.1")))


async def cancel_document(api: Api, **changes: Any) -> str:
    document = await api.send_document(**changes)
    await api.ok("POST", f"/documents/{document}/cancel")
    return document


async def request_erasure(site: JourneySite, email: str, *, shared: bool) -> ErasureRequest:
    """As it stands after it was asked for and carried out."""
    advance(site)
    await erase_person.request_erasure(site.runtime, await caller(site), email, shared)
    await erase.tick(site.runtime)
    return (await erase_person.list_recent(site.runtime, await owner(site)))[0]


def advance(site: JourneySite) -> None:
    clock = site.runtime.clock.source
    assert isinstance(clock, FakeClock)
    clock.advance(milliseconds=1)


async def there(api: Api, *ids: str) -> list[bool]:
    return [(await api.call("GET", f"/documents/{id}")).status == 200 for id in ids]


async def mentions(site: JourneySite, text: str) -> set[str]:
    """The tables in which a text still stands, in whatever column."""
    db = site.runtime.db
    names = [
        row["name"] for row in await db.all("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%'")
    ]
    found = set()
    for name in names:
        for row in await db.all(f"SELECT * FROM {name}"):
            if any(text.casefold() in str(value).casefold() for value in dict(row).values()):
                found.add(name)
    return found


async def assert_chains_hold(site: JourneySite) -> None:
    chains = [chain async for chain in verify_trails.recompute(site.runtime.db, site.runtime.vault)]
    assert chains and not any(chain.broken for chain in chains)


async def test_what_is_hers_alone_goes_and_nothing_of_her_is_left_but_what_happened(
    site: JourneySite, clock: FakeClock
) -> None:
    trial = await site.key(mode=Mode.TEST)
    mine = [
        await site.complete_document(),
        await cancel_document(site.api),
        await site.api.create(),
        await cancel_document(trial),
    ]
    kept = [await site.api.create(**ONLY_BOB), await site.complete_document(**ONLY_BOB)]
    found = await erase_person.preview_erasure(site.runtime, await owner(site), "ADA@example.test")
    assert (found.documents, found.alone, found.with_others, found.more) == (4, 4, 0, False)
    done = await request_erasure(site, "ADA@example.test", shared=False)
    assert (done.erased, done.kept, done.email) == (4, 0, None) and done.finished_at is not None
    assert await there(site.api, *mine[:3], *kept) == [False] * 3 + [True] * 2
    assert await there(trial, mine[3]) == [False]
    clock.advance(days=2)
    await prune.tick(site.runtime)
    assert await mentions(site, ADA) == set()
    await assert_chains_hold(site)
    for id in mine:
        rows = await site.runtime.db.all(
            "SELECT type, actor_kind, actor_id, personal FROM audit WHERE document_id = :id ORDER BY seq",
            id=id,
        )
        assert (rows[-1]["type"], rows[-1]["actor_id"]) == ("document.deleted", "mem_1")
        assert not any(row["personal"] for row in rows)
    events = await site.runtime.db.all("SELECT body FROM event WHERE type = 'document.deleted'")
    assert {json.loads(row["body"])["data"]["document"]["id"] for row in events} == set(mine)


async def test_what_is_open_under_retention_or_others_stays_and_is_counted(
    site: JourneySite, clock: FakeClock
) -> None:
    sealed = await site.complete_document()
    await site.api.ok("PATCH", "/settings", {"retainCompletedDays": 30})
    opened, both, gone = (
        await site.api.send_document(),
        await cancel_document(site.api, **WITH_BOB),
        await cancel_document(site.api),
    )
    found = await erase_person.preview_erasure(site.runtime, await owner(site), ADA)
    assert (found.documents, found.alone, found.with_others) == (4, 1, 1)
    assert (found.fates[Fate.OPEN], found.fates[Fate.LOCKED]) == (1, 1)
    done = await request_erasure(site, ADA, shared=False)
    assert (done.erased, done.open, done.locked, done.others) == (1, 1, 1, 1)
    assert await there(site.api, sealed, opened, both, gone) == [True, True, True, False]

    await site.api.ok("POST", f"/documents/{opened}/cancel")
    clock.advance(days=30)
    done = await request_erasure(site, ADA, shared=True)
    assert (done.erased, done.kept) == (3, 0)
    assert await there(site.api, sealed, opened, both) == [False] * 3
    await assert_chains_hold(site)
    again = await request_erasure(site, ADA, shared=True)
    assert (again.erased, again.kept) == (0, 0), "asking twice does nothing"


class Stopped(Exception):
    """The program ends here."""


class Frail(Vault):
    """Fails at every third mac: inside a transaction, before its document is erased."""

    def __init__(self, sound: Vault) -> None:
        self.__dict__.update(sound.__dict__)
        self.asked = 0

    def compute_mac(self, purpose: str, message: bytes) -> bytes:
        self.asked += 1
        if self.asked % 3 == 0:
            raise Stopped
        return super().compute_mac(purpose, message)


class Cracked:
    """A database that fails after every second commit, or after one: when a document was erased."""

    def __init__(self, sound: Database, fails_at: int | None = None) -> None:
        self.sound = sound
        self.fails_at = fails_at
        self.commits = 0

    async def write(self, write: Write[T]) -> T:
        result = await self.sound.write(write)
        self.commits += 1
        if self.commits == self.fails_at or (self.fails_at is None and self.commits % 2 == 0):
            raise Stopped
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sound, name)


async def test_whatever_stops_it_it_goes_on_behind_the_last_document(site: JourneySite) -> None:
    for _ in range(7):
        await cancel_document(site.api)
    both = await cancel_document(site.api, **WITH_BOB)
    await erase_person.request_erasure(site.runtime, await caller(site), ADA, False)
    frail = replace(site.runtime, vault=Frail(site.runtime.vault), db=cast(Any, Cracked(site.runtime.db)))
    stops = 0
    while await erasings.find_unfinished(site.runtime.db, site.runtime.vault):
        try:
            await erase.tick(frail)
        except* Stopped:
            stops += 1
        [asked] = await erase_person.list_recent(site.runtime, await owner(site))
        left = (await site.api.ok("GET", "/documents"))["data"]
        assert asked.erased == 8 - len(left), "what is told is what went"
    [asked] = await erase_person.list_recent(site.runtime, await owner(site))
    assert stops >= 5 and (asked.erased, asked.others) == (7, 1) and asked.finished_at is not None
    assert await there(site.api, both) == [True]
    await assert_chains_hold(site)


async def test_one_that_fails_holds_up_no_other(site: JourneySite) -> None:
    documents = [await cancel_document(site.api), await cancel_document(site.api, **ONLY_BOB)]
    for email in (ADA, BOB):
        await erase_person.request_erasure(site.runtime, await caller(site), email, False)
    with pytest.raises(ExceptionGroup, match="not everybody"):
        await erase.tick(replace(site.runtime, db=cast(Any, Cracked(site.runtime.db, fails_at=1))))
    assert await there(site.api, *documents) == [False, False]
    assert len(await erasings.find_unfinished(site.runtime.db, site.runtime.vault)) == 1
    assert await erase.tick(site.runtime) == 0
    assert await erasings.find_unfinished(site.runtime.db, site.runtime.vault) == []


async def test_another_organisation_and_who_is_no_recipient_any_more_are_not_touched(
    site: JourneySite,
) -> None:
    document = await site.api.send_document()
    recipient = (await site.api.get(document))["recipients"][0]["id"]
    await site.api.ok(
        "PATCH", f"/documents/{document}/recipients/{recipient}", {"email": BOB, "name": "Bob Noyce"}
    )
    await site.api.ok("POST", f"/documents/{document}/cancel")
    assert (await request_erasure(site, ADA, shared=True)).erased == 0
    elsewhere = Owner("org_other", Mode.LIVE)
    assert [
        one
        async for one in erase_person.walk_documents(
            site.runtime, elsewhere.organisation_id, BOB, Mode.LIVE, erase_person.START
        )
    ] == []
    assert await there(site.api, document) == [True]


async def test_a_document_that_another_deletes_meanwhile_is_nobodys_to_count(site: JourneySite) -> None:
    ids = [await cancel_document(site.api) for _ in range(2)]
    await erase_person.request_erasure(site.runtime, await caller(site), ADA, False)
    walked = erase_person.walk_documents(
        site.runtime, (await owner(site)).organisation_id, ADA, Mode.LIVE, erase_person.START
    )
    mode, first = await anext(walked)
    await site.api.ok("DELETE", f"/documents/{first.id}")
    [running] = await erasings.find_unfinished(site.runtime.db, site.runtime.vault)
    assert await erase_person.erase_document(site.runtime, running, mode, first) is None
    await erase.tick(site.runtime)
    [done] = await erase_person.list_recent(site.runtime, await owner(site))
    assert (done.erased, done.kept) == (1, 0)
    assert await there(site.api, *ids) == [False, False]


async def test_mails_to_an_address_that_was_corrected_go_with_their_document(site: JourneySite) -> None:
    document = await site.api.send_document()
    await site.work("mail")
    recipient = (await site.api.get(document))["recipients"][0]["id"]
    await site.api.ok(
        "PATCH", f"/documents/{document}/recipients/{recipient}", {"email": BOB, "name": "Bob Noyce"}
    )
    await site.work("mail")
    await site.api.ok("POST", f"/documents/{document}/cancel")
    await site.work("mail")
    kept = await site.runtime.db.all("SELECT recipient FROM kept_mail")
    assert sum(ADA in row["recipient"] for row in kept) == 2
    assert (await request_erasure(site, BOB, shared=False)).erased == 1
    assert await site.runtime.db.all("SELECT recipient FROM kept_mail") == []
    assert "kept_mail" not in await mentions(site, ADA)


async def test_the_reference_of_the_caller_goes_with_the_document(site: JourneySite) -> None:
    hook = {
        "url": "http://127.0.0.1:65000/",
        "events": ["document.deleted", "document.sent", "document.created"],
    }
    await site.api.ok("POST", "/webhooks", hook)
    first, second = "case zq4711", "case zq4712"
    document = await site.api.create(externalId=first)
    await site.api.ok("PATCH", f"/documents/{document}", {"externalId": second}, idempotency_key="k")
    await site.api.ok("POST", f"/documents/{document}/send", {})
    await site.api.ok("POST", f"/documents/{document}/cancel")
    assert {"document", "event"} <= await mentions(site, second)
    await site.api.ok("DELETE", f"/documents/{document}", idempotency_key="d")
    await site.work()
    assert await mentions(site, first) == set() == await mentions(site, second)
    told = await site.api.ok("GET", "/events")
    assert "zq471" not in json.dumps(told)
    [deleted] = [event for event in told["data"] if event["type"] == "document.deleted"]
    assert deleted["data"] == {"document": {"id": document, "externalId": None}}
    replayed = await site.api.call(
        "PATCH", f"/documents/{document}", {"externalId": second}, idempotency_key="k"
    )
    assert b"zq471" not in replayed.content
    found = await site.api.ok("GET", "/documents?q=zq471")
    assert found["data"] == []
