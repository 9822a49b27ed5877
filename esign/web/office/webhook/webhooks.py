"""Webhooks: list, create, change, switch on or off, replace the secret, delete."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from starlette.responses import Response

from esign.actions.webhook import webhooks
from esign.actions.webhook.webhooks import Changes, Rotated
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.webhook import delivery as rules
from esign.core.webhook.webhook import Webhook
from esign.web.api.webhooks import ChangeWebhook, CreateWebhook
from esign.web.http.validation import check
from esign.web.office.frame import edit_conflict, paging, resubmit
from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import EMPTY, Wrong
from esign.web.office.webhook import event_choices as events

HERE = "/settings/webhooks"
PER_PAGE = 50
GRACES = (0, 1, 24, 72, 168)
State = Literal["working", "new", "failing", "manual", "failing-off", "gone"]


@dataclass(frozen=True, slots=True)
class Row:
    """A webhook as a page shows it. `off_at` is when it will be switched off if its deliveries keep failing."""

    hook: Webhook
    events: str
    state: State
    off_at: Instant | None
    rotating: bool


def row(call: Call, hook: Webhook) -> Row:
    """Return a webhook as a page shows it."""
    now = call.runtime.clock.now()
    failing = hook.enabled and hook.failing_since is not None
    off_at = rules.off_at(hook, now) if failing else None
    return Row(hook, events.in_words(hook.events), state_of(hook), off_at, hook.rotating(now))


def state_of(hook: Webhook) -> State:
    """Return the state of a webhook, as its badge shows it."""
    if not hook.enabled:
        reasons: Mapping[str | None, State] = {"gone": "gone", "failing": "failing-off"}
        return reasons.get(hook.disabled_reason, "manual")
    if hook.failing_since is not None:
        return "failing"
    return "working" if hook.last_success_at is not None else "new"


async def show(call: Call) -> Response:
    """Show one page of the list of webhooks."""
    filters = f"webhooks:{call.owner}"
    found, more = await webhooks.find_page(call.runtime, call.owner, PER_PAGE, paging.after(call, filters))
    return call.page(
        "webhooks",
        rows=[row(call, hook) for hook in found],
        more=paging.link_to(call, more, filters),
        first=paging.AFTER not in call.request.query_params,
    )


async def one(call: Call) -> Webhook:
    """Return the webhook that the address names; raise `not_found`."""
    return await webhooks.get(call.runtime, call.owner, call.path["id"])


async def show_new(call: Call) -> Response:
    """Show the form for a new webhook."""
    return form(call, None)


async def show_edit(call: Call) -> Response:
    """Show the form that changes a webhook."""
    return form(call, await one(call))


def form(call: Call, hook: Webhook | None) -> Response:
    """Render the form of a new or an existing webhook."""
    chosen = hook.events if hook else ()
    usual = next((name for name, (*_, given) in events.PRESETS.items() if given == chosen), events.CHOSEN)
    return call.page(
        "webhook_form",
        hook=hook,
        usual=usual if hook else "completed",
        chosen=chosen,
        some=events.CHOSEN,
        presets=events.PRESETS,
        groups=events.GROUPS,
    )


async def create(call: Call) -> Response:
    """Create a webhook and show its secret. The answer is the only one that contains it."""
    given = checked(CreateWebhook, call)

    async def create(keep: resubmit.Keep) -> Webhook:
        hook, _ = await webhooks.create(
            call.runtime,
            call.owner,
            given.url,
            tuple(given.events),
            given.description or None,
            lambda tx, made: keep(tx, made[0]),
            caller=call.caller,
        )
        return hook

    try:
        made = await resubmit.make(call, resubmit.name_for(call), HERE, given.model_dump(mode="json"), create)
    except Problem as problem:
        raise told(problem) from None
    hook = await webhooks.get(call.runtime, call.owner, made)
    secret = webhooks.secret_of(call.runtime, hook)
    return call.page("webhook_made", hook=hook, secret=secret, until=None, new=True)


async def change(call: Call) -> Response:
    """Save only the fields that the user changed since the page was shown."""
    hook = await one(call)
    mine = merged(call, hook)
    given = checked(ChangeWebhook, call)
    members: dict[str, Any] = {}
    if "url" in mine:
        members["url"] = given.url
    if "description" in mine:
        members["description"] = given.description or None
    if "names" in mine:
        members["events"] = tuple(given.events)
    try:
        await webhooks.change(
            call.runtime, call.owner, hook.id, Changes(members, since=hook.updated_at), caller=call.caller
        )
    except Problem as problem:
        raise told(problem) from None
    return call.go(f"{HERE}/{hook.id}", "webhook-saved")


def merged(call: Call, hook: Webhook) -> dict[str, str]:
    """Return the fields that the user changed; raise `Wrong` for those that another user changed in the meantime."""
    stored = {"url": hook.url, "description": hook.description or "", "names": " ".join(sorted(hook.events))}
    call.form["names"] = " ".join(sorted(ticked(call)))
    try:
        return edit_conflict.typed(call, stored, stored | {"names": events.in_words(hook.events)})
    except Wrong:
        if "names" not in call.form:  # the user did not change the events: show the stored ones
            chosen = next((name for name, (*_, all) in events.PRESETS.items() if all == hook.events), "")
            call.form = {name: text for name, text in call.form.items() if not name.startswith("event-")}
            call.form |= {"events": chosen or events.CHOSEN} | {f"event-{name}": "on" for name in hook.events}
        raise


def ticked(call: Call) -> list[str]:
    """Return the names of the events that the form asks for."""
    wanted = call.form.get("events", "")
    if wanted in events.PRESETS:
        return list(events.PRESETS[wanted][2])
    return [name for group in events.GROUPS.values() for name in group if f"event-{name}" in call.form]


def checked(model: type[CreateWebhook] | type[ChangeWebhook], call: Call) -> Any:
    """Return the form checked against the API's schema; raise `Wrong`."""
    url, names = call.form.get("url", ""), ticked(call)
    try:
        return check(model, {"url": url, "events": names, "description": call.form.get("description", "")})
    except Problem as problem:
        raise Wrong(sentences({one.path[1:]: one.message for one in problem.details}, url)) from None


def sentences(found: Mapping[str, str], url: str) -> dict[str, str]:
    """Return the messages in the order of the fields, so that the topmost wrong field is the first one."""
    said = {
        "url": EMPTY if not url.strip() else found.get("url", ""),
        "description": found.get("description", ""),
        "events": "Choose at least one event.",
    }
    return {name: said[name] for name in said if name in found}


def told(problem: Problem) -> Exception:
    """Return the error to raise: at a field or above the form if the user can correct it there, otherwise unchanged."""
    if problem.code == "invalid_webhook_url":
        return Wrong({"url": problem.message})
    return Wrong({"": problem.message}) if problem.code in ("limit_reached", "revision_mismatch") else problem


async def switch_on(call: Call) -> Response:
    """Switch the webhook on."""
    await webhooks.change(call.runtime, call.owner, call.path["id"], Changes({}, True), caller=call.caller)
    return call.go(f"{HERE}/{call.path['id']}", "webhook-on")


async def switch_off(call: Call) -> Response:
    """Switch the webhook off; waiting deliveries are given up."""
    await webhooks.change(call.runtime, call.owner, call.path["id"], Changes({}, False), caller=call.caller)
    return call.go(f"{HERE}/{call.path['id']}", "webhook-off")


async def ask_secret(call: Call) -> Response:
    """Ask for how long the old secret is to sign as well, before it is replaced."""
    hook = await one(call)
    return call.page(
        "webhook_secret", row=row(call, hook), graces=GRACES, usual=call.runtime.config.limits.rotation_hours
    )


async def rotate(call: Call) -> Response:
    """Replace the secret and show the new one. The answer is the only one that contains it."""
    hook, given = await one(call), call.form.get("grace", "")
    if given not in map(str, {*GRACES, call.runtime.config.limits.rotation_hours}):
        raise Wrong({"grace": "Choose one of these."})

    async def create(keep: resubmit.Keep) -> Rotated:
        return await webhooks.rotate(call.runtime, call.owner, hook.id, int(given), keep, caller=call.caller)

    try:
        await resubmit.make(
            call, resubmit.name_for(call, hook.id), f"{HERE}/secret", {"grace": given}, create
        )
    except Problem as problem:
        if problem.code != "rotation_in_progress":
            raise
        raise Wrong({"grace": "Two secrets sign already. Choose “At once”, or wait."}) from None
    hook = await one(call)
    secret = webhooks.secret_of(call.runtime, hook)
    return call.page("webhook_made", hook=hook, secret=secret, until=hook.previous_until, new=False)


async def ask(call: Call) -> Response:
    """Ask before a webhook is deleted."""
    return call.page("webhook_delete", hook=await one(call))


async def delete(call: Call) -> Response:
    """Delete the webhook."""
    await webhooks.delete(call.runtime, call.owner, call.path["id"], caller=call.caller)
    return call.go(HERE, "webhook-deleted")
