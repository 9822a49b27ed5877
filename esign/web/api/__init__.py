"""The API on one screen: every endpoint, what it needs and what it answers (contract 3).

The description of the API is made from this table and from the annotations of its handlers, so it says nothing
that is not checked. Each noun has one file for what it takes and one for what it answers; answers about documents
are built without validation, for speed, and a test validates them.
"""

import asyncio
from functools import cache
from typing import Any

import orjson
from starlette.responses import Response

from esign.core.apikey import Scope
from esign.web import openapi
from esign.web.api import act_replies, audit_replies, documents, events, recipients, webhooks
from esign.web.api import document_replies as replies
from esign.web.endpoint import Call, Endpoint

V1 = "/api/v1"
VERSION = "1.0.0"
FILE_ERRORS = (
    "invalid_file",
    "file_too_large",
    "too_many_pages",
    "file_encrypted",
    "file_signed",
    "file_unsupported",
)


def describe() -> dict[str, Any]:
    """The description (OpenAPI 3.1) of this table and of the webhooks; the same on every installation."""
    return openapi.describe(ENDPOINTS, version=VERSION, server="/", webhooks=events.BODIES)


@cache
def written() -> bytes:
    return orjson.dumps(describe())


async def read_description(call: Call) -> Response:
    """This description; needs no key."""
    return Response(await asyncio.to_thread(written), media_type="application/json")


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "GET",
        f"{V1}/documents",
        documents.find,
        replies.present_page,
        summary="List documents",
        tag="Documents",
        scope=Scope.DOCUMENTS_READ,
        errors=("invalid_cursor",),
    ),
    Endpoint(
        "POST",
        f"{V1}/documents",
        documents.create,
        replies.present_created,
        summary="Create a document",
        tag="Documents",
        scope=Scope.DOCUMENTS_WRITE,
        success=201,
        idempotent=True,
        policy="create",
        errors=(*FILE_ERRORS, "field_out_of_bounds", "document_not_ready", "quota_exceeded"),
        body_limit="file",
        location=f"{V1}/documents/{{id}}",
    ),
    Endpoint(
        "GET",
        f"{V1}/documents/{{id}}",
        documents.read,
        replies.present,
        summary="Get a document",
        tag="Documents",
        scope=Scope.DOCUMENTS_READ,
    ),
    Endpoint(
        "POST",
        f"{V1}/documents/{{id}}/send",
        documents.send,
        replies.present,
        summary="Send a document",
        tag="Documents",
        scope=Scope.DOCUMENTS_SEND,
        idempotent=True,
        if_match=True,
        policy="send",
        errors=("document_not_draft", "document_not_ready", "revision_mismatch", "quota_exceeded"),
    ),
    Endpoint(
        "GET",
        f"{V1}/documents/{{id}}/files/{{variant}}",
        documents.read_file,
        replies.present_file,
        summary="Get a file of a document",
        tag="Documents",
        scope=Scope.DOCUMENTS_READ,
        errors=("document_not_completed",),
        media="application/pdf",
    ),
    Endpoint(
        "GET",
        f"{V1}/documents/{{id}}/audit",
        documents.trail,
        audit_replies.present_trail,
        summary="Get the audit trail of a document",
        tag="Documents",
        scope=Scope.DOCUMENTS_READ,
        errors=("invalid_cursor",),
    ),
    Endpoint(
        "PATCH",
        f"{V1}/documents/{{id}}",
        documents.edit,
        replies.present,
        summary="Change a document",
        tag="Documents",
        scope=Scope.DOCUMENTS_WRITE,
        idempotent=True,
        if_match=True,
        errors=(*FILE_ERRORS, "field_out_of_bounds", "document_not_draft", "document_not_sent"),
        body_limit="file",
    ),
    Endpoint(
        "POST",
        f"{V1}/documents/{{id}}/recipients",
        recipients.add,
        replies.present_recipient,
        summary="Add a recipient",
        tag="Recipients",
        scope=Scope.DOCUMENTS_WRITE,
        success=201,
        idempotent=True,
        errors=("field_out_of_bounds", "document_not_draft", "limit_reached"),
        location=f"{V1}/documents/{{path[id]}}/recipients/{{id}}",
    ),
    Endpoint(
        "PATCH",
        f"{V1}/documents/{{id}}/recipients/{{rid}}",
        recipients.change,
        replies.present_recipient,
        summary="Change or correct a recipient",
        tag="Recipients",
        scope=Scope.DOCUMENTS_WRITE,
        idempotent=True,
        if_match=True,
        errors=("field_out_of_bounds", "document_not_draft", "recipient_already_completed", "limit_reached"),
    ),
    Endpoint(
        "DELETE",
        f"{V1}/documents/{{id}}/recipients/{{rid}}",
        recipients.remove,
        recipients.present_deleted,
        summary="Remove a recipient",
        tag="Recipients",
        scope=Scope.DOCUMENTS_WRITE,
        idempotent=True,
        if_match=True,
        errors=("document_not_draft",),
    ),
    Endpoint(
        "POST",
        f"{V1}/documents/{{id}}/cancel",
        documents.cancel,
        replies.present,
        summary="Cancel a document",
        tag="Documents",
        scope=Scope.DOCUMENTS_SEND,
        idempotent=True,
        errors=("document_not_sent",),
    ),
    Endpoint(
        "DELETE",
        f"{V1}/documents/{{id}}",
        documents.delete,
        act_replies.present_deleted,
        summary="Delete a document",
        tag="Documents",
        scope=Scope.DOCUMENTS_WRITE,
        idempotent=True,
        if_match=True,
        errors=("document_in_progress",),
    ),
    Endpoint(
        "POST",
        f"{V1}/documents/{{id}}/retry-seal",
        documents.retry_seal,
        replies.present,
        summary="Retry a failed seal",
        tag="Documents",
        scope=Scope.DOCUMENTS_SEND,
        idempotent=True,
        errors=("seal_not_failed",),
    ),
    Endpoint(
        "POST",
        f"{V1}/documents/{{id}}/remind",
        documents.remind,
        act_replies.present_reminded,
        summary="Remind recipients",
        tag="Documents",
        scope=Scope.DOCUMENTS_SEND,
        idempotent=True,
        policy="send",
        errors=("document_not_sent", "no_recipient_to_remind", "reminder_too_soon", "quota_exceeded"),
    ),
    Endpoint(
        "POST",
        f"{V1}/documents/{{id}}/duplicate",
        documents.duplicate,
        replies.present_created,
        summary="Duplicate a document",
        tag="Documents",
        scope=Scope.DOCUMENTS_WRITE,
        success=201,
        idempotent=True,
        policy="create",
        location=f"{V1}/documents/{{id}}",
    ),
    Endpoint(
        "GET",
        f"{V1}/documents/{{id}}/pages",
        documents.pages,
        act_replies.present_pages,
        summary="Get the page sizes of a document",
        tag="Documents",
        scope=Scope.DOCUMENTS_READ,
    ),
    Endpoint(
        "POST",
        f"{V1}/documents/{{id}}/recipients/{{rid}}/link",
        recipients.link,
        recipients.present_link,
        summary="Issue a signing link",
        tag="Recipients",
        scope=Scope.DOCUMENTS_LINKS,
        idempotent=True,
        policy="send",
        errors=("document_not_sent", "recipient_not_active", "recipient_already_completed"),
    ),
    Endpoint(
        "POST",
        f"{V1}/webhooks",
        webhooks.create,
        webhooks.present_created,
        summary="Register a webhook",
        tag="Webhooks",
        scope=Scope.WEBHOOKS_WRITE,
        success=201,
        idempotent=True,
        errors=("invalid_webhook_url", "unknown_event", "limit_reached"),
        location=f"{V1}/webhooks/{{id}}",
    ),
    Endpoint(
        "DELETE",
        f"{V1}/webhooks/{{id}}",
        webhooks.delete,
        webhooks.present_deleted,
        summary="Delete a webhook",
        tag="Webhooks",
        scope=Scope.WEBHOOKS_WRITE,
        idempotent=True,
    ),
    Endpoint(
        "GET",
        f"{V1}/openapi.json",
        read_description,
        summary="Get this description",
        tag="Description",
        public=True,
        media="application/json",
    ),
)
