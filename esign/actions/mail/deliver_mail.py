"""Sends the mail of a job: `Job` → `OutgoingMail` → `Letter` → `EmailMessage`.

The letter is written when it is sent, so it is never out of date.
"""

import asyncio
import logging
import re
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import parseaddr

from esign.actions.base import stored_codes
from esign.actions.mail import mail_archive, mail_breaker, test_mode_mail
from esign.actions.mail.embedded_outbox import KEPT, make_message_id, make_message_name
from esign.actions.mail.mail_archive import MailCopy
from esign.actions.mail.read_mail import attach_anchor, attach_file, read_mail
from esign.config import MailSettings
from esign.core.document import mail_delivery as rules
from esign.core.document.anchor import UnreadableAnchor
from esign.core.document.document import MailDelivery, Status
from esign.core.document.signing_link import Reached
from esign.core.document.state.edit import is_redirected
from esign.core.instant import HOUR, MINUTE, SECOND, Instant, Millis, rfc3339
from esign.core.people.account import Organisation
from esign.mail.failure import PermanentFailure, RelayFailure, TemporaryFailure
from esign.mail.message import MessageAddresses, NamedMailbox, compose_message
from esign.mail.outgoing_mail import DocumentMail, Notice, OutgoingMail
from esign.mail.pool import compute_share
from esign.mail.write_letter import write_letter
from esign.runtime import Runtime
from esign.store.document import challenges, documents, outcomes, signing_links
from esign.store.engine.database import Reader, Transaction
from esign.store.queue import due_jobs, kept_mail, outbox
from esign.store.queue.mail_breaker import find_stop, hasten_probe
from esign.store.queue.outbox import Job, MailRecord

log = logging.getLogger("esign.mail")

RETRIES: tuple[Millis, ...] = tuple(n * MINUTE for n in (1, 2, 5, 10, 20, 40))
GIVE_UP_AFTER = 72 * HOUR
# Twice as many as the default number of connections: while some are being sent, others are written.
AT_ONCE = 16
LEASE: Millis = 5 * MINUTE  # longer than any attempt takes
# How long mails that nobody has to answer leave the processors to seals that wait. A mail with a sealed file takes as
# long to write as a third of a seal. Those who list the mails of test mode wait a little longer than this.
HELD: Millis = 4 * SECOND
NOT_MAILED = (KEPT, test_mode_mail.CAPTURED)
RESULTS = {  # as `/metrics` names them
    MailDelivery.ACCEPTED: "accepted",
    MailDelivery.KEPT: "kept",
    MailDelivery.FAILED: "given_up",
    MailDelivery.NONE: "unneeded",
}
ADDRESS = re.compile(r"\S+@\S+")


async def choose_due(runtime: Runtime, now: Instant, room: int) -> list[int]:
    """Return the ids of up to `room` e-mails to try now.

    While the mail server takes no mail, return one e-mail when a probe is due, otherwise none.
    """
    stop, most = await find_stop(runtime.db.points), compute_share(AT_ONCE)
    if stop is not None and now < stop.probe_at:
        return []
    held = now - HELD if await due_jobs.has_waiting_seal(runtime.db.points, now) else now
    times = due_jobs.MailTimes(now, held)
    if stop is None:
        return await due_jobs.find_due_mails(runtime.db, times, room, now, most)
    # A probed e-mail goes to the end of the queue, so that each probe tries another one.
    return await due_jobs.find_due_mails(runtime.db, times, 1, now - now % due_jobs.SHARE, most)


@dataclass(frozen=True, slots=True)
class MailResult:
    """What became of a mail, with the reason why it was given up, or the reply of the mail server that took it."""

    delivery: MailDelivery
    reason: str | None = None
    reply: str | None = None


async def deliver(runtime: Runtime, job: Job) -> None:
    """Make one attempt to send the e-mail of a job.

    The Message-ID is the same at every attempt, so that a repetition after a crash can be recognised.
    """
    mail = await read_mail(runtime, job)
    if isinstance(mail, DocumentMail):
        now = runtime.clock.read_settled_time()
        if mail.to is None or is_stale(mail, now) or await is_revoked(runtime.db.points, mail, now):
            await finish(runtime, job, mail, mail_archive.begin_copy(mail), MailResult(MailDelivery.NONE))
            return
        mail = await attach_file(runtime, mail)
    elif mail.letter == "anchor_made":
        try:
            mail = await attach_anchor(runtime, mail)
        except UnreadableAnchor as error:
            result = MailResult(MailDelivery.FAILED, reason=f"the anchor in the database: {error}")
            await finish(runtime, job, mail, mail_archive.begin_copy(mail), result)
            return
    await attempt(runtime, job, mail)


async def attempt(runtime: Runtime, job: Job, mail: Notice | DocumentMail) -> None:
    """Send the e-mail, and record the result.

    A failure of a mail server that was replaced meanwhile says nothing about the present one: the e-mail is due
    again at once.
    """
    copy, asked = mail_archive.begin_copy(mail), runtime.config.mail
    try:
        # In a thread, because writing takes a while.
        message, copy = await asyncio.to_thread(write_with_copy, runtime, job, mail)
        reply = await test_mode_mail.send(runtime, message, mail)
    except TemporaryFailure as failure:
        if runtime.config.mail != asked:
            await give_back(runtime, job, failure, copy)
        elif isinstance(failure, RelayFailure):
            await wait_for_relay(runtime, job, failure, copy)
        else:
            await postpone(runtime, job, mail, failure, copy)
    except PermanentFailure as failure:
        await finish(runtime, job, mail, copy, MailResult(MailDelivery.FAILED, reason=str(failure)))
    else:
        delivery = MailDelivery.KEPT if reply in NOT_MAILED else MailDelivery.ACCEPTED
        await finish(runtime, job, mail, copy, MailResult(delivery, reply=reply))


def write_with_copy(runtime: Runtime, job: Job, mail: Notice | DocumentMail) -> tuple[EmailMessage, MailCopy]:
    """Return the complete message of an e-mail, and its copy for the outbox."""
    message = write_message(runtime, job, mail)
    return message, mail_archive.copy_message(mail, message)


def write_message(runtime: Runtime, job: Job, mail: Notice | DocumentMail) -> EmailMessage:
    """Return the complete message of an e-mail."""
    organisation = mail.organisation
    assert mail.to is not None
    return compose_message(
        write_letter(mail),
        MessageAddresses(find_sender(runtime.config.mail, organisation), mail.to, mail.reply_to),
        message_id=make_message_id(runtime, job.key),
        at=runtime.clock.now(),
        attachments=mail.attachments,
    )


def is_stale(mail: DocumentMail, now: Instant) -> bool:
    """Return whether the letter is no longer needed.

    That is a code that has ended, or an invitation or reminder of a recipient who need not act, or read, any
    more. It is also the notice to a former address if the document goes to that address again. A former address
    that belongs to another recipient of the document does get the notice: otherwise a sender could replace a
    signer unnoticed by first adding them as the recipient of a copy.
    """
    if mail.until is not None and now >= mail.until:
        return True
    if mail.goes_to_former_address:
        assert mail.about is not None and mail.to is not None
        return not is_redirected(mail.about, mail.to.address)
    if mail.letter not in ("invitation", "reminder"):
        return False
    assert mail.recipient is not None
    return mail.document.status is not Status.SENT or not mail.recipient.is_active


async def is_revoked(reader: Reader, mail: DocumentMail, now: Instant) -> bool:
    """Return whether the link in the letter has ended since the letter was queued. It was meant for another address."""
    return mail.token is not None and await signing_links.find(reader, mail.token, now) is None


def find_sender(mail: MailSettings, organisation: Organisation) -> NamedMailbox:
    """Return the mailbox of the settings under the name of the organisation."""
    configured = mail.sender
    address = parseaddr(configured)[1] if configured else "esign@localhost.localdomain"
    return NamedMailbox(address, organisation.name)


def mask_addresses(reason: str | None) -> str:
    """Return the mail server's reason without e-mail addresses, for the log."""
    return ADDRESS.sub("<address>", reason or "refused")


async def finish(
    runtime: Runtime,
    job: Job,
    mail: OutgoingMail,
    copy: MailCopy,
    result: MailResult,
) -> None:
    """Finish the job and record the result on the recipient. An e-mail that was no longer needed records nothing.

    If the document was deleted meanwhile, nothing is recorded, and the stored e-mail is deleted too.
    """
    now = runtime.clock.now()
    runtime.measures.mails[RESULTS[result.delivery]] += 1
    if result.delivery is MailDelivery.FAILED:
        log.warning("mail %s is given up: %s", job.key, mask_addresses(result.reason))

    async def write(tx: Transaction) -> None:
        if not await outbox.is_there(tx.points, job):
            await kept_mail.forget(tx, make_message_name(job.key))
            return
        if isinstance(mail, DocumentMail) and result.delivery is not MailDelivery.NONE:
            await note_delivery(runtime, tx, mail, result, now)
            await note_reached(runtime, tx, mail, result.delivery)
        words = mail_archive.seal_copy(runtime.vault, job.key, copy)
        await outbox.finish(tx, job, now, result.reason, MailRecord(words, result.reply))
        if result.delivery is MailDelivery.ACCEPTED:
            await mail_breaker.note_success(tx, job, now)
        else:
            # This attempt said nothing about the mail server, so the next probe is due at once.
            await hasten_probe(tx, now, job.organisation_id)

    await runtime.db.write(write)


async def note_delivery(
    runtime: Runtime, tx: Transaction, mail: DocumentMail, result: MailResult, now: Instant
) -> None:
    """Record the result on the recipient, unless the letter went to an address that is no longer theirs."""
    if mail.recipient is None or await is_revoked(tx.points, mail, now):
        return
    before = await documents.get(tx.points, mail.document.id)
    recipient = before.recipient(mail.recipient.id)
    if recipient.email != mail.recipient.email:  # a letter with a code has no link that could be revoked
        return
    if result.delivery is MailDelivery.FAILED:
        outcome = rules.record_failed_delivery(before, recipient, result.reason or "refused", now)
    else:
        outcome = rules.record_delivery(before, recipient, result.delivery, now)
    await outcomes.save(tx, outcome, before, runtime.vault, now)


async def note_reached(runtime: Runtime, tx: Transaction, mail: DocumentMail, delivery: MailDelivery) -> None:
    """Record on the link and the code in the e-mail whether it was sent or stored here.

    This later shows by which way a recipient who uses them got them.
    """
    routes = {MailDelivery.ACCEPTED: Reached.EMAIL, MailDelivery.KEPT: Reached.KEPT}
    if delivery not in routes:
        return
    if mail.token is not None:
        await signing_links.note_reached(tx, mail.token, routes[delivery])
    if mail.code is not None and mail.recipient is not None:
        stored = (await challenges.get(tx, mail.recipient.id)).code
        if stored and stored_codes.is_mailed_code(runtime.vault, mail.recipient.id, stored, mail.code):
            await challenges.note_reached(tx, mail.recipient.id, stored, routes[delivery])


async def postpone(
    runtime: Runtime, job: Job, mail: OutgoingMail, failure: TemporaryFailure, copy: MailCopy
) -> None:
    """Postpone the job by 1, 2, 5, 10, 20, 40 minutes, then by an hour each time. Give up after 72 hours in all."""
    now, reason = runtime.clock.now(), failure.reason
    if job.attempts > len(RETRIES) + GIVE_UP_AFTER // HOUR:
        await finish(runtime, job, mail, copy, MailResult(MailDelivery.FAILED, reason))
        return
    runtime.measures.mails["postponed"] += 1
    wait = RETRIES[job.attempts - 1] if job.attempts <= len(RETRIES) else HOUR
    log.warning(
        "mail %s was not taken: %s; tried again at %s", job.key, mask_addresses(reason), rfc3339(now + wait)
    )

    async def write(tx: Transaction) -> None:
        words = mail_archive.seal_copy(runtime.vault, job.key, copy)
        await outbox.postpone(tx, job, now + wait, reason, words)
        await mail_breaker.note_deferral(tx, job, failure, now)

    await runtime.db.write(write)


async def give_back(runtime: Runtime, job: Job, failure: TemporaryFailure, copy: MailCopy) -> None:
    """Make the e-mail due again now without charging it an attempt."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> None:
        words = mail_archive.seal_copy(runtime.vault, job.key, copy)
        await outbox.give_back(tx, job, now, failure.reason, words)
        tx.wake_workers()

    await runtime.db.write(write)


async def wait_for_relay(runtime: Runtime, job: Job, failure: RelayFailure, copy: MailCopy) -> None:
    """Put the e-mail back without charging it an attempt, and stop sending, apart from regular probes."""
    runtime.measures.mails["postponed"] += 1
    now = runtime.clock.now()

    async def write(tx: Transaction) -> None:
        words = mail_archive.seal_copy(runtime.vault, job.key, copy)
        await mail_breaker.note_refusal(tx, job, failure, now, words)

    await runtime.db.write(write)
