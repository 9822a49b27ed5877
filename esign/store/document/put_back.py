"""Saves a document that is completed with a file that was sealed before: nothing is mailed, no webhook is called."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from esign.core.actor import Actor, Origin
from esign.core.document.audit import AuditEntry
from esign.core.document.document import Document, Seal
from esign.core.document.signing_draft import find_ended_drafts
from esign.core.document.state.outcome import Event, Outcome
from esign.core.instant import Instant
from esign.core.people.usage import Usage, name_completion_time
from esign.core.webhook import webhook
from esign.store.document import (
    blobs,
    challenges,
    documents,
    outcomes,
    phone_handoffs,
    signing_drafts,
    signing_links,
)
from esign.store.engine.database import Transaction
from esign.store.people import usage
from esign.store.queue import audit_entries, held_jobs, published_events
from esign.system.entropy import make_id
from esign.system.vault import Vault


@dataclass(frozen=True, slots=True)
class SealedContents:
    """The contents of the sealed file and of its certificate of completion, whose hashes the seal has."""

    sealed: bytes
    certificate: bytes


async def save(
    tx: Transaction,
    outcome: Outcome,
    before: Document,
    adopted: Sequence[AuditEntry],
    contents: SealedContents,
    vault: Vault,
    now: Instant,
) -> None:
    """Save the outcome of `core.document.put_back`, with the entries of the file that the trail here does not have yet.

    The entries stay as they are: their hashes are in the file. Raises `revision_mismatch`.
    """
    document = replace(outcome.document, revision=before.revision + 1)
    seal = document.seal
    assert seal is not None
    await add_contents(tx, document.id, seal, contents, now)
    await documents.save(tx, document, before)
    for recipient_id in find_ended_drafts(before, document):
        await signing_drafts.forget(tx, recipient_id)
        await phone_handoffs.forget(tx, recipient_id)
    for entry in adopted:
        await audit_entries.append(tx, entry)
        if entry.type == "recipient.corrected" and entry.recipient_id is not None:
            # The links may have reached the wrong person: they were revoked when this was corrected.
            await signing_links.revoke(tx, entry.recipient_id, now)
            await challenges.end_proofs(tx, entry.recipient_id)
    await outcomes.record(tx, document.id, outcome.events, vault)
    await list_events(tx, document, (*map(read_event, adopted), *outcome.events), now)
    await held_jobs.finish_seal(tx, document.id, now)
    used = Usage(documents_completed=1, storage_bytes=len(contents.sealed) + len(contents.certificate))
    if document.sent_at is not None:
        took = seal.sealed_at - document.sent_at
        used = replace(used, **{name_completion_time(took): 1})
    await usage.add(tx, outcomes.make_meter(document, now), used)


async def add_contents(
    tx: Transaction, document_id: str, seal: Seal, contents: SealedContents, now: Instant
) -> None:
    """Store both files for the document."""
    await blobs.add(tx, contents.sealed, now, seal.sha256)
    await blobs.add(tx, contents.certificate, now, seal.certificate_sha256)
    await blobs.attach(tx, document_id, seal.sha256, seal.certificate_sha256)


def read_event(entry: AuditEntry) -> Event:
    """Return the event that an entry recorded."""
    personal = entry.personal or {}
    who = personal.get("actor") or {}
    return Event(
        entry.type,
        entry.at,
        Actor(entry.actor_kind, entry.actor_id, who.get("name"), who.get("email")),
        entry.recipient_id,
        Origin(personal.get("ip"), personal.get("userAgent")),
        entry.data,
        personal.get("detail"),
    )


async def list_events(tx: Transaction, document: Document, facts: Sequence[Event], now: Instant) -> None:
    """Store the facts that the API lists as events, numbered as their entries are, without a delivery of any."""
    published = [event for event in facts if event.type in webhook.PUBLISHED]
    so_far = await audit_entries.count(tx.points, document.id, tuple(webhook.PUBLISHED))
    for number, event in enumerate(published, so_far - len(published) + 1):
        body = webhook.make_payload(event, make_id("evt", now), number, document)
        await published_events.publish(tx, body, document.organisation_id, document.id, now)
