"""The event log: what happened to the organisation's documents and templates, in the form that webhooks receive."""

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from esign.actions.webhook import deliveries
from esign.core.instant import parse
from esign.core.webhook.webhook import PUBLISHED
from esign.store.queue.published_events import EventFilter
from esign.web.office.frame import paging
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.words import OfficeWords
from esign.web.office.webhook import event_choices

PER_PAGE = 50


async def show_events(call: OfficeCall) -> Response:
    """Show the events, newest first; with `type` in the address only events of that type."""
    given = call.request.query_params.get("type", "")
    kind = given if given in PUBLISHED else None
    wanted = EventFilter(call.owner.organisation_id, call.owner.mode, kind, None, 0, 2**62)
    filters = f"events:{wanted}"
    found, more = await deliveries.find_events(
        call.runtime, wanted, PER_PAGE, paging.read_cursor(call, filters)
    )
    return call.page(
        "events",
        events=[describe_event(orjson.loads(body), call.words) for body in found],
        kinds=event_choices.GROUPS,
        kind=kind,
        more=paging.link_next_page(call, more, filters, **({"type": kind} if kind else {})),
        first=paging.AFTER not in call.request.query_params,
        days=call.runtime.config.limits.event_days,
    )


def describe_event(body: Mapping[str, Any], t: OfficeWords) -> dict[str, object]:
    """Return what the list shows of an event.

    Of a deleted document only the id is known, which then stands in place of the title.
    """
    about = body["data"].get("document") or body["data"].get("template") or {}
    if entry := body["data"].get("entry"):  # of the audit log, which has no title
        about = {"title": t(f"settings.log.act.{entry['type']}")}
    return {
        "id": body["id"],
        "at": parse(body["timestamp"]),
        "words": t(f"documents.event.name.{body['type']}") if body["type"] in PUBLISHED else body["type"],
        "title": about.get("title") or about.get("id", ""),
        "who": (body["data"].get("recipient") or {}).get("name"),
    }


async def show_event(call: OfficeCall) -> Response:
    """Show one event, with the JSON body that webhooks receive."""
    body = orjson.loads(await deliveries.read_event(call.runtime, call.owner, call.path["id"]))
    document = body["data"].get("document", {}).get("id")
    return call.page(
        "event",
        event=describe_event(body, call.words),
        document=document if body["type"] != "document.deleted" else None,
        body=orjson.dumps(body, option=orjson.OPT_INDENT_2).decode(),
    )
