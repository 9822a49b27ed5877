"""What is left of a document that was deleted."""

import json
import re
from dataclasses import replace
from pathlib import Path

import esign.core
from esign.core.document.document import Document, Recipient
from esign.core.document.state import lifecycle
from esign.core.document.state.outcome import Outcome
from esign.core.people.account import Organisation
from esign.store.document import documents, outcomes, signing_links
from esign.store.document.erase_document import LETTERS, erase
from esign.store.engine.database import Database, Transaction
from esign.store.queue import (
    audit_entries,
    deliveries,
    idempotency,
    kept_mail,
    outbox,
    published_events,
    webhooks,
)
from esign.store.queue.idempotency import StoredAnswer
from esign.store.queue.kept_mail import KeptMail
from esign.system.vault import Vault
from tests.factories import AUTHOR, NOW, a_document, a_recipient, a_webhook, is_intact, store
from tests.store.plans import walks

LATER = NOW + 5


async def cancel_document(db: Database, vault: Vault, *recipients: Recipient) -> Document:
    draft = await store(db, vault, a_document(*recipients))

    async def write(tx: Transaction) -> Document:
        sent = await outcomes.save(tx, lifecycle.send(draft, AUTHOR, NOW), draft, vault, NOW)
        outcome = lifecycle.cancel(sent, "why", True, AUTHOR, NOW)
        return await outcomes.save(tx, outcome, sent, vault, NOW)

    return await db.write(write)


async def delete(db: Database, vault: Vault, document: Document) -> None:
    outcome: Outcome = lifecycle.delete(document, AUTHOR, LATER)
    await db.write(lambda tx: erase(tx, outcome, document, vault, LATER))


async def keep(db: Database, key: str, document: Document | None = None) -> None:
    """A kept mail; one of test mode where its `document` is named."""
    mail = KeptMail(f"mail_{key}", f"<eml.{key}@h>", "Ana", "Hello", b"", NOW)
    if document is not None:
        mail = replace(mail, organisation_id=document.organisation_id, document_id=document.id)
    await db.write(lambda tx: kept_mail.keep(tx, mail))


async def test_only_the_document_itself_is_erased(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    gone, stays = await cancel_document(db, vault), await cancel_document(db, vault, a_recipient("Bo"))
    await keep(db, f"invite.{gone.recipients[0].id}.1")
    await keep(db, f"expired.{gone.id}")
    await keep(db, f"invite.{stays.recipients[0].id}.1")
    await keep(db, "any.letter", gone)
    before = await audit_entries.find_entries(db, stays.id)
    await delete(db, vault, gone)
    for table in ("recipient", "link", "document_blob", "outbox", "event"):
        rows = await db.all(f"SELECT document_id FROM {table}")
        left = {row["document_id"] for row in rows}
        assert left - {None} == ({stays.id, gone.id} if table == "event" else {stays.id}), table
    assert await documents.get(db, stays.id) == stays
    assert await audit_entries.find_entries(db, stays.id) == before
    assert [mail.message_id for mail in await kept_mail.find_newest(db, 9)] == [
        f"<eml.invite.{stays.recipients[0].id}.1@h>"
    ]


def test_every_letter_about_a_document_is_known_by_the_name_of_its_mail() -> None:
    """A name that is missing would leave kept mails behind."""
    core = Path(esign.core.__file__).parent
    names = {
        found[1]
        for one in core.rglob("*.py")
        for found in re.finditer(r'[f("](\w+):\{(?:document|recipient|r)\.id', one.read_text())
    }
    assert {"invite", "remind", "corrected", "renewal", "completed"} <= names
    assert names <= {*LETTERS}


async def test_the_trail_stays_without_what_is_personal_and_ends_with_the_deletion(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    document = await cancel_document(db, vault)
    await delete(db, vault, document)
    trail = await audit_entries.find_entries(db, document.id)
    assert [line.type for line in trail][-2:] == ["document.cancelled", "document.deleted"]
    assert is_intact(trail) and not any(line.personal or line.salt for line in trail)


async def test_one_event_is_left_and_only_its_deliveries(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    webhook = a_webhook()
    await db.write(lambda tx: webhooks.add(tx, webhook))
    document = await cancel_document(db, vault)
    assert len(await deliveries.find_pending(db, webhook.id)) == 4
    await delete(db, vault, document)
    (row,) = await db.all("SELECT body FROM event WHERE document_id IS NOT NULL")
    event = json.loads(row["body"])
    assert (event["type"], event["sequence"]) == ("document.deleted", 5)
    assert event["data"] == {"document": {"id": document.id, "externalId": None}}
    assert [left.event_id for left in await deliveries.find_pending(db, webhook.id)] == [event["id"]]


async def test_answers_about_it_keep_their_id_and_status(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    document = await cancel_document(db, vault)

    async def remember(tx: Transaction, key: str, about: str, **answer: str) -> None:
        body = vault.encrypt(
            idempotency.PURPOSE, json.dumps(answer).encode(), idempotency.compose_context("key_1", key)
        )
        await idempotency.add(tx, "key_1", key, StoredAnswer(b"print", 200, body, NOW, about), 0)

    await db.write(lambda tx: remember(tx, "a", document.id, id=document.id, status="sent", title="Offer"))
    await db.write(lambda tx: remember(tx, "b", document.id, recipientId="rcp_1", url="https://x/s/secret"))
    await db.write(lambda tx: remember(tx, "c", "doc_other", id="doc_other", title="Other"))
    await delete(db, vault, document)
    left = {}
    for key in "abc":
        stored = await idempotency.find(db, "key_1", key)
        assert stored is not None
        left[key] = json.loads(
            vault.decrypt(idempotency.PURPOSE, stored.body, idempotency.compose_context("key_1", key))
        )
    assert left == {
        "a": {"id": document.id, "status": "sent"},
        "b": {"id": document.id, "status": "cancelled"},
        "c": {"id": "doc_other", "title": "Other"},
    }


async def test_everything_is_found_along_an_index(db: Database, vault: Vault) -> None:
    assert await walks(db, lambda tx: audit_entries.erase_personal(tx, "doc_1")) == []
    assert await walks(db, lambda tx: published_events.forget(tx, "doc_1")) == []
    assert await walks(db, lambda tx: outbox.forget(tx, "doc_1")) == []
    assert await walks(db, lambda tx: kept_mail.forget(tx, "eml.invite.rcp_1")) == []
    assert await walks(db, lambda tx: kept_mail.forget_document(tx, "org_1", "doc_1")) == []
    assert await walks(db, lambda tx: idempotency.reduce(tx, "doc_1", "draft", vault)) == []
    assert await walks(db, lambda tx: signing_links.revoke(tx, "rcp_1", NOW)) == []
