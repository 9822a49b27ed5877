"""Mails of test mode: kept for whoever tests, and sent to whom the settings allow (contract 8)."""

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from email.message import EmailMessage

from esign.actions.mail.embedded_outbox import wrapped
from esign.core.actor import Mode, Owner
from esign.core.instant import Instant
from esign.runtime import Runtime
from esign.store.document import documents
from esign.store.engine.database import Transaction
from esign.store.engine.paging import Place, page_of
from esign.store.people import members
from esign.store.queue import kept_mail, outbox
from esign.store.queue.kept_mail import KeptMail, MailWords

PATIENCE = 5.0  # seconds
CAPTURED = "kept for tests, and sent to nobody"
LINK = re.compile(r"https?://\S+/s/[\w-]{43}")


@dataclass(frozen=True, slots=True)
class About:
    """Whose mail it is, and what about: no document, or one, and its recipient unless it goes to the sender."""

    owner: Owner
    to: str
    document_id: str | None = None
    recipient_id: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A mail of test mode as its tester reads it; `links` are the signing links in it."""

    id: str
    to: str
    subject: str
    text: str
    links: tuple[str, ...]
    created_at: Instant


async def send(runtime: Runtime, message: EmailMessage, about: About) -> str:
    """Hand a mail to the mail server, and what it said; in test mode keep it first, whatever becomes of it then."""
    if about.owner.mode is Mode.TEST:
        await keep(runtime, message, about)
        if not await may_leave(runtime, about):
            return CAPTURED
    return (await runtime.mail.send(message, about.owner.organisation_id)).reply


async def keep(runtime: Runtime, message: EmailMessage, about: About) -> None:
    kept = await asyncio.to_thread(filed, runtime, message, about)

    async def write(tx: Transaction) -> None:
        if about.document_id is not None:
            await documents.get(tx, about.document_id)  # of one that is erased meanwhile nothing is kept
        await kept_mail.keep(tx, kept)

    await runtime.db.write(write)


def filed(runtime: Runtime, message: EmailMessage, about: About) -> KeptMail:
    kept = wrapped(runtime.vault, message, runtime.clock.now())
    body = message.get_body(("plain",))
    text = str(body.get_content()) if body else ""
    words = json.dumps({"to": about.to, "text": text, "links": LINK.findall(text)}).encode()
    return replace(
        kept,
        organisation_id=about.owner.organisation_id,
        document_id=about.document_id,
        recipient_id=about.recipient_id,
        words=runtime.vault.encrypt("mail", words, kept.id.encode()),
    )


async def may_leave(runtime: Runtime, about: About) -> bool:
    rule = runtime.config.test.mails
    if rule == "members":
        return await members.is_active(runtime.db, about.owner.organisation_id, about.to)
    return rule == "deliver"


async def find_page(
    runtime: Runtime,
    owner: Owner,
    limit: int,
    after: Place | None,
    document_id: str | None,
    recipient_id: str | None,
) -> tuple[list[Message], Place | None]:
    """A page of the mails of test mode, newest first, and where the next begins.

    Asked about a document, it waits a moment for mails that are just on their way.
    """
    if document_id is not None:
        await written(runtime, owner, document_id)
    return await find_kept(runtime, owner, limit, after, document_id, recipient_id)


async def find_kept(
    runtime: Runtime,
    owner: Owner,
    limit: int,
    after: Place | None = None,
    document_id: str | None = None,
    recipient_id: str | None = None,
) -> tuple[list[Message], Place | None]:
    """The same, of those that are there already."""
    found = await kept_mail.find_tests(
        runtime.db, owner.organisation_id, limit + 1, after, document_id, recipient_id
    )
    page, more = page_of(found, limit)
    return [opened(runtime, mail) for mail in page], more


async def written(runtime: Runtime, owner: Owner, document_id: str) -> None:
    """Return once every mail about the document has been tried, or after `PATIENCE`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while await outbox.has_new_mail(runtime.db, owner.organisation_id, document_id):
                await runtime.bell.wait(0.05, runtime.bell.rung)


def opened(runtime: Runtime, mail: MailWords) -> Message:
    words = json.loads(runtime.vault.decrypt("mail", mail.words, mail.id.encode()))
    return Message(mail.id, words["to"], mail.subject, words["text"], tuple(words["links"]), mail.created_at)
