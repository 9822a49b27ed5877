"""Finds who answers questions about a document."""

from esign.core.document.document import Document
from esign.core.people.account import Organisation
from esign.mail.message import NamedMailbox
from esign.store.engine.database import Reader
from esign.store.people import members


async def find_contact(reader: Reader, document: Document, organisation: Organisation) -> NamedMailbox | None:
    """Return the mailbox of the member who sent the document, else of the organisation, else of its owner.

    Return None if a program sent it, for an organisation without a reply address that nobody owns.
    """
    sender = document.created_by
    if sender.email:
        return NamedMailbox(sender.email, sender.name)
    if organisation.reply_to:
        return NamedMailbox(organisation.reply_to, organisation.name)
    owner = await members.find_owner(reader, organisation.id)
    return NamedMailbox(owner.email, organisation.name) if owner else None
