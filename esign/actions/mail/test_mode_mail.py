"""E-mails of test mode: stored for the tester, and sent only to those whom the settings allow (contract 8)."""

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from email.message import EmailMessage

from esign.actions.mail import embedded_outbox, mail_archive
from esign.actions.mail.embedded_outbox import encrypt_mail
from esign.core.actor import Mode, Owner
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.mail.outgoing_mail import DocumentMail, OutgoingMail
from esign.runtime import Runtime
from esign.store.document import documents
from esign.store.engine.database import Transaction
from esign.store.engine.paging import PageStart, cut_page
from esign.store.people import members
from esign.store.queue import kept_mail, outbox
from esign.store.queue.kept_mail import KeptMail, KeptMailFilter, MailWords

PATIENCE = 5.0  # seconds that a list waits for e-mails that are being written
CAPTURED = "kept for tests, and sent to nobody"
LINK = re.compile(r"https?://\S+/s/[\w-]{43}")


@dataclass(frozen=True, slots=True)
class CapturedMail:
    """An e-mail of test mode as the tester reads it. `links` are the signing links in it."""

    id: str
    to: str
    subject: str
    text: str
    links: tuple[str, ...]
    created_at: Instant


async def send(runtime: Runtime, message: EmailMessage, mail: OutgoingMail) -> str:
    """Send a message, and return the mail server's reply. In test mode the message is stored first.

    In test mode the reply is `CAPTURED` if the settings do not let the message leave.
    """
    if mail.mode is Mode.TEST:
        await keep_message(runtime, message, mail)
        if not await may_leave(runtime, mail):
            return CAPTURED
    return (await runtime.mail.send(message, mail.organisation.id)).reply


async def keep_message(runtime: Runtime, message: EmailMessage, mail: OutgoingMail) -> None:
    """Store the message for the tester."""
    encrypted = await runtime.vault.encrypt_aside(lambda: encrypt_message(runtime, message, mail))

    async def write(tx: Transaction) -> None:
        kept = encrypted()
        if kept.document_id is not None:
            await documents.get(tx, kept.document_id)  # raises if it is erased: then nothing is stored
        await kept_mail.keep(tx, kept)

    await runtime.db.write(write)


def encrypt_message(runtime: Runtime, message: EmailMessage, mail: OutgoingMail) -> KeptMail:
    """Return the message as it is stored, with the words that the tester reads."""
    assert mail.to is not None
    document = mail.document if isinstance(mail, DocumentMail) else None
    recipient = mail.recipient if isinstance(mail, DocumentMail) else None
    kept = encrypt_mail(runtime.vault, message, runtime.clock.now())
    body = message.get_body(("plain",))
    text = str(body.get_content()) if body else ""
    words = json.dumps({"to": mail.to.address, "text": text, "links": LINK.findall(text)}).encode()
    return replace(
        kept,
        organisation_id=mail.organisation.id,
        document_id=document.id if document else None,
        recipient_id=recipient.id if recipient else None,
        words=runtime.vault.encrypt("mail", words, kept.id.encode()),
    )


async def may_leave(runtime: Runtime, mail: OutgoingMail) -> bool:
    """Return whether the settings allow an e-mail of test mode to be sent."""
    rule = runtime.config.test.mails
    if rule == "members":
        return mail.to is not None and await members.is_active(
            runtime.db, mail.organisation.id, mail.to.address
        )
    return rule == "deliver"


async def find_page(
    runtime: Runtime, wanted: KeptMailFilter, limit: int, after: PageStart | None
) -> tuple[list[CapturedMail], PageStart | None]:
    """Return a page of the e-mails of test mode, newest first, and the place where the next page begins, or None.

    With a document id it first waits up to `PATIENCE` for e-mails about the document that are not yet tried.
    """
    if wanted.document_id is not None:
        await wait_until_tried(runtime, wanted.organisation_id, wanted.document_id)
    return await find_kept(runtime, wanted, limit, after)


async def find_kept(
    runtime: Runtime, wanted: KeptMailFilter, limit: int, after: PageStart | None = None
) -> tuple[list[CapturedMail], PageStart | None]:
    """Return a page of the stored e-mails of test mode without waiting. Otherwise like `find_page`."""
    found = await kept_mail.find_test_mails(runtime.db, wanted, limit + 1, after)
    page, more = cut_page(found, limit)
    return [decrypt_message(runtime, mail) for mail in page], more


async def read_html(runtime: Runtime, owner: Owner, mail_id: str) -> str:
    """Return the HTML of a stored e-mail of test mode; raise `not_found` for any other id."""
    kept = await kept_mail.get(runtime.db, mail_id)
    if kept is None or kept.organisation_id != owner.organisation_id:
        raise Problem("not_found")
    message = await embedded_outbox.read_mail(runtime.db, runtime.vault, mail_id)
    html = mail_archive.read_words(message)["html"] if message else ""
    if not html:
        raise Problem("not_found")
    return html


async def wait_until_tried(runtime: Runtime, organisation_id: str, document_id: str) -> None:
    """Wait until every e-mail about the document has been tried, at most for `PATIENCE`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while await outbox.has_new_mail(runtime.db, organisation_id, document_id):
                await runtime.bell.wait(0.05, runtime.bell.rung)


def decrypt_message(runtime: Runtime, mail: MailWords) -> CapturedMail:
    """Return the e-mail from its stored form."""
    words = json.loads(runtime.vault.decrypt("mail", mail.words, mail.id.encode()))
    return CapturedMail(
        mail.id, words["to"], mail.subject, words["text"], tuple(words["links"]), mail.created_at
    )
