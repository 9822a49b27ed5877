"""Webhooks: list, create, change, switch on or off, replace the secret, delete."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.webhook import webhooks
from esign.actions.webhook.webhooks import CreatedWebhook, RotatedSecret, WebhookChanges, WebhookOrder
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.webhook import delivery as rules
from esign.core.webhook.webhook import Webhook
from esign.web.http.validation import check
from esign.web.office.frame import create_once, edit_conflict, paging
from esign.web.office.frame.forms import EMPTY, FormError
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.webhook import event_choices as events
from esign.web.values.account_values import EventNames, WebhookDescription, WebhookUrl
from esign.web.values.schema import Schema

HERE = "/settings/webhooks"
PER_PAGE = 50
GRACES = (0, 1, 24, 72, 168)
State = Literal["working", "new", "failing", "manual", "failing-off", "gone"]


class WebhookForm(Schema):
    """The fields of the form; `events` are those of the preset, or those that are ticked."""

    url: WebhookUrl
    events: EventNames
    description: WebhookDescription = ""


@dataclass(frozen=True, slots=True)
class WebhookRow:
    """A webhook as a page shows it. `off_at` is when it will be switched off if its deliveries keep failing."""

    hook: Webhook
    events: str
    state: State
    off_at: Instant | None
    rotating: bool


def describe_webhook(call: OfficeCall, hook: Webhook) -> WebhookRow:
    """Return a webhook as a page shows it."""
    now = call.runtime.clock.now()
    failing = hook.enabled and hook.failing_since is not None
    off_at = rules.find_end_time(hook, now) if failing else None
    described = events.describe_events(hook.events, call.words)
    return WebhookRow(hook, described, find_state(hook), off_at, hook.rotating(now))


def find_state(hook: Webhook) -> State:
    """Return the state of a webhook, as its badge shows it."""
    if not hook.enabled:
        reasons: Mapping[str | None, State] = {"gone": "gone", "failing": "failing-off"}
        return reasons.get(hook.disabled_reason, "manual")
    if hook.failing_since is not None:
        return "failing"
    return "working" if hook.last_success_at is not None else "new"


async def show(call: OfficeCall) -> Response:
    """Show one page of the list of webhooks."""
    filters = f"webhooks:{call.owner}"
    found, more = await webhooks.find_page(
        call.runtime, call.owner, PER_PAGE, paging.read_cursor(call, filters)
    )
    return call.page(
        "webhooks",
        rows=[describe_webhook(call, hook) for hook in found],
        more=paging.link_next_page(call, more, filters),
        first=paging.AFTER not in call.request.query_params,
    )


async def find_webhook(call: OfficeCall) -> Webhook:
    """Return the webhook that the address names; raise `not_found`."""
    return await webhooks.get(call.runtime, call.owner, call.path["id"])


async def show_new(call: OfficeCall) -> Response:
    """Show the form for a new webhook."""
    return show_form(call, None)


async def show_edit(call: OfficeCall) -> Response:
    """Show the form that changes a webhook."""
    return show_form(call, await find_webhook(call))


def show_form(call: OfficeCall, hook: Webhook | None) -> Response:
    """Render the form of a new or an existing webhook."""
    chosen = hook.events if hook else ()
    usual = next((name for name, given in events.PRESETS.items() if given == chosen), events.CHOSEN)
    return call.page(
        "webhook_form",
        hook=hook,
        usual=usual if hook else "completed",
        chosen=chosen,
        presets=(*events.PRESETS, events.CHOSEN),
        groups=events.GROUPS,
    )


async def create(call: OfficeCall) -> Response:
    """Create a webhook and show its secret. The answer is the only one that contains it."""
    given = check_form(call)

    async def create(caller: Caller) -> CreatedWebhook:
        order = WebhookOrder(given.url, tuple(given.events), given.description or None)
        return await webhooks.create(call.runtime, caller, order)

    try:
        made = await create_once.create_once(
            call, create_once.choose_form_name(call), HERE, given.model_dump(mode="json"), create
        )
    except Problem as problem:
        raise explain_problem(problem) from None
    hook = await webhooks.get(call.runtime, call.owner, made)
    secret = webhooks.decrypt_secret(call.runtime, hook)
    return call.page("webhook_made", hook=hook, secret=secret, until=None, new=True)


async def change(call: OfficeCall) -> Response:
    """Save only the fields that the user changed since the page was shown."""
    hook = await find_webhook(call)
    mine = find_changed_fields(call, hook)
    given = check_form(call)
    members: dict[str, object] = {}
    if "url" in mine:
        members["url"] = given.url
    if "description" in mine:
        members["description"] = given.description or None
    if "names" in mine:
        members["events"] = tuple(given.events)
    try:
        changes = WebhookChanges(members, since=hook.updated_at)
        await webhooks.change(call.runtime, call.caller, hook.id, changes)
    except Problem as problem:
        raise explain_problem(problem) from None
    return call.redirect_to(f"{HERE}/{hook.id}", "webhook-saved")


def find_changed_fields(call: OfficeCall, hook: Webhook) -> dict[str, str]:
    """Return the fields that the user changed; raise `FormError` for those that another user changed meanwhile."""
    stored = {"url": hook.url, "description": hook.description or "", "names": " ".join(sorted(hook.events))}
    call.form["names"] = " ".join(sorted(list_chosen_events(call)))
    try:
        return edit_conflict.find_typed_texts(
            call, stored, stored | {"names": events.describe_events(hook.events, call.words)}
        )
    except FormError:
        if "names" not in call.form:  # the user did not change the events: show the stored ones
            chosen = next((name for name, given in events.PRESETS.items() if given == hook.events), "")
            call.form = {name: text for name, text in call.form.items() if not name.startswith("event-")}
            call.form |= {"events": chosen or events.CHOSEN} | {f"event-{name}": "on" for name in hook.events}
        raise


def list_chosen_events(call: OfficeCall) -> list[str]:
    """Return the names of the events that the form asks for."""
    wanted = call.form.get("events", "")
    if wanted in events.PRESETS:
        return list(events.PRESETS[wanted])
    return [name for group in events.GROUPS.values() for name in group if f"event-{name}" in call.form]


def check_form(call: OfficeCall) -> WebhookForm:
    """Return the checked form; raise `FormError`."""
    url, names = call.form.get("url", ""), list_chosen_events(call)
    try:
        return check(
            WebhookForm, {"url": url, "events": names, "description": call.form.get("description", "")}
        )
    except Problem as problem:
        raise FormError(
            order_sentences({one.path[1:]: one.message for one in problem.details}, url)
        ) from None


def order_sentences(found: Mapping[str, str], url: str) -> dict[str, str]:
    """Return the messages in the order of the fields, so that the topmost wrong field is the first one."""
    said = {
        "url": EMPTY if not url.strip() else found.get("url", ""),
        "description": found.get("description", ""),
        "events": "Choose at least one event.",
    }
    return {name: said[name] for name in said if name in found}


def explain_problem(problem: Problem) -> Exception:
    """Return the error to raise: at a field or above the form if the user can correct it there, otherwise unchanged."""
    if problem.code == "invalid_webhook_url":
        return FormError({"url": problem.message})
    return (
        FormError({"": problem.message})
        if problem.code in ("limit_reached", "revision_mismatch")
        else problem
    )


async def switch_on(call: OfficeCall) -> Response:
    """Switch the webhook on."""
    await webhooks.change(call.runtime, call.caller, call.path["id"], WebhookChanges({}, True))
    return call.redirect_to(f"{HERE}/{call.path['id']}", "webhook-on")


async def switch_off(call: OfficeCall) -> Response:
    """Switch the webhook off; waiting deliveries are given up."""
    await webhooks.change(call.runtime, call.caller, call.path["id"], WebhookChanges({}, False))
    return call.redirect_to(f"{HERE}/{call.path['id']}", "webhook-off")


async def ask_secret(call: OfficeCall) -> Response:
    """Ask for how long the old secret is to sign as well, before it is replaced."""
    hook = await find_webhook(call)
    return call.page(
        "webhook_secret",
        row=describe_webhook(call, hook),
        graces=GRACES,
        usual=call.runtime.config.limits.rotation_hours,
    )


async def rotate(call: OfficeCall) -> Response:
    """Replace the secret and show the new one. The answer is the only one that contains it."""
    hook, given = await find_webhook(call), call.form.get("grace", "")
    if given not in map(str, {*GRACES, call.runtime.config.limits.rotation_hours}):
        raise FormError({"grace": "Choose one of the options."})

    async def create(caller: Caller) -> RotatedSecret:
        return await webhooks.rotate(call.runtime, caller, hook.id, int(given))

    try:
        await create_once.create_once(
            call, create_once.choose_form_name(call, hook.id), f"{HERE}/secret", {"grace": given}, create
        )
    except Problem as problem:
        if problem.code != "rotation_in_progress":
            raise
        raise FormError({"grace": "Two secrets are already in use. Choose “At once”, or wait."}) from None
    hook = await find_webhook(call)
    secret = webhooks.decrypt_secret(call.runtime, hook)
    return call.page("webhook_made", hook=hook, secret=secret, until=hook.previous_until, new=False)


async def ask_delete(call: OfficeCall) -> Response:
    """Ask before a webhook is deleted."""
    return call.page("webhook_delete", hook=await find_webhook(call))


async def delete(call: OfficeCall) -> Response:
    """Delete the webhook."""
    await webhooks.delete(call.runtime, call.caller, call.path["id"])
    return call.redirect_to(HERE, "webhook-deleted")
