"""How a document was completed: whether its recipients signed it, approved it, or both."""

from typing import Literal

from esign.core.document.document import Document, Recipient, Role

Completion = Literal["signed", "signed_one", "approved", "approved_one", "signed_and_approved"]


def find_completion(document: Document) -> tuple[Completion, Recipient | None]:
    """Return what the acting recipients did, and the recipient if only one of them was asked to act."""
    acting = [recipient for recipient in document.recipients if recipient.acting]
    roles = {recipient.role for recipient in acting}
    if roles == {Role.SIGNER, Role.APPROVER}:
        return "signed_and_approved", None
    only = acting[0] if len(acting) == 1 else None
    if roles == {Role.APPROVER}:
        return ("approved_one" if only else "approved"), only
    return ("signed_one" if only else "signed"), only
