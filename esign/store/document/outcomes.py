"""Saves a whole outcome in one transaction: document, audit entries, events, deliveries, mails and the seal job."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from esign.core.actor import Mode, Owner
from esign.core.document import audit
from esign.core.document.document import Document
from esign.core.document.mail_delivery import leaves_for_sender
from esign.core.document.signing_draft import find_ended_drafts
from esign.core.document.state.outcome import Event, Job, MailJob, Outcome, RevokeLinks
from esign.core.instant import DAY, Instant
from esign.core.mail_urgency import find_urgency
from esign.core.people.usage import ANSWER_TIME, Meter, Usage, name_completion_time
from esign.core.webhook import webhook
from esign.core.webhook.delivery import EventDelivery
from esign.core.webhook.webhook import Webhook
from esign.store.document import (
    blobs,
    challenges,
    documents,
    phone_handoffs,
    signing_drafts,
    signing_links,
    trails,
)
from esign.store.engine.database import Transaction
from esign.store.people import organisations, usage
from esign.store.queue import audit_entries, deliveries, outbox, published_events, webhooks
from esign.store.queue.outbox import NewJob
from esign.system.entropy import make_id, make_salt, make_token
from esign.system.vault import Vault


async def add(tx: Transaction, outcome: Outcome, vault: Vault, now: Instant) -> Document:
    """Add a new document with everything its creation causes; return it.

    The content of its file must have been stored before.
    """
    document = outcome.document
    await documents.add(tx, document)
    await blobs.attach(tx, document.id, document.file.uploaded, document.file.prepared)
    size = await blobs.get_size_of_document(tx.points, document.id)
    await _save_effects(tx, outcome, document, vault, now, storage_bytes=size)
    return document


async def save(tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant) -> Document:
    """Save an outcome and return the document with its revision raised by one.

    If nothing changed, nothing is written and `before` is returned. Raises `revision_mismatch`.
    """
    if outcome.document == before and not outcome.events and not outcome.jobs:
        return before
    document = replace(outcome.document, revision=before.revision + 1)
    await documents.save(tx, document, before)
    for recipient_id in find_ended_drafts(before, document):
        await signing_drafts.forget(tx, recipient_id)
        await phone_handoffs.forget(tx, recipient_id)
    await _save_effects(tx, outcome, document, vault, now)
    return document


async def save_events(tx: Transaction, outcome: Outcome, vault: Vault, now: Instant) -> None:
    """Save events and jobs that leave the document, and its revision, as they are."""
    await _save_effects(tx, outcome, outcome.document, vault, now)


async def _save_effects(
    tx: Transaction, outcome: Outcome, document: Document, vault: Vault, now: Instant, storage_bytes: int = 0
) -> None:
    """Save the events and jobs of an outcome, and count its usage with the bytes that it has stored."""
    await record(tx, document.id, outcome.events, vault)
    await publish(tx, document, outcome.events, now)
    for job in outcome.jobs:
        await _queue(tx, document, job, vault, now)
    mails = await count_mails(tx, document, outcome.jobs)
    used = replace(count_usage(outcome), emails=mails, storage_bytes=storage_bytes)
    await usage.add(tx, make_meter(document, now), used)


async def count_mails(tx: Transaction, document: Document, jobs: Sequence[Job]) -> int:
    """Return how many mails of these jobs leave. Those to a sender without an address do not."""
    letters = [job for job in jobs if isinstance(job, MailJob)]
    to_sender = [job for job in letters if job.recipient_id is None and job.to is None]
    if not to_sender or document.created_by.email:
        return len(letters)
    organisation = await organisations.get(tx.points, document.organisation_id)
    lost = [job for job in to_sender if not leaves_for_sender(job.letter, document, organisation.reply_to)]
    return len(letters) - len(lost)


def make_meter(document: Document, now: Instant) -> Meter:
    """Return the meter of the document's organisation and mode for the day of `now`."""
    return Meter(document.organisation_id, document.mode, now // DAY)


def count_usage(outcome: Outcome) -> Usage:
    """Return the usage that an outcome counts for, without its mails."""
    types = [event.type for event in outcome.events]
    used = Usage(
        documents_created=types.count("document.created"),
        documents_sent=types.count("document.sent"),
        documents_completed=types.count("document.completed"),
        reminders_sent=types.count("recipient.reminded"),
        reminders_answered=sum(is_answer_to_reminder(outcome.document, event) for event in outcome.events),
    )
    sent_at = outcome.document.sent_at
    for event in outcome.events:
        if event.type == "document.completed" and sent_at is not None:
            used = replace(used, **{name_completion_time(event.at - sent_at): 1})
    return used


def is_answer_to_reminder(document: Document, event: Event) -> bool:
    """Return whether the event is that a recipient finished soon after the last reminder."""
    if event.type != "recipient.completed" or event.recipient_id is None:
        return False
    reminded_at = document.recipient(event.recipient_id).last_reminded_at
    return reminded_at is not None and event.at - reminded_at <= ANSWER_TIME


async def record_fact(tx: Transaction, document_id: str, fact: Event, vault: Vault) -> None:
    """Record one event about a document that does not change.

    Raises `not_found` once the document is deleted, because its trail has ended.
    """
    await documents.get(tx, document_id)
    await record(tx, document_id, (fact,), vault)


async def record(
    tx: Transaction, document_id: str, facts: tuple[Event, ...], vault: Vault
) -> list[audit.AuditEntry]:
    """Add facts to the audit trail of a document, or to the log of an organisation; return the entries."""
    lines: list[audit.AuditEntry] = []
    if not facts:
        return lines
    end = await trails.find_end(tx.points, document_id)
    for event in facts:
        line = audit.make_entry(event, document_id, end.seq + 1, end.hash, make_salt())
        await audit_entries.append(tx, line)
        lines.append(line)
        end = replace(end, seq=line.seq, hash=line.hash)
    await trails.save_head(tx, end, vault)
    return lines


async def log(tx: Transaction, organisation_id: str, act: Event, vault: Vault) -> None:
    """Add an administrative act to the log of an organisation, and announce the entry to its live webhooks."""
    for line in await record(tx, organisation_id, (act,), vault):
        body = webhook.make_audit_payload(line, make_id("evt", line.at))
        await announce(tx, body, organisation_id, Mode.LIVE, line.at)


async def publish(tx: Transaction, document: Document, facts: tuple[Event, ...], now: Instant) -> None:
    """Store those recorded facts that webhooks may get, and queue a delivery for each webhook that wants one."""
    published = [event for event in facts if event.type in webhook.PUBLISHED]
    if not published:
        return
    subscribers = await webhooks.find(tx.points, Owner(document.organisation_id, document.mode))
    # The count includes these events: they are recorded already.
    so_far = await audit_entries.count(tx.points, document.id, tuple(webhook.PUBLISHED))
    offered: list[EventDelivery] = []
    for number, event in enumerate(published, so_far - len(published) + 1):
        body = webhook.make_payload(event, make_id("evt", now), number, document)
        await published_events.publish(tx, body, document.organisation_id, document.id, now)
        offered += _make_deliveries(body, subscribers, now)
    await deliveries.add(tx, offered)


async def announce(
    tx: Transaction, body: dict[str, object], organisation_id: str, mode: Mode, now: Instant
) -> None:
    """Publish an event that is not about a document."""
    await published_events.publish(tx, body, organisation_id, None, now)
    await deliveries.add(
        tx, _make_deliveries(body, await webhooks.find(tx, Owner(organisation_id, mode)), now)
    )


def _make_deliveries(
    body: dict[str, Any], subscribers: Sequence[Webhook], now: Instant
) -> list[EventDelivery]:
    """Return a delivery for each subscriber that wants the event."""
    return [
        deliveries.make_delivery(subscriber.id, body["id"], body["type"], now)
        for subscriber in subscribers
        if subscriber.wants(body["type"])
    ]


async def _queue(tx: Transaction, document: Document, job: Job, vault: Vault, now: Instant) -> None:
    """Carry out one job of an outcome: revoke links, queue the seal, or queue a mail with a new link."""
    if isinstance(job, RevokeLinks):
        await signing_links.revoke(tx, job.recipient_id, now)
        await challenges.end_proofs(tx, job.recipient_id)
        await signing_drafts.forget(tx, job.recipient_id)
        await phone_handoffs.forget(tx, job.recipient_id)
        return
    if not isinstance(job, MailJob):
        await outbox.requeue_seal(tx, document.id, now)
        return
    token = None
    if job.recipient_id is not None and job.code is None:
        token = make_token()
        await signing_links.add(
            tx, token, signing_links.SigningLink(job.recipient_id, document.id, "recipient"), now
        )
    letter: dict[str, Any] = {
        "letter": job.letter,
        "recipient": job.recipient_id,
        "token": token,
        "message": job.message,
    }
    if job.code is not None:
        letter |= {"code": job.code, "until": job.until}
    if job.about is not None:
        letter |= {"about": job.about, "to": job.to}
    body = json.dumps(letter).encode()
    queued = NewJob(
        "mail",
        job.key,
        document.id,
        vault.encrypt("outbox", body, job.key.encode()),
        Owner(document.organisation_id, document.mode),
        find_urgency(job.letter),
    )
    await outbox.add(tx, queued, now)
