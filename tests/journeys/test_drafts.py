"""What is entered before finishing, at a running server: kept, told to other tabs, gone when it is of no use."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from esign.core.instant import DAY
from esign.jobs import expire
from esign.store.document import signing_drafts
from tests.fakes import FakeClock
from tests.journeys.api import Answer, Person, a_signature
from tests.journeys.site import JourneySite

ADA = {"name": "Ada Lovelace", "email": "ada@example.test"}
BO = {"name": "Bo Weber", "email": "bo@example.test"}
FIELD = {"type": "text", "page": 1, "x": 10, "y": 10, "width": 30, "height": 3}
DOT = "data:image/png;base64,iVBORw0KGgo="


async def send_to_two(site: JourneySite, *types: str, **more: Any) -> tuple[str, list[str], Person]:
    """A document sent to Ada and Bo at once: its id, the ids of Ada's fields, and Ada."""
    fields = [{**FIELD, "type": kind, "y": 10 + 5 * n} for n, kind in enumerate(types or ("text",))]
    recipients = [{**ADA, "fields": fields, **more}, {**BO, "fields": [FIELD]}]
    document = await site.api.send_document(recipients=recipients)
    await site.work("mail")
    ids = [field["id"] for field in (await site.api.get(document))["recipients"][0]["fields"]]
    return document, ids, await site.person(ADA["email"])


async def enter(
    person: Person, values: Mapping[str, Any] | None = None, *, since: int = 0, at: int = 1
) -> Answer:
    given = {id: {"at": at, "value": value} for id, value in (values or {}).items()}
    return await person.post("draft", {"since": since, "values": given})


async def count_drafts(site: JourneySite) -> int:
    return len(await site.runtime.db.all("SELECT 1 FROM draft"))


async def everything(site: JourneySite) -> dict[str, list[Any]]:
    """Every row of every table but the drafts."""
    tables = await site.runtime.db.all("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = [row["name"] for row in tables if row["name"] != "draft" and "search" not in row["name"]]
    return {
        name: [tuple(row) for row in await site.runtime.db.all(f"SELECT * FROM {name}")] for name in names
    }


def in_page(page: str) -> Any:
    """The draft as the page brings it to its script."""
    found = re.search(r'<template id="draft">(.*?)</template>', page)
    assert found
    return json.loads(found[1])


async def test_what_was_entered_stands_in_the_page_wherever_the_link_is_opened(
    site: JourneySite, clock: FakeClock
) -> None:
    _, (text, box, ink, again), ada = await send_to_two(site, "text", "checkbox", "signature", "signature")
    drawn = {"kind": "drawn", "picture": DOT}
    now = clock.now()
    answer = await enter(
        ada, {text: "<b>Linden", box: True, ink: drawn, again: {**drawn, "picture": ink}}, at=now
    )
    assert (answer.status, answer.body) == (200, {"state": "open", "now": now, "revision": 1, "values": {}})
    page = (await ada.open()).content.decode()
    assert 'value="&lt;b&gt;Linden"' in page
    shown = in_page(page)
    assert (shown["now"], shown["revision"]) == (now, 1)
    assert shown["values"][text] == {"at": now, "value": "<b>Linden"}
    assert shown["values"][again]["value"] == {"kind": "drawn", "picture": ink}
    assert page.count(DOT) == 1


async def test_the_newer_value_wins_and_the_other_tab_is_told(site: JourneySite, clock: FakeClock) -> None:
    _, (one, two), ada = await send_to_two(site, "text", "text")
    now = clock.now()
    assert (await enter(ada, {one: "from the desk"}, at=now)).body["revision"] == 1
    late = await enter(ada, {one: "from the phone, entered before", two: "new"}, at=now - 9)
    assert late.body["revision"] == 2
    assert late.body["values"] == {one: {"at": now, "value": "from the desk"}}
    seen = await enter(ada, since=1)
    assert seen.body["values"] == {two: {"at": now - 9, "value": "new"}}
    assert (await enter(ada, since=2)).body == {"state": "open", "now": now, "revision": 2, "values": {}}


async def test_a_draft_changes_nothing_else_and_asking_for_news_changes_nothing(site: JourneySite) -> None:
    _, (text,), ada = await send_to_two(site)
    before = await everything(site)
    for _ in range(2):
        assert (await enter(ada)).status == 200
    assert await count_drafts(site) == 0
    assert (await enter(ada, {text: "Linden Row"})).status == 200
    for path in ("", "/status", "/original.pdf", "/pages/1.webp"):
        assert (await ada.get(path)).status == 200
    assert await count_drafts(site) == 1
    assert await everything(site) == before


async def test_what_was_entered_cannot_be_read_without_the_key(site: JourneySite) -> None:
    _, (text,), ada = await send_to_two(site)
    await enter(ada, {text: "Linden Row"})
    (row,) = await site.runtime.db.all("SELECT recipient_id, content FROM draft")
    assert b"Linden" not in row["content"] and b"revision" not in row["content"]
    stored = await signing_drafts.get(site.runtime.db, row["recipient_id"], site.runtime.vault)
    assert stored.entries[text].value == "Linden Row"


async def test_only_ones_own_fields_are_taken_and_nothing_of_a_batch_with_others(site: JourneySite) -> None:
    document, (text,), ada = await send_to_two(site)
    foreign = (await site.api.get(document))["recipients"][1]["fields"][0]["id"]
    answer = await enter(ada, {text: "mine", foreign: "not mine"})
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert [detail["path"] for detail in answer.body["error"]["details"]] == [f"/values/{foreign}"]
    assert await count_drafts(site) == 0


async def test_more_than_finishing_takes_is_not_kept_either(site: JourneySite) -> None:
    _, ids, ada = await send_to_two(site, "text", "text", "text")
    for id in ids[:2]:
        assert (await enter(ada, {id: "x" * 900_000})).status == 200
    answer = await enter(ada, {ids[2]: "x" * 900_000})
    assert (answer.status, answer.code) == (400, "request_too_large")
    assert (await enter(ada, {ids[2]: "short"})).status == 200


async def test_finishing_and_declining_end_the_draft(site: JourneySite) -> None:
    _, (text,), ada = await send_to_two(site)
    bo = await site.person(BO["email"])
    await enter(ada, {text: "Linden Row"})
    assert await count_drafts(site) == 1
    await ada.sign({text: "Linden Row", "signature": a_signature()})
    assert await count_drafts(site) == 0
    late = await enter(ada, {text: "too late"})
    assert late.body["state"] == "waiting" and "values" in late.body and await count_drafts(site) == 0
    await bo.decline()
    assert (await enter(bo)).body["state"] == "declined"


@pytest.mark.parametrize("end", ["decline", "cancel", "expire", "correct"])
async def test_whatever_ends_the_request_ends_the_draft(
    site: JourneySite, clock: FakeClock, end: str
) -> None:
    document, (text,), ada = await send_to_two(site)
    await enter(ada, {text: "Linden Row"})
    assert await count_drafts(site) == 1
    recipient = (await site.api.get(document))["recipients"][0]["id"]
    if end == "decline":
        assert (await ada.decline()).status == 200
    elif end == "expire":
        clock.advance(milliseconds=31 * DAY)
        await expire.tick(site.runtime)
    elif end == "correct":
        path = f"/documents/{document}/recipients/{recipient}"
        await site.api.ok("PATCH", path, {"email": "ada@example.org"})
        assert (await enter(ada, {text: "by the old link"})).status == 404
    else:
        await site.api.ok("POST", f"/documents/{document}/cancel")
    assert await count_drafts(site) == 0


async def test_a_draft_goes_with_its_recipient_whatever_the_state(site: JourneySite) -> None:
    document, (text,), ada = await send_to_two(site)
    await enter(ada, {text: "Linden Row"})
    await site.runtime.db.write(lambda tx: tx.run("DELETE FROM document WHERE id = :id", id=document))
    assert await count_drafts(site) == 0


async def test_without_the_code_nothing_is_taken_and_nothing_told(site: JourneySite) -> None:
    _, (text,), ada = await send_to_two(site, authentication="access_code", accessCode="Blue-4711-heron")
    refused = await enter(ada, {text: "typed by somebody with the link alone"})
    assert refused.body["state"] == "code" and refused.body["values"] == {} and await count_drafts(site) == 0
    assert (await ada.enter("Blue-4711-heron")).status == 200
    await enter(ada, {text: "Linden Row"})
    stranger = Person(site.session, ada.link)
    assert (await enter(stranger)).body["values"] == {}
    assert b"Linden" not in (await stranger.open()).content
    assert b"Linden" in (await ada.open()).content


@pytest.mark.parametrize(
    "body",
    [
        {"since": -1},
        {"since": True},
        {"since": "1"},
        {"values": []},
        {"values": {"a": "x"}},
        {"values": {"a": {"at": 1}}},
        {"values": {"a": {"at": 1.5, "value": "x"}}},
        {"values": {"a": {"at": 2**60, "value": "x"}}},
        {"values": {"a": {"at": 1, "value": "x", "by": 1}}},
        {"more": 1},
    ],
)
async def test_what_is_not_in_its_shape_is_refused(site: JourneySite, body: Any) -> None:
    _, _, ada = await send_to_two(site)
    answer = await ada.post("draft", body)
    assert (answer.status, answer.code) == (400, "invalid_request")
