"""Turning a queued letter into a mail: what it says is read when it leaves, so it is never out of date."""

import asyncio
import json
import logging
import re
from email.utils import parseaddr
from typing import Any
from urllib.parse import urlsplit

from esign.actions.correspondence import Post, write_letter
from esign.actions.files import name_of
from esign.core import delivery as rules
from esign.core.account import Organisation
from esign.core.document import Delivery, Status
from esign.core.instant import HOUR, MINUTE, Instant, Millis, rfc3339
from esign.mail.failure import AuthenticationFailure, PermanentFailure, TemporaryFailure
from esign.mail.message import Attachment, Mailbox, compose
from esign.runtime import Runtime
from esign.store import accounts, blobs, documents, links, outbox, outcomes
from esign.store.database import Reader, Transaction
from esign.store.outbox import Job

log = logging.getLogger("esign.mail")

RETRIES: tuple[Millis, ...] = tuple(n * MINUTE for n in (1, 2, 5, 10, 20, 40))
GIVE_UP_AFTER = 72 * HOUR
ATTACHED_UP_TO = 5 * 2**20
ADDRESS = re.compile(r"\S+@\S+")


async def deliver(runtime: Runtime, job: Job) -> None:
    """One attempt; the Message-ID is the same at every one, so a repeat after a crash can be recognised."""
    post = await read(runtime, job)
    to = address(post)
    if to is None or is_stale(post) or await is_revoked(runtime.db, post, runtime.clock.now()):
        await finish(runtime, job, post, Delivery.NONE)
        return
    attached = await attachments(runtime, post)
    try:
        message = await asyncio.to_thread(
            compose,
            write_letter(runtime.config.server.base_url, post, runtime.clock.now(), bool(attached)),
            sender=sender_of(runtime, post.organisation),
            to=to,
            message_id=message_id(runtime, job),
            at=runtime.clock.now(),
            reply_to=Mailbox(post.organisation.reply_to) if post.organisation.reply_to else None,
            attachments=attached,
        )
        await runtime.mail.send(message)
    except AuthenticationFailure as failure:
        log.error("the mail server refused our login: %s; check [mail] username and password", failure)
        await postpone(runtime, job, post, str(failure))
    except TemporaryFailure as failure:
        await postpone(runtime, job, post, str(failure))
    except PermanentFailure as failure:
        await finish(runtime, job, post, Delivery.FAILED, str(failure))
    else:
        await finish(runtime, job, post, Delivery.ACCEPTED)


async def read(runtime: Runtime, job: Job) -> Post:
    assert job.document_id is not None
    body: dict[str, Any] = json.loads(runtime.vault.decrypt("outbox", job.body, job.key.encode()))
    document = await documents.get(runtime.db, job.document_id)
    organisation = await accounts.get_organisation(runtime.db, document.organisation_id)
    recipient = document.recipient(body["recipient"]) if body["recipient"] else None
    return Post(document, organisation, body["letter"], recipient, body["token"], body.get("message"))


def address(post: Post) -> Mailbox | None:
    """Where it goes; a sender without a mailbox gets none."""
    if post.recipient is not None:
        return Mailbox(post.recipient.email, post.recipient.name)
    sender = post.document.created_by
    to = sender.email or post.organisation.reply_to
    return Mailbox(to, sender.name if sender.email else post.organisation.name) if to else None


def is_stale(post: Post) -> bool:
    """An invitation or reminder whose recipient need not act any more."""
    if post.letter not in ("invitation", "reminder"):
        return False
    assert post.recipient is not None
    return post.document.status is not Status.SENT or not post.recipient.invited


async def is_revoked(reader: Reader, post: Post, now: Instant) -> bool:
    """Whether its link has ended since it was queued: it was meant for another address."""
    return post.token is not None and await links.find(reader, post.token, now) is None


def message_id(runtime: Runtime, job: Job) -> str:
    """`local@host`, made of the job's own key."""
    host = urlsplit(runtime.config.server.base_url).hostname or "localhost"
    return f"eml.{re.sub(r'[^A-Za-z0-9_.-]', '.', job.key)}@{host.replace(':', '.')}"


def sender_of(runtime: Runtime, organisation: Organisation) -> Mailbox:
    """The organisation writes, from the configured mailbox."""
    configured = runtime.config.mail.sender
    address = parseaddr(configured)[1] if configured else "esign@localhost.localdomain"
    return Mailbox(address, organisation.name)


async def attachments(runtime: Runtime, post: Post) -> tuple[Attachment, ...]:
    """The sealed file, where it is small enough to be mailed."""
    seal = post.document.seal
    if post.letter != "completed" or seal is None or seal.size > ATTACHED_UP_TO:
        return ()
    content = await blobs.get(runtime.db, seal.sha256)
    return (Attachment(name_of(post.document, "sealed"), content),)


def masked(reason: str | None) -> str:
    """The mail server's words without anybody's address, for the log."""
    return ADDRESS.sub("<address>", reason or "refused")


async def finish(
    runtime: Runtime, job: Job, post: Post, delivery: Delivery, reason: str | None = None
) -> None:
    """Note on the recipient what became of it; a mail that was never due changes nothing."""
    now = runtime.clock.now()
    if delivery is Delivery.FAILED:
        log.warning("mail %s is given up: %s", job.key, masked(reason))

    async def write(tx: Transaction) -> None:
        noted = post.recipient is not None and delivery is not Delivery.NONE
        if noted and not await is_revoked(tx, post, now):
            assert post.recipient is not None
            before = await documents.get(tx, post.document.id)
            recipient = before.recipient(post.recipient.id)
            if delivery is Delivery.FAILED:
                outcome = rules.delivery_failed(before, recipient, reason or "refused", now)
            else:
                outcome = rules.delivered(before, recipient, now)
            await outcomes.save(tx, outcome, before, runtime.vault, now)
        await outbox.finish(tx, job, now, reason)

    await runtime.db.write(write)
    runtime.bell.ring()


async def postpone(runtime: Runtime, job: Job, post: Post, reason: str) -> None:
    """Try again later: 1, 2, 5, 10, 20, 40 minutes, then hourly, for 72 hours in all."""
    now = runtime.clock.now()
    if job.attempts > len(RETRIES) + GIVE_UP_AFTER // HOUR:
        await finish(runtime, job, post, Delivery.FAILED, reason)
        return
    wait = RETRIES[job.attempts - 1] if job.attempts <= len(RETRIES) else HOUR
    log.warning("mail %s was not taken: %s; tried again at %s", job.key, masked(reason), rfc3339(now + wait))

    async def write(tx: Transaction) -> None:
        await outbox.postpone(tx, job, now + wait, reason)

    await runtime.db.write(write)
