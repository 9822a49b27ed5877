"""Turns a queued letter into an e-mail and sends it.

The letter is written when it is sent, so it is never out of date.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import parseaddr
from typing import Any
from urllib.parse import urlsplit

from esign.actions.base import logo_pictures, stored_codes
from esign.actions.mail import mail_archive, mail_breaker, notices, test_mode_mail
from esign.actions.mail.document_letters import Post, write_letter
from esign.actions.mail.embedded_outbox import KEPT
from esign.actions.mail.mail_archive import MailCopy
from esign.actions.mail.test_mode_mail import MailContext
from esign.core.actor import Mode, Owner
from esign.core.document import estimate
from esign.core.document import mail_delivery as rules
from esign.core.document.challenge import Method
from esign.core.document.document import MailDelivery, Recipient, Status
from esign.core.document.filename import name_file
from esign.core.document.signing_link import Reached
from esign.core.document.state.edit import is_redirected
from esign.core.instant import HOUR, MINUTE, Instant, Millis, rfc3339
from esign.core.people.account import Organisation
from esign.mail.failure import PermanentFailure, RelayFailure, TemporaryFailure
from esign.mail.message import Attachment, NamedMailbox, compose_message
from esign.mail.pool import compute_share
from esign.mail.sheet import Letter
from esign.runtime import Runtime
from esign.store.document import blobs, challenges, documents, outcomes, signing_drafts, signing_links
from esign.store.engine.database import Reader, Transaction
from esign.store.people import organisations
from esign.store.queue import kept_mail, outbox
from esign.store.queue.mail_breaker import find_stop, hasten_probe
from esign.store.queue.outbox import Job

log = logging.getLogger("esign.mail")

RETRIES: tuple[Millis, ...] = tuple(n * MINUTE for n in (1, 2, 5, 10, 20, 40))
GIVE_UP_AFTER = 72 * HOUR
# Twice as many as the default number of connections: while some are being sent, others are written.
AT_ONCE = 16
LEASE: Millis = 5 * MINUTE  # longer than any attempt takes
NOT_MAILED = (KEPT, test_mode_mail.CAPTURED)
ADDRESS = re.compile(r"\S+@\S+")


async def choose_due(runtime: Runtime, now: Instant, room: int) -> list[int]:
    """Return the ids of up to `room` e-mails to try now.

    While the mail server takes no mail, return one e-mail when a probe is due, otherwise none.
    """
    stop, most = await find_stop(runtime.db), compute_share(AT_ONCE)
    if stop is None:
        return await outbox.find_due_mails(runtime.db, now, room, now, most)
    if now < stop.probe_at:
        return []
    # A probed e-mail goes to the end of the queue, so that each probe tries another one.
    return await outbox.find_due_mails(runtime.db, now, 1, now - now % outbox.SHARE, most)


async def deliver(runtime: Runtime, job: Job) -> None:
    """Make one attempt to send the e-mail of a job.

    The Message-ID is the same at every attempt, so that a repetition after a crash can be recognised.
    """
    if job.document_id is None:
        await deliver_notice(runtime, job)
        return
    post = await read_post(runtime, job)
    to = find_address(post)
    if (
        to is None
        or is_stale(post, runtime.clock.read_settled_time())
        or await is_revoked(runtime.db, post, runtime.clock.read_settled_time())
    ):
        copy = MailCopy(post.letter, to.address if to else "")
        await finish(runtime, job, post, MailDelivery.NONE, copy=copy)
        return
    attached = await read_attachments(runtime, post)

    def write() -> Letter:
        base_url, link_days = runtime.config.server.base_url, runtime.config.limits.link_days
        return write_letter(base_url, post, runtime.clock.now(), bool(attached), link_days)

    owner = Owner(post.organisation.id, post.document.mode)
    about = MailContext(owner, to.address, post.document.id, post.recipient.id if post.recipient else None)
    parcel = Parcel(post.letter, post.organisation, to, about, write, list_secrets(post), attached)
    await attempt(runtime, job, post, parcel)


def list_secrets(post: Post) -> tuple[str, ...]:
    """Return the secrets in the letter that let a reader act as its recipient. In test mode there are none."""
    if post.document.mode is Mode.TEST:
        return ()
    code = mail_archive.list_spellings(post.code) if post.code else ()
    return (*code, post.token) if post.token else code


async def deliver_notice(runtime: Runtime, job: Job) -> None:
    """Make one attempt to send a letter that concerns no document."""
    notice = await notices.read_notice(runtime, job)
    about = MailContext(Owner(notice.organisation.id, notice.mode), notice.to.address)
    opening = (notice.link.rpartition("/")[2],) if notice.link else ()

    def write() -> Letter:
        return notices.write_letter(notice)

    parcel = Parcel(notice.letter, notice.organisation, notice.to, about, write, opening)
    await attempt(runtime, job, None, parcel)


@dataclass(frozen=True, slots=True)
class Parcel:
    """What goes into one e-mail.

    `write` is called in a thread, because writing takes a while. `opening` holds the secrets that the copy of
    the e-mail must not contain.
    """

    letter: str
    organisation: Organisation
    to: NamedMailbox
    about: MailContext
    write: Callable[[], Letter]
    opening: tuple[str, ...]
    attached: tuple[Attachment, ...] = ()


async def attempt(runtime: Runtime, job: Job, post: Post | None, parcel: Parcel) -> None:
    """Send the e-mail, and record the result on the recipient of `post`, if any."""
    copy = MailCopy(parcel.letter, parcel.to.address)
    try:
        message = await asyncio.to_thread(write_message, runtime, job, parcel)
        copy = mail_archive.fill_copy(copy, message, parcel.opening)
        reply = await test_mode_mail.send(runtime, message, parcel.about)
    except RelayFailure as failure:
        await wait_for_relay(runtime, job, failure, copy)
    except TemporaryFailure as failure:
        await postpone(runtime, job, post, failure, copy)
    except PermanentFailure as failure:
        await finish(runtime, job, post, MailDelivery.FAILED, str(failure), copy=copy)
    else:
        delivery = MailDelivery.KEPT if reply in NOT_MAILED else MailDelivery.ACCEPTED
        await finish(runtime, job, post, delivery, copy=copy, reply=reply)


def write_message(runtime: Runtime, job: Job, parcel: Parcel) -> EmailMessage:
    """Return the complete message of an e-mail."""
    organisation = parcel.organisation
    return compose_message(
        parcel.write(),
        sender=find_sender(runtime, organisation),
        to=parcel.to,
        message_id=make_message_id(runtime, job),
        at=runtime.clock.now(),
        reply_to=NamedMailbox(organisation.reply_to) if organisation.reply_to else None,
        attachments=parcel.attached,
    )


async def read_post(runtime: Runtime, job: Job) -> Post:
    """Return the letter of a job, with the document and its recipients as they are now."""
    assert job.document_id is not None
    body: dict[str, Any] = json.loads(runtime.vault.decrypt("outbox", job.body, job.key.encode()))
    document = await documents.get(runtime.db, job.document_id)
    organisation = await organisations.get(runtime.db, document.organisation_id)
    recipient = document.recipient(body["recipient"]) if body["recipient"] else None
    return Post(
        document,
        organisation,
        body["letter"],
        recipient,
        body["token"],
        body.get("message"),
        body.get("code"),
        body.get("until"),
        document.recipient(body["about"]) if body.get("about") else None,
        NamedMailbox(*body["to"]) if body.get("to") else None,
        await count_filled(runtime, recipient) if recipient and body["letter"] == "reminder" else 0,
        await logo_pictures.make_inline_logo(runtime.db, organisation),
    )


async def count_filled(runtime: Runtime, recipient: Recipient) -> int:
    """Return how many fields the recipient has filled in without having finished."""
    draft = await signing_drafts.get(runtime.db, recipient.id, runtime.vault)
    return estimate.count_filled(recipient, {id: entry.value for id, entry in draft.entries.items()})


def find_address(post: Post) -> NamedMailbox | None:
    """Return the mailbox that the letter goes to, or None for a sender without an e-mail address."""
    if post.to is not None:
        return post.to
    if post.recipient is not None:
        return NamedMailbox(post.recipient.email, post.recipient.name)
    sender = post.document.created_by
    to = sender.email or post.organisation.reply_to
    return NamedMailbox(to, sender.name if sender.email else post.organisation.name) if to else None


def is_stale(post: Post, now: Instant) -> bool:
    """Return whether the letter is no longer needed.

    That is a code that has ended, or an invitation or reminder of a recipient who need not act, or read, any
    more. It is also the notice to a former address if the document goes to that address again. A former address
    that belongs to another recipient of the document does get the notice: otherwise a sender could replace a
    signer unnoticed by first adding them as the recipient of a copy.
    """
    if post.until is not None and now >= post.until:
        return True
    if post.to is not None:
        return post.about is not None and not is_redirected(post.about, post.to.address)
    if post.letter not in ("invitation", "reminder"):
        return False
    assert post.recipient is not None
    return post.document.status is not Status.SENT or not post.recipient.is_active


async def is_revoked(reader: Reader, post: Post, now: Instant) -> bool:
    """Return whether the link in the letter has ended since the letter was queued. It was meant for another address."""
    return post.token is not None and await signing_links.find(reader, post.token, now) is None


def make_message_id(runtime: Runtime, job: Job) -> str:
    """Return the Message-ID, `local@host`, derived from the key of the job."""
    host = urlsplit(runtime.config.server.base_url).hostname or "localhost"
    return f"eml.{re.sub(r'[^A-Za-z0-9_.-]', '.', job.key)}@{host.replace(':', '.')}"


def find_sender(runtime: Runtime, organisation: Organisation) -> NamedMailbox:
    """Return the configured mailbox under the name of the organisation."""
    configured = runtime.config.mail.sender
    address = parseaddr(configured)[1] if configured else "esign@localhost.localdomain"
    return NamedMailbox(address, organisation.name)


async def read_attachments(runtime: Runtime, post: Post) -> tuple[Attachment, ...]:
    """Return the sealed file if it is small enough to be mailed.

    It is not attached if the recipient needs an access code to see the document, since an e-mail cannot ask for
    the code.
    """
    seal, most = post.document.seal, runtime.config.limits.attachment_mib * 2**20
    if post.letter != "completed" or seal is None or seal.size > most:
        return ()
    if post.recipient is not None and post.recipient.authentication == Method.ACCESS_CODE:
        return ()
    content = await blobs.get(runtime.db, seal.sha256)
    return (Attachment(name_file(post.document, "sealed"), content),)


def mask_addresses(reason: str | None) -> str:
    """Return the mail server's reason without e-mail addresses, for the log."""
    return ADDRESS.sub("<address>", reason or "refused")


async def finish(
    runtime: Runtime,
    job: Job,
    post: Post | None,
    delivery: MailDelivery,
    reason: str | None = None,
    *,
    copy: MailCopy,
    reply: str | None = None,
) -> None:
    """Finish the job and record the result on the recipient. An e-mail that was no longer needed records nothing.

    If the document was deleted meanwhile, nothing is recorded, and the stored e-mail is deleted too.
    """
    now, words = runtime.clock.now(), mail_archive.seal_copy(runtime.vault, job.key, copy)
    if delivery is MailDelivery.FAILED:
        log.warning("mail %s is given up: %s", job.key, mask_addresses(reason))

    async def write(tx: Transaction) -> None:
        if not await outbox.is_there(tx, job):
            await kept_mail.forget(tx, make_message_id(runtime, job))
            return
        if post is not None and delivery is not MailDelivery.NONE:
            await note_delivery(runtime, tx, post, delivery, reason, now)
            await note_reached(runtime, tx, post, delivery)
        await outbox.finish(tx, job, now, reason, words=words, reply=reply)
        if delivery is MailDelivery.ACCEPTED:
            await mail_breaker.note_success(tx, job, now)
        else:
            # This attempt said nothing about the mail server, so the next probe is due at once.
            await hasten_probe(tx, now, job.organisation_id)

    await runtime.db.write(write)


async def note_delivery(
    runtime: Runtime, tx: Transaction, post: Post, delivery: MailDelivery, reason: str | None, now: Instant
) -> None:
    """Record the result on the recipient, unless the letter went to an address that is no longer theirs."""
    if post.recipient is None or await is_revoked(tx, post, now):
        return
    before = await documents.get(tx, post.document.id)
    recipient = before.recipient(post.recipient.id)
    if recipient.email != post.recipient.email:  # a letter with a code has no link that could be revoked
        return
    if delivery is MailDelivery.FAILED:
        outcome = rules.record_failed_delivery(before, recipient, reason or "refused", now)
    else:
        outcome = rules.record_delivery(before, recipient, delivery, now)
    await outcomes.save(tx, outcome, before, runtime.vault, now)


async def note_reached(runtime: Runtime, tx: Transaction, post: Post, delivery: MailDelivery) -> None:
    """Record on the link and the code in the e-mail whether it was sent or stored here.

    This later shows by which way a recipient who uses them got them.
    """
    routes = {MailDelivery.ACCEPTED: Reached.EMAIL, MailDelivery.KEPT: Reached.KEPT}
    if delivery not in routes:
        return
    if post.token is not None:
        await signing_links.note_reached(tx, post.token, routes[delivery])
    if post.code is not None and post.recipient is not None:
        mac = stored_codes.encode_mailed_code(runtime.vault, post.recipient.id, post.code)
        await challenges.note_reached(tx, post.recipient.id, mac, routes[delivery])


async def postpone(
    runtime: Runtime, job: Job, post: Post | None, failure: TemporaryFailure, copy: MailCopy
) -> None:
    """Postpone the job by 1, 2, 5, 10, 20, 40 minutes, then by an hour each time. Give up after 72 hours in all."""
    now, reason = runtime.clock.now(), failure.reason
    if job.attempts > len(RETRIES) + GIVE_UP_AFTER // HOUR:
        await finish(runtime, job, post, MailDelivery.FAILED, reason, copy=copy)
        return
    wait = RETRIES[job.attempts - 1] if job.attempts <= len(RETRIES) else HOUR
    log.warning(
        "mail %s was not taken: %s; tried again at %s", job.key, mask_addresses(reason), rfc3339(now + wait)
    )

    words = mail_archive.seal_copy(runtime.vault, job.key, copy)

    async def write(tx: Transaction) -> None:
        await outbox.postpone(tx, job, now + wait, reason, words)
        await mail_breaker.note_deferral(tx, job, failure, now)

    await runtime.db.write(write)


async def wait_for_relay(runtime: Runtime, job: Job, failure: RelayFailure, copy: MailCopy) -> None:
    """Put the e-mail back without charging it an attempt, and stop sending, apart from regular probes."""
    now, words = runtime.clock.now(), mail_archive.seal_copy(runtime.vault, job.key, copy)

    async def write(tx: Transaction) -> None:
        await mail_breaker.note_refusal(tx, job, failure, now, words)

    await runtime.db.write(write)
