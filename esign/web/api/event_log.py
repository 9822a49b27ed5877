"""The events of the last days, as webhooks receive them (contract 3.4)."""

from typing import Annotated

import orjson
from pydantic import ConfigDict, Field, RootModel

from esign.actions.webhook import deliveries as actions
from esign.core.errors import NO_EVENT, Problem
from esign.core.people.admin_audit import RECORDED
from esign.core.people.api_key import Scope
from esign.store.queue.published_events import EventFilter
from esign.web.api import examples, webhook_examples
from esign.web.api.deliveries import EventType
from esign.web.api.events import AnyEvent, load_event
from esign.web.api.paging import FoundPage, ListReply, Paging
from esign.web.cursors import cursor_of, place_of
from esign.web.rest.endpoint import ApiCall
from esign.web.values.schema import Timestamp


class EventList(Paging):
    type: Annotated[EventType | None, Field(description="Only these.")] = None
    document_id: Annotated[str | None, Field(description="Only those of this document.")] = None
    created_after: Annotated[Timestamp | None, Field(description="From then on.")] = None
    created_before: Annotated[Timestamp | None, Field(description="Until then, not included.")] = None


class EventReply(RootModel[AnyEvent]):
    """An event, byte for byte as webhooks receive it."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.EVENT]})


class EventPage(ListReply[AnyEvent]):
    model_config = ConfigDict(json_schema_extra={"examples": [webhook_examples.EVENTS]})


async def find(call: ApiCall, query: EventList) -> FoundPage[bytes]:
    """List events, newest first; `audit.recorded` is for keys that have `webhooks:read` as well."""
    owner = call.owner
    if query.type == RECORDED:
        call.require_scope(Scope.WEBHOOKS_READ)
    wanted = EventFilter(
        owner.organisation_id,
        owner.mode,
        query.type,
        query.document_id,
        query.created_after or 0,
        2**62 if query.created_before is None else query.created_before,
        None if call.key.allows(Scope.WEBHOOKS_READ) else RECORDED,
    )
    filters = f"events:{wanted}"
    after = place_of(call.runtime.vault, query.cursor, filters)
    found, more = await actions.find_events(call.runtime, wanted, query.limit, after)
    return FoundPage(found, cursor_of(call.runtime.vault, more, filters))


async def read(call: ApiCall) -> bytes:
    """Return one event."""
    body = await actions.read_event(call.runtime, call.owner, call.path["id"])
    if not call.key.allows(Scope.WEBHOOKS_READ) and orjson.loads(body)["type"] == RECORDED:
        raise Problem("not_found", NO_EVENT)
    return body


def present(body: bytes) -> EventReply:
    return EventReply.model_construct(load_event(body))


def present_page(found: FoundPage[bytes]) -> EventPage:
    return EventPage.from_page(found, load_event)
