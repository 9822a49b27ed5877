"""Cancelling and deleting over the API: what everybody sees, and what is left."""

import json
from functools import partial
from typing import Any

import pytest

from esign.actions.document import files
from esign.actions.mail import embedded_outbox
from esign.core.actor import Actor, Author, Mode, Origin, Owner
from esign.core.errors import Problem
from esign.core.instant import DAY, rfc3339
from esign.core.people.api_key import Scope
from esign.jobs import expire, prune, worker
from esign.store.engine.database import Transaction
from esign.store.queue import audit_entries
from esign.store.queue.outbox import Job
from tests.api.site import Site, SiteAnswer, a_request, gather
from tests.factories import is_intact
from tests.journeys.api import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def cancel(site: Site, document_id: str, body: Any = None, **given: Any) -> SiteAnswer:
    return await site.ask("POST", f"/documents/{document_id}/cancel", body, **given)


async def delete(site: Site, document_id: str, **given: Any) -> SiteAnswer:
    return await site.ask("DELETE", f"/documents/{document_id}", **given)


async def subjects_to(site: Site, address: str) -> list[str]:
    mails = await embedded_outbox.list_mails(site.runtime.db, 1000)
    return [mail.subject for mail in mails if address in mail.recipient]


async def happenings(site: Site, document_id: str) -> list[dict[str, Any]]:
    """The events that were published about a document, oldest first."""
    rows = await site.runtime.db.all(
        "SELECT body FROM event WHERE document_id = :id ORDER BY sequence", id=document_id
    )
    return [json.loads(row["body"]) for row in rows]


async def test_cancelling_closes_the_document_and_tells_those_who_were_asked(site: Site) -> None:
    asked, later = site.signer(), site.signer(order=2)
    document = await site.send_document(recipients=[asked, later])
    person = await site.person(asked["email"])
    answer = await cancel(site, document["id"], {"reason": " The price\nhas changed "})
    now = rfc3339(site.clock.now())
    assert answer.status == 200 and answer.body["status"] == "cancelled"
    assert answer.body["closedAt"] == now and answer.body["closeReason"] == "The price\nhas changed"
    assert answer.headers["etag"] == f'"{answer.body["revision"]}"'
    assert await person.state() == "cancelled"
    assert (await person.view()).code == "document_not_sent"

    async def is_told() -> bool | None:
        return "Cancelled: agreement" in await subjects_to(site, asked["email"]) or None

    await until(is_told, "letter")
    assert await subjects_to(site, later["email"]) == []
    entry = (await site.trail(document["id"]))[-1]
    assert entry["type"] == "document.cancelled" and entry["detail"] == {"reason": "The price\nhas changed"}
    event = (await happenings(site, document["id"]))[-1]
    assert event["type"] == "document.cancelled" and event["data"]["document"]["status"] == "cancelled"


async def test_cancelling_can_be_silent_and_needs_no_body(site: Site) -> None:
    document = await site.send_document(recipients=[site.signer()])
    assert (await cancel(site, document["id"], {"notify": False})).body["closeReason"] is None
    rows = await site.runtime.db.all(
        "SELECT key FROM outbox WHERE document_id = :id AND key LIKE 'cancelled:%'", id=document["id"]
    )
    assert rows == []
    assert (await cancel(site, (await site.send_document())["id"])).status == 200


async def test_cancelling_twice_is_refused_but_replayed_under_its_key(site: Site) -> None:
    document, key = await site.send_document(), {"Idempotency-Key": "cancel-1"}
    first = await cancel(site, document["id"], headers=key)
    again = await cancel(site, document["id"], headers=key)
    assert again.content == first.content and again.headers["idempotent-replayed"] == "true"
    refused = await cancel(site, document["id"])
    assert refused.code == "document_not_sent" and refused.body["error"]["currentStatus"] == "cancelled"


async def test_a_draft_is_not_cancelled(site: Site) -> None:
    assert (await cancel(site, await site.create())).code == "document_not_sent"


@pytest.mark.parametrize(
    "body, place",
    [
        ({"reason": "x" * 1001}, ("/reason", "length")),
        ({"reason": "a\u0000b"}, ("/reason", "format")),
        ({"notify": "no"}, ("/notify", "type")),
        ({"silent": True}, ("/silent", "unknown_member")),
    ],
)
async def test_a_body_that_does_not_fit_is_refused(site: Site, body: Any, place: tuple[str, str]) -> None:
    assert (await cancel(site, (await site.send_document())["id"], body)).places == {place}


async def test_each_call_needs_its_scope_and_an_own_document(site: Site) -> None:
    reader = await site.new_key(Scope.DOCUMENTS_READ)
    document = await site.send_document()
    for method, path in (("POST", "/cancel"), ("POST", "/retry-seal"), ("DELETE", "")):
        answer = await site.ask(method, f"/documents/{document['id']}{path}", key=reader)
        assert answer.code == "insufficient_scope"
        unknown = await site.ask(method, f"/documents/doc_01kzt0v8q3e5m7p9r1s3t5v7w9{path}")
        assert unknown.code == "not_found"


@pytest.mark.slow
async def test_of_cancel_decline_completion_and_expiry_exactly_one_wins(site: Site) -> None:
    endings = {"document.cancelled", "document.declined", "document.expired"}
    won = set()
    for round in range(8):
        signer = site.signer()
        document = await site.send_document(recipients=[signer], expiresInDays=1)
        person = await site.person(signer["email"])
        await person.view()
        acts: list[Any] = [
            person.complete,
            person.decline,
            partial(cancel, site, document["id"]),
            partial(expire.tick, site.runtime),
        ]
        if round == 7:
            site.clock.advance(days=1)
        turned = acts[round % 4 :] + acts[: round % 4]
        answers = await gather(*(act() for act in turned))
        assert sum(getattr(answer, "status", 0) == 200 for answer in answers) == (round != 7)
        happened = await site.list_events(document["id"])
        ended = [type for type in happened if type in endings]
        status = (await site.get(document["id"]))["status"]
        if "recipient.completed" in happened:
            assert ended == [] and status in ("sealing", "completed")
        else:
            assert ended == [f"document.{status}"]
        won.add(status)
    assert "expired" in won and len(won) > 1


# ---------- delete ----------


async def test_a_deleted_draft_is_gone_and_says_so_once(site: Site) -> None:
    document_id = await site.create(externalId="order-5")
    answer = await delete(site, document_id)
    assert answer.status == 200 and answer.body == {"id": document_id}
    assert (await site.ask("GET", f"/documents/{document_id}")).code == "not_found"
    assert (await site.ask("GET", f"/documents/{document_id}/audit")).code == "not_found"
    assert (await delete(site, document_id)).code == "not_found"
    (event,) = await happenings(site, document_id)
    assert event["type"] == "document.deleted" and event["sequence"] == 2
    assert event["data"] == {"document": {"id": document_id, "externalId": None}}


async def test_a_document_that_is_out_is_not_deleted(site: Site) -> None:
    document = await site.send_document()
    refused = await delete(site, document["id"])
    assert refused.code == "document_in_progress" and refused.body["error"]["currentStatus"] == "sent"


async def test_a_document_whose_time_is_over_can_be_deleted_at_once(site: Site) -> None:
    document = await site.send_document(expiresInDays=1)
    site.clock.advance(days=1)
    assert (await delete(site, document["id"])).status == 200


async def test_if_match_lets_only_that_revision_be_deleted(site: Site) -> None:
    document_id = await site.create()
    refused = await delete(site, document_id, headers={"If-Match": '"2"'})
    assert refused.code == "revision_mismatch" and refused.body["error"]["currentStatus"] == "draft"
    assert (await delete(site, document_id, headers={"If-Match": '"1"'})).status == 200


async def test_a_repeated_delete_under_its_key_is_replayed(site: Site) -> None:
    document_id, key = await site.create(), {"Idempotency-Key": "delete-1"}
    first = await delete(site, document_id, headers=key)
    again = await delete(site, document_id, headers=key)
    assert again.content == first.content and again.headers["idempotent-replayed"] == "true"


async def test_of_a_completed_document_only_an_impersonal_trail_is_left(site: Site) -> None:
    db, signer, key = site.runtime.db, site.signer(name="Zebedee Quill"), {"Idempotency-Key": "whole-1"}
    body = await site.ask(
        "POST", "/documents", a_request(recipients=[signer], metadata={"case": "Zebedee"}), headers=key
    )
    document_id = body.body["id"]
    sent = await site.ask("POST", f"/documents/{document_id}/send", headers={"Idempotency-Key": "whole-2"})
    person = await site.person(signer["email"])
    await person.sign()
    await site.wait_until_sealed(document_id)

    async def all_mailed() -> bool | None:
        left = await db.all(
            "SELECT 1 FROM outbox WHERE state = 'pending' AND kind = 'mail' AND document_id = :id",
            id=document_id,
        )
        return not left or None

    await until(all_mailed, "mails")
    assert len(await subjects_to(site, signer["email"])) == 2
    assert (await delete(site, document_id)).status == 200
    for table in ("document", "recipient", "link", "document_blob", "outbox"):
        column = "id" if table == "document" else "document_id"
        query = f"SELECT * FROM {table} WHERE {column} = :id"
        assert await db.all(query, id=document_id) == [], table
    assert await subjects_to(site, signer["email"]) == [] and await person.state() == "unknown"
    trail = await audit_entries.find_entries(db, document_id)
    assert is_intact(trail) and trail[-1].type == "document.deleted"
    assert all(line.personal is None and line.salt is None for line in trail)
    (event,) = await happenings(site, document_id)
    assert event["sequence"] > 5

    created = await site.ask(
        "POST", "/documents", a_request(recipients=[signer], metadata={"case": "Zebedee"}), headers=key
    )
    assert created.body == {"id": document_id, "status": "draft"}
    async with site.session.post(
        f"{site.base}/api/v1/documents/{document_id}/send",
        headers={"Idempotency-Key": "whole-2", "Authorization": f"Bearer {site.key}"},
    ) as replay:
        assert sent.body["title"] and await replay.json() == {"id": document_id, "status": "sent"}


async def test_a_download_that_a_deletion_overtakes_leaves_nothing_in_the_trail(site: Site) -> None:
    document = await site.create_draft()
    owner = Owner(*await mode_of(site))
    file = await files.describe_file(site.runtime, owner, document["id"], "original")
    assert (await delete(site, document["id"])).status == 200
    with pytest.raises(Problem) as refused:
        author = Author(Actor("api_key", "key_1", "ci"), Origin("192.0.2.1", "client/1"))
        await files.read(site.runtime, file, author)
    assert refused.value.code == "not_found"
    trail = await audit_entries.find_entries(site.runtime.db, document["id"])
    assert trail[-1].type == "document.deleted" and not any(line.personal for line in trail)


async def mode_of(site: Site) -> tuple[str, Mode]:
    return str((await site.ok("GET", "/account"))["organisation"]["id"]), Mode.LIVE


async def test_work_on_a_document_that_is_deleted_meanwhile_ends_quietly(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    document_id = await site.create()
    mail = next(kind for kind in worker.KINDS if kind.name == "mail")
    body = {"letter": "expired", "recipient": None, "token": None, "message": None}
    sealed = site.runtime.vault.encrypt("outbox", json.dumps(body).encode(), b"expired:x")
    job = Job(10**9, "mail", "expired:x", document_id, sealed, 1)
    await delete(site, document_id)
    await worker.attempt(site.runtime, mail, job)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_content_that_nobody_refers_to_goes_with_the_next_pruning(site: Site) -> None:
    db = site.runtime.db
    first = await site.create_draft(recipients=[site.signer()])
    second = await site.create_draft(recipients=[site.signer()])
    assert first["fileSha256"] == second["fileSha256"]
    rows = await db.all("SELECT document_id FROM document_blob WHERE sha256 = :s", s=first["fileSha256"])
    others = {row["document_id"] for row in rows} - {first["id"], second["id"]}

    async def forget(tx: Transaction) -> None:
        for other in others:
            await tx.run("DELETE FROM document WHERE id = :id", id=other)

    await db.write(forget)
    site.clock.advance(milliseconds=2 * DAY)

    async def content() -> int:
        return len(await db.all("SELECT 1 FROM blob WHERE sha256 = :s", s=first["fileSha256"]))

    await delete(site, first["id"])
    await prune.tick(site.runtime)
    assert await content() == 1
    await delete(site, second["id"])
    await prune.tick(site.runtime)
    assert await content() == 0


# ---------- a seal that failed ----------


async def test_a_seal_that_did_not_fail_is_not_tried_again(site: Site) -> None:
    refused = await site.ask("POST", f"/documents/{await site.create()}/retry-seal")
    assert refused.code == "seal_not_failed" and refused.body["error"]["currentStatus"] == "draft"


async def test_a_failed_seal_is_tried_again_at_once(site: Site) -> None:
    signer = site.signer()
    document = await site.send_document(recipients=[signer])
    rows = await site.runtime.db.all("SELECT file FROM document WHERE id = :id", id=document["id"])
    whole = json.loads(rows[0]["file"])

    async def put(file: dict[str, Any]) -> None:
        async def write(tx: Transaction) -> None:
            text = json.dumps(file)
            await tx.run("UPDATE document SET file = :file WHERE id = :id", file=text, id=document["id"])

        await site.runtime.db.write(write)

    person = await site.person(signer["email"])
    await person.view()
    await put({**whole, "prepared": "0" * 64})
    assert (await person.complete()).status == 200

    async def find_failure() -> str | None:
        error: str | None = (await site.get(document["id"]))["sealError"]
        return error

    await until(find_failure, "failure")
    await put(whole)
    answer = await site.ask("POST", f"/documents/{document['id']}/retry-seal")
    assert answer.status == 200 and answer.body["status"] == "sealing"

    async def is_completed() -> bool | None:
        return (await site.get(document["id"]))["status"] == "completed" or None

    await until(is_completed, "seal")
    assert "document.seal_retried" in await site.list_events(document["id"])
