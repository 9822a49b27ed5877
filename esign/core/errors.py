"""The error family of the program: every failure that is answered with an error body (contract 6).

`CATALOGUE` maps each code to its HTTP status and default message.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Detail:
    """One problem in a request; `path` is a JSON Pointer into the body, or `?name` for a query parameter."""

    path: str
    message: str
    rule: str


class Problem(Exception):
    """An error with a code of the catalogue. `retry_after` is in whole seconds."""

    def __init__(
        self,
        code: str,
        message: str | None = None,
        *,
        details: Sequence[Detail] = (),
        current_status: str | None = None,
        retry_after: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.code = code
        self.status, default = CATALOGUE[code]
        self.message = message or default
        self.details = tuple(details)
        self.current_status = current_status
        self.retry_after = retry_after
        self.headers = dict(headers or {})
        super().__init__(f"{code}: {self.message}")


class UnknownLink(Problem):
    """The signing link does not exist, was replaced, or has expired."""

    def __init__(self) -> None:
        super().__init__("not_found", "This link is not complete, or a newer one has replaced it.")


# Of `seal_not_failed`, for a document that a restore holds back.
SEAL_HELD = (
    "The server was restored from a backup, and this document may have been sealed since. Whoever runs the server"
    " can have it sealed anew with: esign restore --resume --seal-anew"
)

# Sentences of `not_found` for an id. An object of another organisation or mode is answered alike (I5).
NO_DOCUMENT = "There is no document with this id."
NO_RECIPIENT = "This document has no recipient with this id."
NO_TEMPLATE = "There is no template with this id."
NO_WEBHOOK = "There is no webhook with this id."
NO_DELIVERY = "This webhook has no delivery with this id."
NO_EVENT = "There is no event with this id."
NO_API_KEY = "There is no API key with this id."
NO_MEMBER = "There is no member with this id."
NO_MAIL = "There is no email with this id."
NO_FILE = "A document has no such file. There are: original, sealed, certificate."

CATALOGUE: Mapping[str, tuple[int, str]] = {
    "invalid_request": (400, "Some values in the request are not valid. See details."),
    "invalid_json": (400, "The body must be one JSON value in UTF-8."),
    "unsupported_media_type": (400, "Send the body as JSON, with the header Content-Type: application/json."),
    "request_too_large": (400, "The body is too large for this endpoint."),
    "invalid_file": (400, "The file can't be read as a PDF."),
    "file_too_large": (400, "The file is larger than the limit."),
    "too_many_pages": (400, "The file has more pages than the limit."),
    "file_encrypted": (400, "The file is protected by a password. Save it without one and upload it again."),
    "file_signed": (400, "The file is already signed, and signing it here would break that signature."),
    "file_unsupported": (400, "The file uses a PDF feature that is not supported."),
    "field_out_of_bounds": (400, "A field lies outside its page. See details."),
    "invalid_cursor": (400, "The cursor is damaged or belongs to other filters. Start again without it."),
    "invalid_idempotency_key": (400, "Send Idempotency-Key once, with 1 to 255 visible ASCII characters."),
    "invalid_webhook_url": (400, "Webhooks can't be sent to this address."),
    "unknown_event": (400, "There is no event with this name."),
    "missing_api_key": (401, "Send an API key in the header Authorization: Bearer <key>."),
    "invalid_api_key": (401, "This API key is not valid."),
    "api_key_revoked": (401, "This API key was revoked. Use another one."),
    "api_key_expired": (401, "This API key has expired. Use another one."),
    "insufficient_scope": (401, "This API key lacks the scope for this call."),
    "plan_required": (401, "The API needs the business plan or higher."),
    "not_found": (404, "Nothing was found at this address. Check the path and the id."),
    "document_not_draft": (409, "The document is no longer a draft."),
    "document_not_sent": (409, "The document is not out for signature."),
    "document_not_completed": (409, "This file is available once the document is completed."),
    "document_in_progress": (
        409,
        "The document is still in progress. Cancel it first, or wait until it is sealed.",
    ),
    "document_not_ready": (409, "The document can't be sent yet. See details."),
    "seal_not_failed": (409, "There is no failed seal to retry."),
    "recipient_not_active": (409, "It isn't this recipient's turn, or their role has nothing to do."),
    "recipient_already_completed": (409, "This recipient has already finished."),
    "no_recipient_to_remind": (409, "There is no recipient to remind now."),
    "revision_mismatch": (409, "The document has changed since you read it. Read it again."),
    "idempotency_key_reused": (409, "This Idempotency-Key was used for a different request. Use a new one."),
    "idempotency_in_progress": (
        409,
        "The first request with this Idempotency-Key is still running. Try again in a second.",
    ),
    "limit_reached": (409, "The limit for objects of this kind is reached."),
    "webhook_disabled": (409, "The webhook is disabled. Set enabled to true first."),
    "rotation_in_progress": (
        409,
        "Two secrets are already active. Wait until the older one ends, or send graceHours 0.",
    ),
    "retention_locked": (409, "The document is within its retention period and can't be deleted yet."),
    "member_exists": (409, "A member with this email address already exists."),
    "last_owner": (409, "An organisation needs at least one owner."),
    "rate_limited": (429, "Too many requests. Try again later."),
    "too_many_auth_failures": (
        429,
        "Too many requests with a wrong API key from this address. Try again later.",
    ),
    "reminder_too_soon": (429, "The last reminder was sent less than an hour ago."),
    "quota_exceeded": (429, "The organisation's quota is used up."),
    "internal_error": (500, "Something went wrong on our side. You can send the same request again."),
    "unavailable": (503, "The service is temporarily unavailable. You can send the same request again."),
}
