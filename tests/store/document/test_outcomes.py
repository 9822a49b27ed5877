"""State, trail, events, deliveries, mails and the seal: saved whole or not at all."""

import json
from dataclasses import replace
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.core.document.document import Document, Recipient, Role
from esign.core.document.state import lifecycle
from esign.core.document.state.outcome import Event, Outcome
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.people.account import Organisation
from esign.store.document import blobs, documents, outcomes, signing_links
from esign.store.engine.database import Database, Transaction
from esign.store.people import organisations, usage
from esign.store.queue import audit_entries, outbox, published_events, webhooks
from esign.system.vault import DamagedCiphertext, Vault
from tests.factories import (
    AUTHOR,
    NOW,
    ORIGIN,
    SENDER,
    a_document,
    a_recipient,
    a_seal,
    a_webhook,
    is_intact,
    sha256,
    store,
)

LATER = NOW + 5
TABLES = ("document", "recipient", "audit", "event", "outbox", "delivery", "link", "usage", "document_blob")


async def save(db: Database, vault: Vault, outcome: Outcome, before: Document) -> Document:
    return await db.write(lambda tx: outcomes.save(tx, outcome, before, vault, LATER))


async def send(db: Database, vault: Vault, *recipients: Recipient, **changes: Any) -> Document:
    draft = await store(db, vault, a_document(*recipients, **changes))
    return await save(db, vault, lifecycle.send(draft, AUTHOR, LATER), draft)


async def subscribe(db: Database, **changes: Any) -> str:
    webhook = a_webhook(**changes)
    await db.write(lambda tx: webhooks.add(tx, webhook))
    return webhook.id


async def list_published(db: Database) -> list[dict[str, Any]]:
    rows = await db.all("SELECT body FROM event ORDER BY document_id, sequence")
    return [json.loads(row["body"]) for row in rows]


async def list_queued(db: Database, kind: str) -> list[Any]:
    return await db.all("SELECT * FROM outbox WHERE kind = :kind ORDER BY id", kind=kind)


async def everything(db: Database) -> dict[str, list[tuple[Any, ...]]]:
    return {table: [tuple(row) for row in await db.all(f"SELECT * FROM {table}")] for table in TABLES}


async def test_a_new_document_is_stored_with_its_first_entry_event_and_content(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    draft = await store(db, vault, a_document())
    assert await documents.get(db, draft.id) == draft
    (line,) = await audit_entries.find_entries(db, draft.id)
    assert (line.type, line.seq, line.actor_kind, line.actor_id) == (
        "document.created",
        1,
        "api_key",
        "key_1",
    )
    (event,) = await list_published(db)
    assert (event["type"], event["sequence"], event["data"]["document"]["id"]) == (
        "document.created",
        1,
        draft.id,
    )
    kept = {row["sha256"] for row in await db.all("SELECT sha256 FROM document_blob")}
    assert kept == {draft.file.uploaded, draft.file.prepared}
    for name in kept:
        assert sha256(await blobs.get(db, name)) == name


async def test_a_document_whose_content_is_not_there_cannot_be_stored(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    outcome = lifecycle.create(a_document(), ORIGIN, NOW)
    before = await everything(db)
    with pytest.raises(Exception, match="FOREIGN KEY"):
        await db.write(lambda tx: outcomes.add(tx, outcome, vault, NOW))
    assert await everything(db) == before


async def test_sending_saves_state_trail_events_and_mails_together(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    sent = await send(db, vault, a_recipient("Ana"), a_recipient("Bo"), a_recipient("Cy", order=2))
    assert sent.revision == 2
    assert await documents.get(db, sent.id) == sent

    trail = await audit_entries.find_entries(db, sent.id)
    assert [line.type for line in trail] == [
        *("document.created", "document.sent", "recipient.sent", "recipient.sent")
    ]
    assert is_intact(trail)
    assert [(e["sequence"], e["type"]) for e in await list_published(db)] == [
        (1, "document.created"),
        (2, "document.sent"),
        (3, "recipient.sent"),
        (4, "recipient.sent"),
    ]
    letters = await list_queued(db, "mail")
    assert [row["key"] for row in letters] == [f"invite:{r.id}:1" for r in sent.recipients[:2]]
    assert {(row["document_id"], row["due_at"], row["state"]) for row in letters} == {
        (sent.id, LATER, "pending")
    }
    assert await usage.count_emails(db, organisation.id, LATER // DAY) == 2


@pytest.mark.parametrize(
    ("sender", "reply_to", "count"),
    [(None, None, 0), ("ann@example.test", None, 1), (None, "desk@example.test", 1)],
)
async def test_a_mail_to_a_sender_without_an_address_is_not_counted(
    db: Database,
    vault: Vault,
    organisation: Organisation,
    sender: str | None,
    reply_to: str | None,
    count: int,
) -> None:
    await db.write(lambda tx: organisations.save(tx, replace(organisation, reply_to=reply_to)))
    sent = await send(db, vault, created_by=replace(SENDER, email=sender))
    late = sent.expires_at
    assert late is not None
    await db.write(lambda tx: outcomes.save(tx, lifecycle.expire(sent, late), sent, vault, late))
    assert await usage.count_emails(db, organisation.id, late // DAY) == count


async def test_every_event_of_one_outcome_shows_the_document_as_it_is_after_it(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    sent = await send(db, vault)
    recipient = sent.recipients[0]
    outcome = lifecycle.complete(sent, recipient, "I agree", ORIGIN, LATER)
    await save(db, vault, outcome, sent)
    told = (await list_published(db))[3:]
    assert [e["type"] for e in told] == ["recipient.viewed", "recipient.completed"]
    assert {e["data"]["document"]["status"] for e in told} == {"sealing"}
    assert {e["data"]["recipient"]["status"] for e in told} == {"completed"}


async def test_the_sequence_goes_on_where_it_was_when_the_earlier_events_are_forgotten(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    sent = await send(db, vault)
    await save(db, vault, lifecycle.view(sent, sent.recipients[0], ORIGIN, LATER), sent)
    assert [e["sequence"] for e in await list_published(db)] == [1, 2, 3, 4]
    assert await db.write(lambda tx: published_events.prune(tx, LATER + 1, 9)) == 4
    seen = await documents.get(db, sent.id)
    await save(db, vault, lifecycle.decline(seen, seen.recipients[0], None, ORIGIN, LATER), seen)
    assert [(e["sequence"], e["type"]) for e in await list_published(db)] == [
        (5, "recipient.declined"),
        (6, "document.declined"),
    ]


async def test_what_is_only_for_the_trail_is_not_published(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    sent = await send(db, vault)
    viewed = lifecycle.view(sent, sent.recipients[0], ORIGIN, LATER)
    await save(db, vault, viewed, sent)
    assert "recipient.authenticated" in [line.type for line in await audit_entries.find_entries(db, sent.id)]
    assert "recipient.authenticated" not in [e["type"] for e in await list_published(db)]


async def test_the_last_completion_queues_one_seal(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    sent = await send(db, vault)
    sealing = await save(
        db, vault, lifecycle.complete(sent, sent.recipients[0], "I agree", ORIGIN, LATER), sent
    )
    (job,) = await list_queued(db, "seal")
    assert (job["key"], job["document_id"], job["due_at"]) == (f"seal:{sent.id}", sent.id, LATER)

    completed = await save(db, vault, lifecycle.seal(sealing, a_seal(), LATER), sealing)
    assert await documents.get(db, sent.id) == completed
    assert [e["type"] for e in await list_published(db)][-1] == "document.completed"


async def test_a_mail_carries_a_fresh_link_that_only_the_application_key_opens(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    sent = await send(db, vault)
    (job,) = await list_queued(db, "mail")
    body = json.loads(vault.decrypt("outbox", job["body"], job["key"].encode()))
    assert (body["letter"], body["recipient"]) == ("invitation", sent.recipients[0].id)
    link = await signing_links.find(db, body["token"], LATER)
    assert link == signing_links.SigningLink(sent.recipients[0].id, sent.id, "recipient")
    assert body["token"].encode() not in job["body"]
    with pytest.raises(DamagedCiphertext):
        vault.decrypt("outbox", job["body"], b"invite:another:1")


async def test_a_mail_to_the_sender_carries_no_link(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    sent = await send(db, vault)
    before = len(await db.all("SELECT hash FROM link"))
    expired = replace(sent, expires_at=LATER)
    await save(db, vault, lifecycle.expire(expired, LATER), sent)
    job = (await list_queued(db, "mail"))[-1]
    body = json.loads(vault.decrypt("outbox", job["body"], job["key"].encode()))
    assert body == {"letter": "expired", "recipient": None, "token": None, "message": None}
    assert len(await db.all("SELECT hash FROM link")) == before


async def test_each_subscriber_gets_each_event_it_asked_for_once(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    everything_ = await subscribe(db)
    some = await subscribe(db, events=("document.sent",), created_at=NOW + 1)
    await subscribe(db, enabled=False)
    await subscribe(db, mode=Mode.TEST)
    await subscribe(db, events=("document.completed",))
    sent = await send(db, vault)

    ids = {event["type"]: event["id"] for event in await list_published(db)}
    queued_ = await db.all("SELECT * FROM delivery ORDER BY number")
    expected = [
        (everything_, ids["document.created"]),
        (everything_, ids["document.sent"]),
        (some, ids["document.sent"]),
        (everything_, ids["recipient.sent"]),
    ]
    assert [(row["webhook_id"], row["event_id"]) for row in queued_] == expected
    types = {event_id: event_type for event_type, event_id in ids.items()}
    assert all(row["event_type"] == types[row["event_id"]] for row in queued_)
    assert {(row["status"], row["tries"], row["attempt_count"]) for row in queued_} == {("pending", 0, 0)}
    assert len({row["id"] for row in queued_}) == len(queued_)
    assert await documents.get(db, sent.id) == sent


async def test_test_documents_reach_only_test_webhooks(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    await subscribe(db)
    mine = await subscribe(db, mode=Mode.TEST)
    await send(db, vault, mode=Mode.TEST)
    assert {row["webhook_id"] for row in await db.all("SELECT webhook_id FROM delivery")} == {mine}
    assert {event["mode"] for event in await list_published(db)} == {"test"}


@pytest.mark.parametrize("by", ["failing later", "losing the race"])
async def test_an_outcome_that_is_not_saved_leaves_nothing_at_all(
    db: Database, vault: Vault, organisation: Organisation, by: str
) -> None:
    await subscribe(db)
    draft = await store(db, vault, a_document())
    before = await everything(db)
    outcome = lifecycle.send(draft, AUTHOR, LATER)
    known = replace(draft, revision=9) if by == "losing the race" else draft

    async def write(tx: Transaction) -> None:
        await outcomes.save(tx, outcome, known, vault, LATER)
        raise Problem("unavailable")

    with pytest.raises(Problem, match="revision_mismatch" if by == "losing the race" else "unavailable"):
        await db.write(write)
    assert await everything(db) == before


async def test_an_outcome_that_changes_nothing_writes_nothing(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    draft = await store(db, vault, a_document())
    before = await everything(db)
    assert await save(db, vault, Outcome(draft), draft) is draft
    assert await everything(db) == before


async def test_a_fact_alone_raises_the_revision(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    draft = await store(db, vault, a_document())
    saved = await save(db, vault, Outcome(draft, (Event("document.seal_failed", LATER),)), draft)
    assert saved == replace(draft, revision=2)


async def test_only_one_of_two_outcomes_of_the_same_state_is_saved(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    sent = await send(db, vault, a_recipient("Ana"), a_recipient("Bo"))
    ana, bo = sent.recipients
    done = await save(db, vault, lifecycle.complete(sent, ana, "I agree", ORIGIN, LATER), sent)
    with pytest.raises(Problem) as lost:
        await save(db, vault, lifecycle.decline(sent, bo, None, ORIGIN, LATER), sent)
    assert (lost.value.status, lost.value.current_status) == (409, "sent")
    assert await documents.get(db, sent.id) == done
    assert is_intact(await audit_entries.find_entries(db, sent.id))


async def test_the_sealed_copy_is_queued_for_everybody_and_the_sender(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    sent = await send(db, vault, a_recipient("Ana"), a_recipient("Cy", role=Role.CC))
    sealing = await save(
        db, vault, lifecycle.complete(sent, sent.recipients[0], "I agree", ORIGIN, LATER), sent
    )
    await save(db, vault, lifecycle.seal(sealing, a_seal(), LATER), sealing)
    keys = [row["key"] for row in await list_queued(db, "mail")]
    assert keys[1:] == [f"completed:{sent.id}", *(f"completed:{r.id}" for r in sent.recipients)]
    assert await outbox.find_next_due(db, "mail") == LATER
