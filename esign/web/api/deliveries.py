"""The deliveries of a webhook: list, read, repeat one, send a test, recover missed events (contract 3.4)."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema

from esign.actions.webhook import deliveries as actions
from esign.actions.webhook.deliveries import DeliveryLog
from esign.core.errors import Detail, Problem
from esign.core.webhook.delivery import DeliveryAttempt, DeliveryStatus, EventDelivery
from esign.core.webhook.webhook import ALL_EVENTS
from esign.store.queue.deliveries import DeliveryFilter
from esign.web.api import webhook_examples as examples
from esign.web.api.document_requests import Empty
from esign.web.api.events import AnyEvent, load_event
from esign.web.api.paging import FoundPage, ListReply, Paging
from esign.web.cursors import cursor_of, place_of
from esign.web.rest.endpoint import ApiCall
from esign.web.values.schema import Moment, Reply, Schema, Timestamp, refusal


def check_event_name(name: str) -> str:
    """Return the name of an event unchanged. Raise for a name that no event has."""
    if name not in ALL_EVENTS:
        raise refusal("enum", "The name of an event.")
    return name


EventType = Annotated[
    str, AfterValidator(check_event_name), WithJsonSchema({"type": "string", "enum": list(ALL_EVENTS)})
]


class DeliveryList(Paging):
    status: Annotated[Literal["pending", "succeeded", "failed"] | None, Field(description="Only these.")] = (
        None
    )
    event_type: Annotated[EventType | None, Field(description="Only of this event.")] = None


class RecoverEvents(Schema):
    """The period, both ends included; without `until` up to now."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.RECOVER]})

    since: Timestamp
    until: Timestamp | None = None


class WebhookDelivery(Reply):
    """`nextAttemptAt` is null while an attempt is under way."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.DELIVERY]})

    id: str
    webhook_id: str
    event_id: str
    event_type: str
    status: Literal["pending", "succeeded", "failed"]
    attempt_count: int
    next_attempt_at: Moment | None
    last_status_code: int | None
    last_error: str | None
    created_at: Moment
    finished_at: Moment | None


class AttemptReply(Reply):
    """`responseBody` is the first KiB of the answer, as text."""

    at: Moment
    duration_ms: int
    status_code: int | None
    error: str | None
    response_body: str


class WebhookDeliveryLog(WebhookDelivery):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.DELIVERY_LOG]})

    attempts: list[AttemptReply]
    payload: AnyEvent


class WebhookDeliveryPage(ListReply[WebhookDelivery]):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.DELIVERIES]})


class WebhookTested(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.TESTED]})

    event_id: str
    delivery_id: str


class RecoveredReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.RECOVERED]})

    queued: int


async def find(call: ApiCall, query: DeliveryList) -> FoundPage[EventDelivery]:
    """List the deliveries to a webhook, newest first."""
    webhook_id = call.path["id"]
    filters = f"deliveries:{webhook_id}:{query.status}:{query.event_type}"
    after = place_of(call.runtime.vault, query.cursor, filters)
    status = DeliveryStatus(query.status) if query.status else None
    wanted = DeliveryFilter(webhook_id, status, query.event_type)
    found, more = await actions.find_page(call.runtime, call.owner, wanted, query.limit, after)
    return FoundPage(found, cursor_of(call.runtime.vault, more, filters))


async def read(call: ApiCall) -> DeliveryLog:
    """Return a delivery with every attempt, and the body that is sent."""
    return await actions.read(call.runtime, call.owner, call.path["id"], call.path["did"])


async def redeliver(call: ApiCall, body: Empty) -> EventDelivery:
    """Try once more now, whatever the status; a failure changes neither the status nor the schedule."""
    return await actions.redeliver(call.runtime, call.caller, call.path["id"], call.path["did"])


async def test(call: ApiCall, body: Empty) -> EventDelivery:
    """Send the event `webhook.test` now and once; the delivery tells how it went."""
    return await actions.send_test(call.runtime, call.caller, call.path["id"])


async def recover(call: ApiCall, body: RecoverEvents) -> int:
    """Queue every subscribed event of a period that was not delivered, also those from while it was disabled."""
    until = call.runtime.clock.now() if body.until is None else body.until
    if until < body.since:
        raise Problem("invalid_request", details=[Detail("/until", "Not before `since`.", "range")])
    return await actions.recover(call.runtime, call.caller, call.path["id"], body.since, until)


def present(delivery: EventDelivery) -> WebhookDelivery:
    return WebhookDelivery(**collect_members(delivery))


def collect_members(delivery: EventDelivery) -> dict[str, Any]:
    """Return the members of a delivery, by the names of the answer."""
    return {name: getattr(delivery, name) for name in WebhookDelivery.model_fields} | {
        "status": delivery.status.value
    }


def present_page(found: FoundPage[EventDelivery]) -> WebhookDeliveryPage:
    return WebhookDeliveryPage.from_page(found, present)


def present_log(log: DeliveryLog) -> WebhookDeliveryLog:
    return WebhookDeliveryLog.model_construct(
        **collect_members(log.delivery),
        attempts=[present_attempt(attempt) for attempt in log.attempts],
        payload=load_event(log.body),
    )


def present_attempt(attempt: DeliveryAttempt) -> AttemptReply:
    return AttemptReply(
        at=attempt.at,
        duration_ms=attempt.duration_ms,
        status_code=attempt.status_code,
        error=attempt.error,
        response_body=attempt.response_text,
    )


def present_tested(delivery: EventDelivery) -> WebhookTested:
    return WebhookTested(event_id=delivery.event_id, delivery_id=delivery.id)


def present_recovered(queued: int) -> RecoveredReply:
    return RecoveredReply(queued=queued)
