import asyncio
from typing import Any

import pytest

from esign.core.instant import DAY, rfc3339
from tests.api.site import Site, SiteAnswer, a_config, a_request, running

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def send(site: Site, document_id: str, **given: Any) -> SiteAnswer:
    return await site.ask("POST", f"/documents/{document_id}/send", **given)


async def test_sending_answers_the_document_as_it_is_then(site: Site) -> None:
    document_id = await site.create(recipients=[site.signer(order=2), site.signer(order=1)], expiresInDays=7)
    answer = await send(site, document_id)
    assert answer.status == 200 and answer.headers["etag"] == '"2"'
    document, now = answer.body, rfc3339(site.clock.now())
    assert document["status"] == "sent" and document["sentAt"] == document["updatedAt"] == now
    assert document["expiresAt"] == rfc3339(site.clock.now() + 7 * DAY) and document["revision"] == 2
    later, first = document["recipients"]
    assert (later["status"], later["sentAt"], later["delivery"]["status"]) == ("created", None, "none")
    assert (first["status"], first["sentAt"], first["delivery"]["status"]) == ("sent", now, "queued")
    assert await site.list_events(document_id) == ["document.created", "document.sent", "recipient.sent"]


@pytest.mark.parametrize("body", [None, b"", b"{}", b" {} "])
async def test_sending_takes_no_body_or_an_empty_one_whatever_it_calls_itself(
    site: Site, body: bytes | None
) -> None:
    headers = {"Content-Type": "text/plain"} if body is not None else {}
    assert (await send(site, await site.create(), data=body, headers=headers)).status == 200


async def test_sending_knows_no_member(site: Site) -> None:
    answer = await send(site, await site.create(), body={"message": "hello"})
    assert answer.places == {("/message", "unknown_member")}


async def test_sending_twice_is_refused_with_the_present_state(site: Site) -> None:
    document = await site.send_document()
    answer = await send(site, document["id"])
    assert answer.code == "document_not_draft" and answer.body["error"]["currentStatus"] == "sent"


async def test_sending_again_with_the_same_idempotency_key_replays_the_first_answer(site: Site) -> None:
    document_id, key = await site.create(recipients=[site.signer()]), {"Idempotency-Key": "send-1"}
    first = await send(site, document_id, headers=key)
    await site.person(first.body["recipients"][0]["email"])  # the mail has left, so the document has moved on
    again = await send(site, document_id, headers=key)
    assert again.status == 200 and again.content == first.content
    assert again.headers["idempotent-replayed"] == "true" and again.headers["etag"] == first.headers["etag"]
    assert (await site.list_events(document_id)).count("document.sent") == 1


async def test_a_document_without_a_signer_is_not_ready(site: Site) -> None:
    answer = await send(site, await site.create(recipients=[]))
    assert answer.code == "document_not_ready" and answer.places == {("/recipients", "required")}
    assert answer.body["error"]["currentStatus"] == "draft"


async def test_a_text_that_no_font_can_draw_is_named_with_its_characters(site: Site) -> None:
    # Linear B, and hieroglyphs: nobody ships them, no system has them
    fields = [{"type": "dropdown", "page": 1, "x": 1, "y": 1, "options": ["yes", "\U00010000"]}]
    signer = site.signer(name="Ada \U00013000", fields=fields)
    document_id = await site.create(title="Offer \U00010001", recipients=[signer])
    answer = await send(site, document_id)
    assert answer.code == "document_not_ready"
    details = {detail["path"]: detail["message"] for detail in answer.body["error"]["details"]}
    assert details.keys() == {"/title", "/recipients/0/name", "/recipients/0/fields/0"}
    assert "\U00010001" in details["/title"] and "\U00013000" in details["/recipients/0/name"]
    assert (await site.get(document_id))["status"] == "draft"


async def test_a_character_that_is_set_as_two_others_is_found_too(site: Site) -> None:
    half_note = "\U0001d15e"  # in normal form a note head and a stem, neither of which any font has
    answer = await send(site, await site.create(title=f"Song {half_note}"))
    assert answer.code == "document_not_ready" and answer.places == {("/title", "format")}


@pytest.mark.parametrize("revision, code", [('"1"', "200"), ("*", "200"), ('"2"', "revision_mismatch")])
async def test_if_match_lets_only_that_revision_through(site: Site, revision: str, code: str) -> None:
    answer = await send(site, await site.create(), headers={"If-Match": revision})
    assert answer.code == code


@pytest.mark.parametrize("revision", ["1", 'W/"1"', '"a"', '"1", "2"', '""', '"-1"'])
async def test_a_malformed_if_match_is_refused(site: Site, revision: str) -> None:
    document_id = await site.create()
    assert (await send(site, document_id, headers={"If-Match": revision})).code == "invalid_request"
    assert (await site.get(document_id))["status"] == "draft"


async def test_if_match_speaks_before_the_state(site: Site) -> None:
    document = await site.send_document()
    answer = await send(site, document["id"], headers={"If-Match": '"99"'})
    assert answer.code == "revision_mismatch" and answer.body["error"]["currentStatus"] == "sent"


async def test_every_other_state_refuses_to_be_sent(site: Site) -> None:
    signer = site.signer()
    completed = await site.complete_document()
    declined = await site.send_document(recipients=[signer])
    assert (await (await site.person(signer["email"])).decline("no")).status == 200
    expired = await site.send_document(expiresInDays=1)
    site.clock.advance(days=1)
    for document, status in ((completed, "completed"), (declined, "declined"), (expired, "expired")):
        answer = await send(site, document["id"])
        assert answer.code == "document_not_draft" and answer.body["error"]["currentStatus"] == status


async def test_simultaneous_sends_have_one_winner(site: Site) -> None:
    document_id = await site.create(recipients=[site.signer()])
    answers = await asyncio.gather(*(send(site, document_id) for _ in range(10)))
    assert sorted(answer.code for answer in answers) == ["200"] + ["document_not_draft"] * 9
    assert (await site.list_events(document_id)).count("recipient.sent") == 1


@pytest.mark.slow
async def test_the_day_s_mails_are_a_quota_that_create_and_send_respect(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async with running(a_config(tmp_path_factory.mktemp("quota"), emails_per_day=2)) as site:
        drafts = [await site.create() for _ in range(2)]
        await site.send_document(recipients=[site.signer(), site.signer()])
        for answer in (await send(site, drafts[0]), await site.ask("POST", "/documents", a_request())):
            assert answer.code == "quota_exceeded"
            assert answer.headers["retry-after"] == "86400"
        site.clock.advance(days=1)
        assert (await send(site, drafts[1])).status == 200
