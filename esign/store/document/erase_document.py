"""Erases a document (D3, D12): everything but its audit trail, which loses its personal data."""

from dataclasses import replace

from esign.core.document.document import Document
from esign.core.document.state.outcome import Outcome
from esign.core.instant import Instant
from esign.store.document import documents, outcomes
from esign.store.engine.database import Transaction
from esign.store.queue import audit_entries, idempotency, kept_mail, outbox, published_events
from esign.system.vault import Vault

LETTERS = (
    *("invite", "remind", "completed", "declined", "expired", "cancelled", "code"),
    *("corrected", "renewal"),
)


async def erase(tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant) -> Document:
    """Erase a document and return it as it was.

    Its rows, links, mails, deliveries and events are deleted, and stored answers about it are reduced. A
    deletion by a person is also added to the administrative log. File content that nothing else refers to is
    left to `blobs.prune`.
    """
    await outcomes.record(tx, before.id, outcome.events, vault)
    for event in outcome.events:
        if event.actor.kind != "system":  # retention deletes on its own, as the system
            data = {"documentId": before.id, "mode": before.mode.value, "status": before.status.value}
            await outcomes.log(tx, before.organisation_id, replace(event, data=data, detail=None), vault)
    await audit_entries.erase_personal(tx, before.id)
    await published_events.forget(tx, before.id)
    await outbox.forget(tx, before.id)
    for owner in (before.id, *(recipient.id for recipient in before.recipients)):
        for letter in LETTERS:
            await kept_mail.forget(tx, f"eml.{letter}.{owner}")
    await kept_mail.forget_document(tx, before.organisation_id, before.id)
    await idempotency.reduce(tx, before.id, before.status.value, vault)
    await documents.delete(tx, before)
    await outcomes.publish(tx, before, outcome.events, now)
    return before
