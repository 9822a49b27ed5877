"""The deliveries of a webhook: list them, show requests and answers, repeat one, send a test, resend missed events."""

import json
from urllib.parse import urlsplit

from starlette.responses import Response

from esign.actions.webhook import deliveries
from esign.actions.webhook.deliveries import DeliveryLog
from esign.core.errors import Problem
from esign.core.instant import DAY, Instant
from esign.core.webhook.delivery import DELAYS, DeliveryStatus
from esign.core.webhook.webhook import Webhook
from esign.core.webhook.webhook_signature import USER_AGENT
from esign.store.queue.deliveries import DeliveryFilter
from esign.web.office.frame import dates, paging
from esign.web.office.frame.forms import EMPTY, FormError
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.webhook.webhooks import HERE, describe_webhook, find_webhook

PER_PAGE = 25
TABS = ("", "failed", "pending", "succeeded")
STATUSES = {status.value: status for status in DeliveryStatus}


async def show(call: OfficeCall) -> Response:
    """Show a webhook with its newest deliveries, filtered by status if the address asks for it."""
    hook, wanted = await find_webhook(call), call.request.query_params.get("status", "")
    status = STATUSES.get(wanted)
    filters = f"deliveries:{hook.id}:{status}"
    found, more = await deliveries.find_page(
        call.runtime, call.owner, DeliveryFilter(hook.id, status), PER_PAGE, paging.read_cursor(call, filters)
    )
    queued = call.request.query_params.get("queued", "")
    return call.page(
        "webhook",
        row=describe_webhook(call, hook),
        deliveries=found,
        status=status.value if status else "",
        tabs=TABS,
        more=paging.link_next_page(call, more, filters, **({"status": status.value} if status else {})),
        first=paging.AFTER not in call.request.query_params,
        attempts=len(DELAYS),
        queued=int(queued) if queued.isascii() and queued.isdecimal() and len(queued) < 10 else None,
    )


async def show_one(call: OfficeCall) -> Response:
    """Show a delivery with its request and every answer."""
    hook = await find_webhook(call)
    log = await deliveries.read(call.runtime, call.owner, hook.id, call.path["did"])
    return call.page(
        "delivery", row=describe_webhook(call, hook), attempts=len(DELAYS), **describe_delivery(hook, log)
    )


def describe_delivery(hook: Webhook, log: DeliveryLog) -> dict[str, object]:
    """Return a delivery for the template: the request with its body indented, and its attempts, newest first."""
    target = urlsplit(hook.url)
    path = f"{target.path or '/'}?{target.query}" if target.query else target.path or "/"
    numbered = [
        {"number": number, "text": attempt.response_text, **pick_attempt_fields(attempt)}
        for number, attempt in enumerate(log.attempts, 1)
    ]
    return {
        "delivery": log.delivery,
        "numbered": numbered[::-1],
        "head": f"POST {path}\nHost: {target.netloc}\nContent-Type: application/json\n"
        f"User-Agent: {USER_AGENT}\nwebhook-id: {log.delivery.event_id}",
        "body": json.dumps(json.loads(log.body), ensure_ascii=False, indent=2),
    }


def pick_attempt_fields(attempt: object) -> dict[str, object]:
    """Return the fields of an attempt that the page shows."""
    names = ("at", "duration_ms", "status_code", "error", "has_succeeded")
    return {name: getattr(attempt, name) for name in names}


async def redeliver(call: OfficeCall) -> Response:
    """Send a delivery once more now, and show the result."""
    hook, did = await find_webhook(call), call.path["did"]
    after = await deliveries.redeliver(call.runtime, call.caller, hook.id, did)
    return call.redirect_to(f"{HERE}/{hook.id}/deliveries/{did}", name_outcome(after.last_error))


async def test(call: OfficeCall) -> Response:
    """Send a test event now, and show the answer."""
    hook = await find_webhook(call)
    made = await deliveries.send_test(call.runtime, call.caller, hook.id)
    after = await deliveries.find_delivery(call.runtime.db, hook.id, made.id)
    return call.redirect_to(f"{HERE}/{hook.id}/deliveries/{made.id}", name_outcome(after.last_error))


def name_outcome(error: str | None) -> str:
    """Return the name of the message about an attempt."""
    return "delivery-failed" if error else "delivered"


async def show_recover(call: OfficeCall) -> Response:
    """Show the form that asks from which time on missed events are to be sent again."""
    hook, organisation, now = await find_webhook(call), call.signed_in.organisation, call.runtime.clock.now()
    days = call.runtime.config.limits.event_days
    since = hook.failing_since or hook.disabled_at or now - DAY
    return call.page(
        "webhook_recover",
        row=describe_webhook(call, hook),
        since=dates.format_for_field(since, organisation.time_zone),
        earliest=dates.format_for_field(now - days * DAY, organisation.time_zone),
        days=days,
    )


async def recover(call: OfficeCall) -> Response:
    """Queue the events of a period that were not delivered.

    Raise `FormError` if the webhook is switched off or the period is invalid.
    """
    hook, now = await find_webhook(call), call.runtime.clock.now()
    if not call.form.get("since", ""):
        raise FormError({"since": EMPTY})
    since = parse_time(call, "since", now)
    until = parse_time(call, "until", now) if call.form.get("until", "") else now
    if until < since:
        raise FormError({"until": "This is earlier than the time above."})
    try:
        queued = await deliveries.recover(call.runtime, call.caller, hook.id, since, until)
    except Problem as problem:
        if problem.code != "webhook_disabled":
            raise
        raise FormError({"": "This webhook is off. Turn it on first."}) from None
    return call.redirect_to(f"{HERE}/{hook.id}?queued={queued}")


def parse_time(call: OfficeCall, name: str, now: Instant) -> Instant:
    """Return the instant in a field of the form; raise `FormError` for an invalid or a future one."""
    try:
        at = dates.parse_local_time(call.form[name], call.signed_in.organisation.time_zone)
    except (ValueError, OverflowError):
        raise FormError({name: "Enter the time as 2026-11-22T05:35."}) from None
    if at > now:
        raise FormError({name: "This time is in the future."})
    return at
