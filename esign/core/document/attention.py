"""What nobody but a person can put right: a seal that fails, and an address that refuses its mail."""

from enum import StrEnum

from esign.core.document.document import Delivery, Document, Recipient, Status


class Trouble(StrEnum):
    SEAL = "seal"
    ADDRESS = "address"


def trouble(document: Document) -> Trouble | None:
    """What the document needs somebody's attention for; None while all is well, or too late to mend."""
    if document.status is Status.SEALING and document.seal_error is not None:
        return Trouble.SEAL
    return Trouble.ADDRESS if refused(document) else None


def refused(document: Document) -> tuple[Recipient, ...]:
    """Whose address refused the newest mail, while they are waited for."""
    if document.status is not Status.SENT:
        return ()
    return tuple(r for r in document.recipients if r.active and r.delivery is Delivery.FAILED)
