"""The handlers of one recipient of a document (contract 3.2)."""

from pydantic import ConfigDict

from esign.actions.document import edit_document as actions
from esign.actions.document import links
from esign.actions.document.edit_document import RecipientChanges
from esign.actions.document.links import IssuedLink
from esign.actions.signing import unblock_recipient
from esign.actions.signing.unblock_recipient import UnblockResult
from esign.core.document.document import Recipient
from esign.core.people.api_key import Scope
from esign.web.api import examples
from esign.web.api.document_requests import Empty, IssueLink, RecipientInput
from esign.web.api.edit_requests import RecipientChange
from esign.web.rest.endpoint import ApiCall
from esign.web.values.schema import Moment, Reply


class RecipientDeleted(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.DELETED_RECIPIENT]})

    id: str


class LinkReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.ISSUED_LINK]})

    recipient_id: str
    url: str
    expires_at: Moment


class UnblockedReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.UNBLOCKED]})

    recipient_id: str
    unblocked: bool


async def add(call: ApiCall, body: RecipientInput) -> Recipient:
    """Add a recipient to a draft."""
    return await actions.add_recipient(call.runtime, call.caller, call.path["id"], body.to_entry())


async def change(call: ApiCall, body: RecipientChange) -> Recipient:
    """Change a recipient of a draft; while the document is out, correct the address or the name of one
    who has not finished, who is then asked anew by a new link. Another address needs `documents:send` as well;
    the one before is told by mail that the document was redirected."""
    changes = RecipientChanges(
        body.to_entry().members,
        require_send=lambda: call.require_scope(Scope.DOCUMENTS_SEND),
    )
    return await actions.change_recipient(
        call.runtime, call.caller, call.path["id"], call.path["rid"], changes
    )


async def issue_link(call: ApiCall, body: IssueLink) -> IssuedLink:
    """Issue a signing link to hand over in person; who gets it is who signs, so every one is in the audit trail."""
    return await links.issue_link(
        call.runtime, call.caller, call.path["id"], call.path["rid"], body.ttl_hours
    )


async def unblock(call: ApiCall, body: Empty) -> UnblockResult:
    """Let a recipient try again whose code was entered, or sent, too often. An access code stays the same; a mailed
    one is asked for anew."""
    return await unblock_recipient.unblock(call.runtime, call.caller, call.path["id"], call.path["rid"])


async def remove(call: ApiCall) -> str:
    """Remove a recipient from a draft, with their fields."""
    return await actions.remove_recipient(call.runtime, call.caller, call.path["id"], call.path["rid"])


def present_link(issued: IssuedLink) -> LinkReply:
    return LinkReply(recipient_id=issued.recipient_id, url=issued.url, expires_at=issued.expires_at)


def present_unblocked(found: UnblockResult) -> UnblockedReply:
    return UnblockedReply(recipient_id=found.recipient_id, unblocked=found.unblocked)


def present_deleted(recipient_id: str) -> RecipientDeleted:
    return RecipientDeleted(id=recipient_id)
