"""The bodies that a webhook receives, as models for the description. `core.webhook.webhook.make_payload` makes them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, PlainSerializer

from esign.core.people.admin_audit import RECORDED
from esign.core.webhook.webhook import PUBLISHED, TEST
from esign.web.api import examples, webhook_examples
from esign.web.values.schema import Moment, Reply


class EventRecipient(Reply):
    id: str
    email: str
    name: str
    role: Literal["signer", "approver", "viewer", "cc"]
    status: Literal["created", "sent", "viewed", "completed", "declined"]
    order: int


class ActingRecipient(EventRecipient):
    """The recipient an event is about."""

    sent_at: Moment | None
    viewed_at: Moment | None
    completed_at: Moment | None
    declined_at: Moment | None
    decline_reason: str | None


class EventDocument(Reply):
    """The document as it was after the event."""

    id: str
    title: str
    status: Literal["draft", "sent", "sealing", "completed", "declined", "expired", "cancelled"]
    page_count: int
    created_at: Moment
    sent_at: Moment | None
    expires_at: Moment | None
    completed_at: Moment | None
    closed_at: Moment | None
    close_reason: str | None
    template_id: str | None
    external_id: str | None
    metadata: dict[str, str]
    recipients: list[EventRecipient]


class DocumentData(Reply):
    document: EventDocument


class RecipientData(DocumentData):
    recipient: ActingRecipient


class DocumentEvent(Reply):
    """`sequence` rises by 1 with every event of the same document."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.EVENT]})

    id: str
    type: str
    timestamp: Moment
    api_version: Literal["v1"]
    mode: Literal["live", "test"]
    sequence: int
    data: DocumentData


class RecipientEvent(DocumentEvent):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.RECIPIENT_EVENT]})

    data: RecipientData


class EventTemplate(Reply):
    """The template as it was after the event, or before it was deleted."""

    id: str
    title: str
    revision: int


class TemplateData(Reply):
    template: EventTemplate


class TemplateEvent(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.TEMPLATE_EVENT]})

    id: str
    type: str
    timestamp: Moment
    api_version: Literal["v1"]
    mode: Literal["live", "test"]
    sequence: None
    data: TemplateData


class RecordedActor(Reply):
    kind: Literal["member", "api_key", "system", "anonymous"]
    id: str | None


class RecordedEntry(Reply):
    """Which act, by whose id, and the hash of the entry; names and details are in `GET /audit` alone."""

    seq: int
    at: Moment
    type: str
    actor: RecordedActor
    hash: str


class RecordedData(Reply):
    entry: RecordedEntry


class RecordedEvent(Reply):
    """An entry of the administrative audit log. It is sent to live webhooks, whichever mode the act was about."""

    model_config = ConfigDict(json_schema_extra={"examples": [webhook_examples.RECORDED_EVENT]})

    id: str
    type: Literal["audit.recorded"]
    timestamp: Moment
    api_version: Literal["v1"]
    mode: Literal["live"]
    sequence: None
    data: RecordedData


class DeletedDocument(Reply):
    id: str
    external_id: str | None


class DeletedData(Reply):
    document: DeletedDocument


class DeletedEvent(DocumentEvent):
    """All that is left to say of a document that was deleted."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.DELETED_EVENT]})

    data: DeletedData  # type: ignore[assignment]  # only the two members that outlive it


class TestData(Reply):
    webhook_id: str


class TestEvent(Reply):
    """Sent by `POST /webhooks/{id}/test` alone, whatever the webhook subscribes to."""

    model_config = ConfigDict(json_schema_extra={"examples": [webhook_examples.TEST_EVENT]})

    id: str
    type: Literal["webhook.test"]
    timestamp: Moment
    api_version: Literal["v1"]
    mode: Literal["live", "test"]
    sequence: None
    data: TestData


AnyEvent = Annotated[
    DocumentEvent | RecipientEvent | DeletedEvent | TemplateEvent | RecordedEvent | TestEvent,
    PlainSerializer(lambda event: event),  # an event is written as it was stored, without validation
]


def load_event(body: bytes) -> Any:
    """Return the stored body of an event, to stand inside an answer."""
    return orjson.loads(body)


WITH_RECIPIENT = ("recipient.", "document.declined")

BODIES: Mapping[str, type[BaseModel]] = {
    name: RecipientEvent if name.startswith(WITH_RECIPIENT) else DocumentEvent for name in PUBLISHED
} | {
    **{name: TemplateEvent for name in PUBLISHED if name.startswith("template.")},
    "document.deleted": DeletedEvent,
    RECORDED: RecordedEvent,
    TEST: TestEvent,
}
