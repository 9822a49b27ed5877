"""Reminding by hand, handing out links, duplicating, and the sizes of pages."""

from typing import Any

import pytest

from esign.actions.mail import embedded_outbox
from esign.core.instant import DAY, HOUR, rfc3339
from esign.core.people.api_key import Scope
from esign.jobs import remind as automatic
from tests.api.site import Site, SiteAnswer
from tests.journeys.api import Person, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def remind(site: Site, document_id: str, body: Any = None, **given: Any) -> SiteAnswer:
    return await site.ask("POST", f"/documents/{document_id}/remind", body, **given)


async def test_those_who_were_asked_are_reminded_with_the_message(site: Site) -> None:
    ana, bo = site.signer(), site.signer(order=2)
    document = await site.send_document(recipients=[ana, bo])
    first, second = (recipient["id"] for recipient in document["recipients"])
    answer = await remind(site, document["id"], {"message": "We start\non Monday."})
    assert answer.status == 200 and answer.body == {
        "id": document["id"],
        "status": "sent",
        "reminded": [first],
        "skipped": [{"recipientId": second, "reason": "not_invited"}],
    }
    shown = (await site.get(document["id"]))["recipients"][0]
    assert (shown["remindersSent"], shown["lastRemindedAt"]) == (1, rfc3339(site.clock.now()))

    async def letter() -> str | None:
        for mail in await embedded_outbox.list_mails(site.runtime.db, 1000):
            if ana["email"] in mail.recipient and mail.subject.startswith("Still waiting"):
                message = await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, mail.id)
                plain = message and message.get_body(("plain",))
                return plain.get_content() if plain else None
        return None

    text = await until(letter, "reminder")
    assert "Northlight writes:" in text and "We start" in text and "on Monday." in text
    assert await (await site.person(ana["email"])).state() == "open"


async def test_within_the_hour_nobody_is_reminded_again(site: Site) -> None:
    document = await site.send_document(recipients=[site.signer()])
    assert (await remind(site, document["id"])).status == 200
    site.clock.advance(minutes=20)
    again = await remind(site, document["id"])
    assert again.code == "reminder_too_soon" and again.headers["retry-after"] == "2400"
    site.clock.advance(minutes=40)
    assert (await remind(site, document["id"])).status == 200


async def test_an_automatic_reminder_within_the_hour_after_one_by_hand_is_left_out(site: Site) -> None:
    document = await site.send_document(recipients=[site.signer()])
    site.clock.advance(milliseconds=3 * DAY - HOUR // 2)
    assert (await remind(site, document["id"])).status == 200
    for later, sent in ((HOUR // 2, 1), (4 * DAY, 2)):
        site.clock.advance(milliseconds=later)
        await automatic.tick(site.runtime)
        assert (await site.get(document["id"]))["recipients"][0]["remindersSent"] == sent


async def test_only_those_named_are_reminded_and_each_must_be_known(site: Site) -> None:
    document = await site.send_document(recipients=[site.signer(), site.signer()])
    first, second = (recipient["id"] for recipient in document["recipients"])
    assert (await remind(site, document["id"], {"recipientIds": [second]})).body["reminded"] == [second]
    unknown = await remind(site, document["id"], {"recipientIds": [first, "rcp_other"]})
    assert unknown.places == {("/recipientIds/1", "reference")}
    twice = await remind(site, document["id"], {"recipientIds": [first, first]})
    assert twice.places == {("/recipientIds", "duplicate")}
    assert (await remind(site, document["id"], {"recipientIds": []})).code == "no_recipient_to_remind"


async def test_only_of_a_sent_document_is_anybody_reminded(site: Site) -> None:
    refused = await remind(site, await site.create())
    assert refused.code == "document_not_sent" and refused.body["error"]["currentStatus"] == "draft"
    document = await site.send_document(recipients=[site.signer()], expiresInDays=1)
    site.clock.advance(days=1)
    late = await remind(site, document["id"])
    assert late.code == "document_not_sent" and late.body["error"]["currentStatus"] == "expired"
    assert (await site.get(document["id"]))["status"] == "expired"


async def test_a_repeated_reminder_under_its_key_is_replayed(site: Site) -> None:
    document, key = await site.send_document(recipients=[site.signer()]), {"Idempotency-Key": "remind-1"}
    first = await remind(site, document["id"], headers=key)
    again = await remind(site, document["id"], headers=key)
    assert again.content == first.content and again.headers["idempotent-replayed"] == "true"


async def test_each_call_needs_its_scope_and_an_own_document(site: Site) -> None:
    key, document = await site.new_key(Scope.ACCOUNT_READ), await site.send_document()
    rid = document["recipients"][0]["id"]
    calls = [
        ("POST", "/remind"),
        ("POST", "/duplicate"),
        ("GET", "/pages"),
        ("POST", f"/recipients/{rid}/link"),
    ]
    for method, path in calls:
        assert (await site.ask(method, f"/documents/{document['id']}{path}", key=key)).status == 401
        unknown = await site.ask(method, f"/documents/doc_01kzt0v8q3e5m7p9r1s3t5v7w9{path}")
        assert unknown.code == "not_found"


# ---------- links ----------


async def link(site: Site, document: Any, n: int = 0, body: Any = None, **given: Any) -> SiteAnswer:
    rid = document["recipients"][n]["id"]
    return await site.ask("POST", f"/documents/{document['id']}/recipients/{rid}/link", body, **given)


async def test_an_issued_link_signs_and_earlier_ones_stay_valid(site: Site) -> None:
    signer = site.signer()
    document = await site.send_document(recipients=[signer])
    mailed = await site.person(signer["email"])
    answer = await link(site, document)
    assert answer.status == 200 and answer.body["recipientId"] == document["recipients"][0]["id"]
    assert answer.body["expiresAt"] == rfc3339(site.clock.now() + DAY)
    handed = Person(site.session, answer.body["url"])
    assert await mailed.state() == await handed.state() == "open"
    entry = (await site.trail(document["id"]))[-1]
    assert entry["type"] == "link.issued" and entry["data"] == {"expiresAt": answer.body["expiresAt"]}
    assert answer.body["url"] not in str(entry)
    await handed.sign()
    await site.wait_until_sealed(document["id"])
    assert (await link(site, document)).code == "document_not_sent"


async def test_an_issued_link_ends_when_asked_and_never_after_the_document(site: Site) -> None:
    document = await site.send_document(recipients=[site.signer()], expiresInDays=2)
    short = await link(site, document, body={"ttlHours": 1})
    assert (await link(site, document, body={"ttlHours": 720})).body["expiresAt"] == document["expiresAt"]
    person = Person(site.session, short.body["url"])
    site.clock.advance(milliseconds=HOUR - 1)
    assert await person.state() == "open"
    site.clock.advance(milliseconds=1)
    assert await person.state() == "unknown"
    for hours in (0, 721):
        assert (await link(site, document, body={"ttlHours": hours})).places == {("/ttlHours", "range")}


async def test_only_whose_turn_it_is_gets_a_link(site: Site) -> None:
    first, second = site.signer(), site.signer(order=2)
    document = await site.send_document(recipients=[first, second])
    assert (await link(site, document, 1)).code == "recipient_not_active"
    await (await site.person(first["email"])).sign()
    assert (await link(site, document, 0)).code == "recipient_already_completed"
    assert (await link(site, document, 1)).status == 200
    assert (await link(site, await site.create_draft())).code == "document_not_sent"


async def test_links_have_a_scope_of_their_own(site: Site) -> None:
    document, key = (
        await site.send_document(recipients=[site.signer()]),
        await site.new_key(Scope.DOCUMENTS_SEND),
    )
    assert (await link(site, document, key=key)).code == "insufficient_scope"
    allowed = await site.new_key(Scope.DOCUMENTS_LINKS)
    assert (await link(site, document, key=allowed)).status == 200


# ---------- duplicates and pages ----------


async def test_a_duplicate_is_a_draft_that_can_be_sent(site: Site) -> None:
    signer = site.signer(fields=[{"type": "text", "page": 1, "x": 10, "y": 10, "value": "ours"}])
    document = await site.send_document(recipients=[signer], title="First", externalId="o-1", message="Dear")
    path = f"/documents/{document['id']}/duplicate"
    answer = await site.ask("POST", path, {"title": "Second"})
    assert answer.status == 201 and answer.body["status"] == "draft"
    assert answer.headers["location"] == f"/api/v1/documents/{answer.body['id']}"
    copy = await site.get(answer.body["id"])
    assert (copy["title"], copy["message"], copy["externalId"]) == ("Second", "Dear", None)
    assert copy["fileSha256"] == document["fileSha256"] and copy["recipients"][0]["email"] == signer["email"]
    assert copy["recipients"][0]["id"] != document["recipients"][0]["id"]
    assert copy["recipients"][0]["fields"][0]["value"] == "ours"
    assert await site.list_events(copy["id"]) == ["document.created"]
    await site.ok("POST", f"/documents/{document['id']}/cancel")
    await site.ok("DELETE", f"/documents/{document['id']}")
    assert (await site.ask("POST", f"/documents/{copy['id']}/send")).status == 200
    assert len(await site.bytes_of(copy["id"], "original")) > 0


async def test_the_pages_have_their_displayed_sizes(site: Site) -> None:
    pages = await site.ok("GET", f"/documents/{await site.create()}/pages")
    (page,) = pages["data"]
    assert page["page"] == 1 and page["rotation"] == 0
    assert (round(page["widthPt"]), round(page["heightPt"])) == (595, 842)
