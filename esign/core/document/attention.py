"""Finds documents that a person has to look after: a failed seal, or an address that refuses mail."""

from enum import StrEnum

from esign.core.document.document import MailDelivery, Status
from esign.core.document.summary import AnyDocument, AnyRecipient


class Trouble(StrEnum):
    SEAL = "seal"
    ADDRESS = "address"


def find_trouble(document: AnyDocument) -> Trouble | None:
    """Return what about the document needs a person's attention, or None.

    A document that has ended needs none: its recipients' addresses can no longer be corrected.
    """
    if document.status is Status.SEALING and document.seal_error is not None:
        return Trouble.SEAL
    return Trouble.ADDRESS if find_refused_recipients(document) else None


def find_refused_recipients(document: AnyDocument) -> tuple[AnyRecipient, ...]:
    """Return the recipients whose turn it is and whose address refused the latest mail."""
    if document.status is not Status.SENT:
        return ()
    return tuple(r for r in document.recipients if r.is_active and r.delivery is MailDelivery.FAILED)
