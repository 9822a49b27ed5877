"""Reads the mail of a job, with its document, its recipients and its organisation as they are now."""

import json
from dataclasses import replace
from typing import Any

from esign.actions.base import logo_pictures
from esign.actions.base.contact import find_contact
from esign.core.actor import Mode
from esign.core.document import estimate
from esign.core.document.anchor import write_file
from esign.core.document.challenge import Method
from esign.core.document.document import Document, Recipient
from esign.core.document.filename import name_file
from esign.core.document.mail_delivery import leaves_for_sender
from esign.core.people.account import Organisation
from esign.mail.message import Attachment, NamedMailbox
from esign.mail.outgoing_mail import DocumentMail, Notice
from esign.runtime import Runtime
from esign.store.document import blobs, documents, signing_drafts
from esign.store.people import organisations, users
from esign.store.queue.outbox import Job
from esign.store.server import anchors


async def read_mail(runtime: Runtime, job: Job) -> Notice | DocumentMail:
    """Return the mail of a job, without attachments. Raises `not_found` if its document is deleted."""
    body: dict[str, Any] = json.loads(runtime.vault.decrypt("outbox", job.body, job.key.encode()))
    if job.document_id is None:
        return await read_notice(runtime, body)
    return await read_document_mail(runtime, job.document_id, body)


async def read_notice(runtime: Runtime, body: dict[str, Any]) -> Notice:
    """Return the notice in the body of a job."""
    organisation = await organisations.get(runtime.db, body["organisation"])
    return Notice(
        letter=body["letter"],
        organisation=organisation,
        mode=Mode(body["mode"]),
        to=NamedMailbox(*body["to"]),
        reply_to=NamedMailbox(organisation.reply_to) if organisation.reply_to else None,
        link=body.get("link"),
        logo=await logo_pictures.make_inline_logo(runtime.db, organisation),
        chosen_locale=await find_chosen_locale(runtime, body["to"][0]),
        facts=body["facts"],
    )


async def read_document_mail(runtime: Runtime, document_id: str, body: dict[str, Any]) -> DocumentMail:
    """Return the mail about a document in the body of a job."""
    document = await documents.get(runtime.db.points, document_id)
    organisation = await organisations.get(runtime.db.points, document.organisation_id)
    recipient = document.recipient(body["recipient"]) if body["recipient"] else None
    former = NamedMailbox(*body["to"]) if body.get("to") else None
    token = body["token"]
    contact = await find_contact(runtime.db.points, document, organisation)
    replies = NamedMailbox(organisation.reply_to) if organisation.reply_to else contact
    to = former or find_mailbox(body["letter"], recipient, document, organisation, contact)
    return DocumentMail(
        letter=body["letter"],
        organisation=organisation,
        mode=document.mode,
        to=to,
        reply_to=replies,
        chosen_locale=await find_chosen_locale(runtime, to.address) if to and recipient is None else None,
        link=f"{runtime.config.server.base_url}/s/{token}" if token else None,
        logo=await logo_pictures.make_inline_logo(runtime.db, organisation),
        document=document,
        recipient=recipient,
        now=runtime.clock.now(),
        link_days=runtime.config.limits.link_days,
        about=document.recipient(body["about"]) if body.get("about") else None,
        filled=await count_filled(runtime, recipient) if recipient and body["letter"] == "reminder" else 0,
        message=body.get("message"),
        code=body.get("code"),
        until=body.get("until"),
    )


async def find_chosen_locale(runtime: Runtime, address: str) -> str | None:
    """Return the language that the user with this email address chose in their account, or None."""
    user = await users.find(runtime.db.points, address)
    return user.locale if user is not None else None


def find_mailbox(
    letter: str,
    recipient: Recipient | None,
    document: Document,
    organisation: Organisation,
    contact: NamedMailbox | None,
) -> NamedMailbox | None:
    """Return the mailbox of the recipient, or else of the sender. Return None for a sender without an address."""
    if recipient is not None:
        return NamedMailbox(recipient.email, recipient.name)
    return contact if leaves_for_sender(letter, document, organisation.reply_to) else None


async def count_filled(runtime: Runtime, recipient: Recipient) -> int:
    """Return how many fields the recipient has filled in without having finished."""
    draft = await signing_drafts.get(runtime.db, recipient.id, runtime.vault)
    return estimate.count_filled(recipient, {id: entry.value for id, entry in draft.entries.items()})


async def attach_file(runtime: Runtime, mail: DocumentMail) -> DocumentMail:
    """Return the mail with the sealed file attached, if it brings one that is small enough to be mailed.

    It is not attached if the recipient needs an access code to see the document, since an e-mail cannot ask for
    the code.
    """
    seal, most = mail.document.seal, runtime.config.limits.attachment_mib * 2**20
    if mail.letter != "completed" or seal is None or seal.size > most:
        return mail
    if mail.recipient is not None and mail.recipient.authentication == Method.ACCESS_CODE:
        return mail
    content = await blobs.get(runtime.db, seal.sha256)
    return replace(mail, attachments=(Attachment(name_file(mail.document, "sealed"), content),))


async def attach_anchor(runtime: Runtime, mail: Notice) -> Notice:
    """Return the mail with the anchor that it names, as a file. Raises `UnreadableAnchor`."""
    anchor = await anchors.get(runtime.db, int(mail.facts["number"]))
    file = Attachment(anchor.file_name, write_file(anchor), "application/json")
    return replace(mail, attachments=(file,))
