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


CATALOGUE: Mapping[str, tuple[int, str]] = {
    "invalid_request": (400, "The request does not fit what this endpoint takes; see details."),
    "invalid_json": (400, "The body is not one JSON value in UTF-8."),
    "unsupported_media_type": (400, "Send the body as JSON, with the header Content-Type: application/json."),
    "request_too_large": (400, "The body is larger than this endpoint takes."),
    "invalid_file": (400, "The file is not a PDF that can be read."),
    "file_too_large": (400, "The file is larger than the limit."),
    "too_many_pages": (400, "The file has more pages than the limit."),
    "file_encrypted": (400, "The file needs a password to open; save it without one and send it again."),
    "file_signed": (400, "The file already carries a digital signature, which signing here would break."),
    "file_unsupported": (400, "The file uses something that cannot be signed here."),
    "field_out_of_bounds": (400, "A field lies outside the document; see details."),
    "invalid_cursor": (400, "The cursor is damaged or belongs to other filters; start again without it."),
    "invalid_idempotency_key": (400, "Idempotency-Key takes 1 to 255 visible ASCII characters, once."),
    "invalid_webhook_url": (400, "This address cannot receive webhooks."),
    "unknown_event": (400, "No event has this name."),
    "missing_api_key": (401, "Send an API key as Authorization: Bearer <key>."),
    "invalid_api_key": (401, "This API key is not known here."),
    "api_key_revoked": (401, "This API key was revoked; use another."),
    "api_key_expired": (401, "This API key has expired; use another."),
    "insufficient_scope": (401, "This API key lacks the scope this call needs."),
    "plan_required": (401, "API access needs the business plan or higher."),
    "not_found": (404, "There is nothing at this address."),
    "document_not_draft": (409, "The document is no longer a draft."),
    "document_not_sent": (409, "The document is not out for signature."),
    "document_not_completed": (409, "Only a completed document has this file."),
    "document_in_progress": (409, "The document is under way; cancel it, or let it be sealed, first."),
    "document_not_ready": (409, "The document cannot be sent yet; see details."),
    "seal_not_failed": (409, "There is no failed seal to try again."),
    "recipient_not_active": (409, "It is not this recipient's turn, or their role does not act."),
    "recipient_already_completed": (409, "This recipient has already finished."),
    "no_recipient_to_remind": (409, "Nobody is waiting to be reminded."),
    "revision_mismatch": (409, "The document was changed meanwhile; read it again."),
    "idempotency_key_reused": (409, "This Idempotency-Key was used for another request; choose a new one."),
    "idempotency_in_progress": (
        409,
        "The first request with this Idempotency-Key is still running; send it again in a second.",
    ),
    "limit_reached": (409, "The limit of stored objects is reached."),
    "webhook_disabled": (409, "The webhook is disabled; set enabled to true first."),
    "rotation_in_progress": (
        409,
        "Two secrets are already live; wait for the older to end, or send graceHours 0.",
    ),
    "retention_locked": (409, "The document is within its retention period."),
    "member_exists": (409, "There is already a member with this address."),
    "last_owner": (409, "An organisation keeps at least one owner."),
    "rate_limited": (429, "Too many requests; try again later."),
    "too_many_auth_failures": (429, "Too many failed authentications from this address; try again later."),
    "reminder_too_soon": (429, "The last reminder was sent less than an hour ago."),
    "quota_exceeded": (429, "The organisation's quota is used up."),
    "internal_error": (500, "Something went wrong here; the same request may be sent again."),
    "unavailable": (503, "The service cannot take this now; the same request may be sent again."),
}
