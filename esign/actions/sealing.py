"""Turning a document that everybody has signed into its sealed file (contract D7, D8)."""

import asyncio
from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from esign.actions.device import in_words
from esign.actions.drawing import drawn_fields, ink_of, inks_of
from esign.actions.printing import font_paths
from esign.actions.upload import sha256_of
from esign.core import lifecycle
from esign.core.account import Organisation
from esign.core.audit import Entry
from esign.core.document import Document, Ink, Mode, Recipient, RecipientStatus, Role, Seal, Status
from esign.core.errors import Problem
from esign.core.instant import Instant, to_datetime
from esign.pdf.order import Sealed, SealFailed, SealOrder
from esign.pdf.workers import WorkerFailed
from esign.runtime import Runtime
from esign.store import accounts, blobs, documents, events, outbox, outcomes
from esign.store.database import Transaction
from esign.store.outbox import Job

CERTIFICATE_LANGUAGES = ("en", "de", "fr", "ar")
WATERMARK = "TEST – no legal effect"


async def seal(runtime: Runtime, job: Job) -> None:
    """One attempt: draw, seal and verify in a worker, then save; a failure is noted and planned again."""
    assert job.document_id is not None
    document = await documents.get(runtime.db, job.document_id)
    if document.status is not Status.SEALING:
        await finish(runtime, job)
        return
    now = runtime.clock.now()
    try:
        order = await prepare(runtime, document, now)
        sealed = await runtime.pdf.seal(order, runtime.credentials[document.mode])
    except (SealFailed, WorkerFailed, Problem, blobs.Missing) as failure:
        await postpone(runtime, job, reason_of(failure))
        return
    await save(runtime, job, sealed, now)


def reason_of(failure: Exception) -> str:
    return failure.message if isinstance(failure, Problem) else str(failure)


async def finish(runtime: Runtime, job: Job) -> None:
    async def write(tx: Transaction) -> None:
        await outbox.finish(tx, job, runtime.clock.now())

    await runtime.db.write(write)


async def postpone(runtime: Runtime, job: Job, reason: str) -> None:
    """Note why it failed and when it is tried again."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> None:
        assert job.document_id is not None
        before = await documents.get(tx, job.document_id)
        outcome, due_at = lifecycle.seal_failed(before, reason, now)
        await outcomes.save(tx, outcome, before, runtime.vault, now)
        await outbox.postpone(tx, job, due_at, reason)

    await runtime.db.write(write)
    runtime.bell.ring()


async def save(runtime: Runtime, job: Job, sealed: Sealed, now: Instant) -> None:
    """State, files, events and mails in one transaction: `completed` means the file can be fetched."""
    hashes = await asyncio.to_thread(sha256_of, (sealed.sealed, sealed.certificate))

    async def write(tx: Transaction) -> None:
        assert job.document_id is not None
        before = await documents.get(tx, job.document_id)
        if before.status is Status.SEALING:
            for content, sha256 in zip((sealed.sealed, sealed.certificate), hashes, strict=True):
                await blobs.add(tx, content, now, sha256)
            await blobs.attach(tx, before.id, *hashes)
            done = Seal(
                level=sealed.level,
                sealed_at=now,
                sha256=hashes[0],
                size=len(sealed.sealed),
                page_count=sealed.page_count,
                timestamped=False,
                certificate=sealed.certificate_sha256,
                certificate_sha256=hashes[1],
            )
            await outcomes.save(tx, lifecycle.seal(before, done, now), before, runtime.vault, now)
            if before.seal_error is not None:  # what held this one up may have held up others
                await outbox.hasten(tx, "seal", now, before.seal_error)
        await outbox.finish(tx, job, now)

    await runtime.db.write(write)
    runtime.bell.ring()


# ---------- what is drawn ----------


async def prepare(runtime: Runtime, document: Document, now: Instant) -> SealOrder:
    """Everything the worker needs: the file, the values in their places, the facts of the certificate page."""
    organisation = await accounts.get_organisation(runtime.db, document.organisation_id)
    trail = up_to_last_act(await events.trail(runtime.db, document.id))
    pictures = {
        ink.picture: await blobs.get(runtime.db, ink.picture)
        for recipient in document.recipients
        for ink in inks_of(recipient)
        if ink.picture
    }
    return SealOrder(
        prepared=await blobs.get(runtime.db, document.file.prepared),
        fields=tuple(drawn_fields(document, pictures)),
        certificate=facts(runtime.config.server.base_url, document, organisation, trail, pictures, now),
        now=now,
        font_paths=font_paths(runtime),
    )


def up_to_last_act(trail: list[Entry]) -> list[Entry]:
    """The trail as it is printed: what the sealing itself adds comes after it in the chain."""
    last = max(n for n, line in enumerate(trail, 1) if line.type == "recipient.completed")
    return trail[:last]


def facts(
    base_url: str,
    document: Document,
    organisation: Organisation,
    trail: list[Entry],
    pictures: Mapping[str, bytes],
    now: Instant,
) -> dict[str, Any]:
    """The data of the certificate page, in the words of its templates; times in the organisation's zone."""
    zone = ZoneInfo(organisation.time_zone)

    def local(at: Instant | None) -> str | None:
        return None if at is None else to_datetime(at).astimezone(zone).isoformat()

    lang = (document.locale or organisation.locale).split("-")[0]
    sender = document.created_by
    by_member = sender.kind == "member"
    return {
        "schema": 1,
        "paper": "a4",
        "lang": lang if lang in CERTIFICATE_LANGUAGES else "en",
        "mode": document.mode.value,
        "time_zone": organisation.time_zone,
        "organisation": {"name": organisation.name, "colour": organisation.colour, "logo": None},
        "verify": {
            "url": f"{base_url}/verify/{document.id}",
            "short": f"{base_url.partition('://')[2]}/verify",
        },
        "document": {
            "id": document.id,
            "title": document.title,
            "lang": document.locale,
            "file_name": document.file.name,
            "status": "completed",
            "pages": document.page_count,
            "sender": {
                "name": sender.name if by_member else organisation.name,
                "email": sender.email or organisation.reply_to or "",
            },
            "sent_at": local(document.sent_at),
            "closed_at": local(now),
            "close_reason": None,
        },
        "files": {"uploaded_sha256": document.file.uploaded, "prepared_sha256": document.file.prepared},
        "recipients": [of_recipient(recipient, pictures, local) for recipient in document.recipients],
        "audit": [of_entry(line, local) for line in trail],
        "chain": {"entries": len(trail), "head": trail[-1].hash.hex()},
        **({"watermark": WATERMARK} if document.mode is Mode.TEST else {}),
    }


STATUS_WORDS = {RecipientStatus.COMPLETED: "signed", RecipientStatus.DECLINED: "declined"}


def of_recipient(recipient: Recipient, pictures: Mapping[str, bytes], local: Any) -> dict[str, Any]:
    shown = recipient.ink or next(
        (f.value for f in recipient.fields if f.type == "signature" and isinstance(f.value, Ink)), None
    )
    status = STATUS_WORDS.get(recipient.status, "waiting")
    if status == "signed" and recipient.role is Role.APPROVER:
        status = "approved"
    return {
        "name": recipient.name,
        "lang": recipient.locale,
        "email": recipient.email,
        "role": recipient.role.value,
        "status": status,
        "authentication": {"method": recipient.authentication, "result": "passed"},
        "ip": recipient.origin.ip,
        "device": in_words(recipient.origin.user_agent),
        "consent": recipient.consent.split(" ")[0] if recipient.consent else None,
        "sent_at": local(recipient.sent_at),
        "viewed_at": local(recipient.viewed_at),
        f"{status}_at": local(recipient.completed_at),
        "signature": ink_of(shown, pictures) if shown else None,
    }


def of_entry(line: Entry, local: Any) -> dict[str, Any]:
    personal = line.personal or {}
    detail = personal.get("detail") or {}
    name = (personal.get("actor") or {}).get("name")
    if line.actor_kind == "api_key":
        name = f"API key {name}"
    return {
        "seq": line.seq,
        "at": local(line.at),
        "type": line.type,
        "actor": {"kind": line.actor_kind, "name": name or line.actor_id},
        "ip": personal.get("ip"),
        "note": detail.get("email")
        or detail.get("reason")
        or new_address(detail)
        or removed_words(line.data),
        "hash": line.hash.hex(),
    }


def new_address(detail: Mapping[str, Any]) -> str | None:
    """Where a corrected recipient is reached now."""
    return detail["new"]["email"] if "new" in detail else None


def removed_words(data: Mapping[str, Any]) -> str | None:
    """What normalising dropped from the uploaded file."""
    return ", ".join(data["removed"]) if data.get("removed") else None
