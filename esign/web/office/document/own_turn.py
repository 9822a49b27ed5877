"""A member who is a recipient themselves: it is their turn, and they sign from here without any mail."""

from urllib.parse import urlsplit

from starlette.responses import Response

from esign.actions.document import links
from esign.core.document.document import Document, Recipient, Status
from esign.core.errors import Problem
from esign.core.fold_text import fold
from esign.web.office.document.forms import find_document
from esign.web.office.frame.office_call import OfficeCall

HOURS = 1
NOT_YOUR_TURN = "It isn’t your turn to sign this document. It may be finished, or others come first."


def find_own_recipient(document: Document, email: str) -> Recipient | None:
    """Return the recipient with this email address if the document waits for them now, otherwise None."""
    if document.status is not Status.SENT:
        return None
    mine = (one for one in document.recipients if fold(one.email) == fold(email))
    return next((one for one in mine if one.is_invited), None)


async def sign_now(call: OfficeCall) -> Response:
    """Lead the member to their own signing page, by a link that works for an hour.

    The audit trail records that they fetched it, and the certificate page whether they used it. Raise
    `recipient_not_active` if it is not their turn.
    """
    document = await find_document(call)
    own = find_own_recipient(document, call.signed_in.user.email)
    if own is None:
        raise Problem("recipient_not_active", NOT_YOUR_TURN)
    issued = await links.issue_link(call.runtime, call.caller, document.id, own.id, HOURS)
    return call.redirect_to(urlsplit(issued.url).path)
