"""The answers of the document endpoints, and how they are built from a document."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ConfigDict

from esign.actions.document.files import DocumentFile
from esign.core.document.document import Document, MailDelivery, Recipient, Seal
from esign.core.instant import Instant
from esign.core.people.account import Reminders
from esign.web.api import examples
from esign.web.api.paging import ListReply
from esign.web.values import field_models
from esign.web.values.field_models import AnyFieldReply
from esign.web.values.schema import Moment, Reply

MAILS = {
    MailDelivery.NONE: "none",
    MailDelivery.QUEUED: "waiting",
    MailDelivery.ACCEPTED: "sent",
    MailDelivery.FAILED: "failed",
    MailDelivery.KEPT: "kept",
}
DELIVERIES = {
    MailDelivery.KEPT: "none"
}  # version 1 fixes the values, and no mail server accepted a kept mail


class DocumentCreated(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.CREATED_DOCUMENT]})

    id: str
    status: Literal["draft", "sent"]


class DeliveryReply(Reply):
    status: Literal["none", "queued", "accepted", "failed"]
    at: Moment | None
    error: str | None


class ProofReply(Reply):
    """What a recipient has shown of who they are, and how the link and the code reached them."""

    method: Literal["link", "email_code", "access_code"]
    link: Literal["email", "sender", "test"] | None
    code: Literal["email", "sender", "test"] | None


class RecipientSummary(Reply):
    """A recipient in a list: without its fields."""

    id: str
    email: str
    name: str
    role: Literal["signer", "approver", "viewer", "cc"]
    status: Literal["created", "sent", "viewed", "completed", "declined"]
    order: int
    authentication: str
    locale: str | None
    sent_at: Moment | None
    viewed_at: Moment | None
    completed_at: Moment | None
    declined_at: Moment | None
    decline_reason: str | None
    reminders_sent: int
    last_reminded_at: Moment | None
    delivery: DeliveryReply
    mail: Literal["none", "waiting", "sent", "failed", "kept"]
    proof: ProofReply | None


class RecipientReply(RecipientSummary):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.RECIPIENT]})

    fields: list[AnyFieldReply]


class FileReply(Reply):
    repaired: bool
    removed: list[str]


class RemindersReply(Reply):
    enabled: bool
    first_after_days: int
    every_days: int
    max: int


class CreatorReply(Reply):
    kind: Literal["member", "api_key"]
    id: str
    name: str


class SealTimestampReply(Reply):
    """The time stamp in a seal."""

    time: Moment
    authority: str


class SealReply(Reply):
    level: Literal["B-B", "B-T", "B-LT", "B-LTA"]
    level_asked: Literal["B-B", "B-T", "B-LT", "B-LTA"]
    sealed_at: Moment
    sha256: str
    size: int
    page_count: int
    timestamped: bool
    timestamp: SealTimestampReply | None
    certificate_sha256: str


class DocumentSummary(Reply):
    """A document in a list."""

    id: str
    title: str
    status: Literal["draft", "sent", "sealing", "completed", "declined", "expired", "cancelled"]
    page_count: int
    created_at: Moment
    recipients: list[RecipientSummary]
    mode: Literal["live", "test"]
    revision: int
    file_name: str
    file_sha256: str
    file: FileReply
    subject: str | None
    message: str | None
    locale: str | None
    expires_in_days: int
    expires_at: Moment | None
    reminders: RemindersReply
    redirect_url: str | None
    external_id: str | None
    metadata: dict[str, str]
    template_id: str | None
    created_by: CreatorReply
    updated_at: Moment
    sent_at: Moment | None
    completed_at: Moment | None
    closed_at: Moment | None
    close_reason: str | None
    seal_error: str | None
    seal: SealReply | None


class DocumentReply(DocumentSummary):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.DOCUMENT]})

    recipients: list[RecipientReply]  # type: ignore[assignment]  # the same list with more in it


class DocumentPage(ListReply[DocumentSummary]):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.DOCUMENTS]})


class FileDescriptor(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.FILE]})

    variant: Literal["original", "sealed", "certificate"]
    file_name: str
    content_type: Literal["application/pdf"]
    size: int
    sha256: str
    url: str
    expires_at: Moment


def present_created(document: Document) -> DocumentCreated:
    return DocumentCreated(id=document.id, status=document.status.value)  # type: ignore[arg-type]  # a new document is draft or sent


def present(document: Document) -> DocumentReply:
    return DocumentReply.model_construct(
        **collect_members(document), recipients=[present_recipient(r) for r in document.recipients]
    )


def present_recipient(recipient: Recipient) -> RecipientReply:
    return RecipientReply.model_construct(
        **collect_recipient_members(recipient),
        fields=[field_models.present(field) for field in recipient.fields],
    )


@dataclass(frozen=True, slots=True)
class FileAddress:
    """A file of a document, with the address from which it can be downloaded until it expires."""

    file: DocumentFile
    url: str
    expires_at: Instant


def present_file(found: FileAddress) -> FileDescriptor:
    file = found.file
    return FileDescriptor(
        variant=file.variant,
        file_name=file.name,
        content_type="application/pdf",
        size=file.size,
        sha256=file.sha256,
        url=found.url,
        expires_at=found.expires_at,
    )


def collect_members(document: Document) -> dict[str, Any]:
    """Return the members that a list and a single answer share. A test validates them, not each answer."""
    seal, creator = document.seal, document.created_by
    return {
        "id": document.id,
        "title": document.title,
        "status": document.status.value,
        "page_count": document.page_count,
        "created_at": document.created_at,
        "mode": document.mode.value,
        "revision": document.revision,
        "file_name": document.file.name,
        "file_sha256": document.file.uploaded,
        "file": FileReply.model_construct(
            repaired=document.file.repaired, removed=list(document.file.removed)
        ),
        "subject": document.subject,
        "message": document.message,
        "locale": document.locale,
        "expires_in_days": document.expires_in_days,
        "expires_at": document.expires_at,
        "reminders": present_reminders(document.reminders),
        "redirect_url": document.redirect_url,
        "external_id": document.external_id,
        "metadata": dict(document.metadata),
        "template_id": document.template_id,
        "created_by": CreatorReply.model_construct(kind=creator.kind, id=creator.id, name=creator.name),
        "updated_at": document.updated_at,
        "sent_at": document.sent_at,
        "completed_at": document.completed_at,
        "closed_at": document.closed_at,
        "close_reason": document.close_reason,
        "seal_error": document.seal_error,
        "seal": present_seal(seal) if seal else None,
    }


def present_seal(seal: Seal) -> SealReply:
    stamp = SealTimestampReply.model_construct(time=seal.stamped_at, authority=seal.authority)
    return SealReply.model_construct(
        level=seal.level,
        level_asked=seal.asked,
        sealed_at=seal.sealed_at,
        sha256=seal.sha256,
        size=seal.size,
        page_count=seal.page_count,
        timestamped=seal.timestamped,
        timestamp=stamp if seal.timestamped else None,
        certificate_sha256=seal.certificate_sha256,
    )


def present_reminders(plan: Reminders) -> RemindersReply:
    return RemindersReply.model_construct(
        enabled=plan.enabled,
        first_after_days=plan.first_after_days,
        every_days=plan.every_days,
        max=plan.max,
    )


def collect_recipient_members(recipient: Recipient) -> dict[str, Any]:
    """Return the members that a recipient has in a list and in a single answer."""
    same = [
        "id",
        "email",
        "name",
        "order",
        "authentication",
        "locale",
        "sent_at",
        "viewed_at",
        "completed_at",
        "declined_at",
        "decline_reason",
        "reminders_sent",
        "last_reminded_at",
    ]
    return {
        **{name: getattr(recipient, name) for name in same},
        "role": recipient.role.value,
        "status": recipient.status.value,
        "delivery": DeliveryReply.model_construct(
            status=DELIVERIES.get(recipient.delivery, recipient.delivery.value),
            at=recipient.delivery_at,
            error=recipient.delivery_error,
        ),
        "mail": MAILS[recipient.delivery],
        "proof": present_proof(recipient),
    }


def present_proof(recipient: Recipient) -> ProofReply | None:
    """Return how the recipient has proved who they are, or None before they have opened a link."""
    if recipient.viewed_at is None and recipient.completed_at is None and recipient.declined_at is None:
        return None
    return ProofReply.model_construct(
        method=recipient.authentication, link=recipient.link, code=recipient.code
    )
