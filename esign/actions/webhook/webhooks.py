"""Subscriptions: create, change and delete them, and renew their secrets (contract 3.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.core.actor import Mode, Owner
from esign.core.errors import Detail, Problem
from esign.core.instant import HOUR, Instant
from esign.core.sentence import say
from esign.core.webhook import delivery as rules
from esign.core.webhook.webhook import ALL_EVENTS, Webhook
from esign.runtime import Runtime
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.paging import PageStart, cut_page
from esign.store.queue import deliveries, webhooks
from esign.system.entropy import make_id, make_webhook_secret


@dataclass(frozen=True, slots=True)
class WebhookOrder:
    """What the caller wants created: the address, the names of the events or `*`, and a note."""

    url: str
    events: tuple[str, ...]
    description: str | None


@dataclass(frozen=True, slots=True)
class CreatedWebhook:
    """A new webhook with its secret, which is shown only this once."""

    webhook: Webhook
    secret: str

    @property
    def id(self) -> str:
        return self.webhook.id


async def create(runtime: Runtime, caller: Caller, order: WebhookOrder) -> CreatedWebhook:
    """Create a subscription, and return it with its secret.

    Raises `unknown_event` and `limit_reached`, and what the check of the address raises.
    """
    owner = caller.owner
    check_event_names(order.events)
    runtime.http.check(order.url, plain_allowed=owner.mode is Mode.TEST)
    now, secret = runtime.clock.now(), make_webhook_secret()
    webhook_id = make_id("wh", now)

    async def write(tx: Transaction) -> CreatedWebhook:
        limit = runtime.config.limits.webhooks
        if len(await webhooks.find(tx, owner)) >= limit:
            raise Problem(
                "limit_reached",
                say(
                    "The organisation has {n} webhooks; delete one first.",
                    one="The organisation has {n} webhook; delete it first.",
                    n=limit,
                ),
            )
        webhook = Webhook(
            id=webhook_id,
            organisation_id=owner.organisation_id,
            mode=owner.mode,
            url=order.url,
            events=order.events,
            enabled=True,
            secret=runtime.vault.encrypt("webhook", secret.encode(), webhook_id.encode()),
            created_at=now,
            updated_at=now,
            description=order.description,
        )
        entry = make_entry("webhook.created", now, webhook, {"events": list(webhook.events)})
        await audit_log.log_act(tx, runtime.vault, caller, entry)
        await webhooks.add(tx, webhook)
        created = CreatedWebhook(webhook, secret)
        await caller.keep(tx, created)
        return created

    return await runtime.db.write(write)


def make_entry(act: str, now: Instant, webhook: Webhook, data: Mapping[str, object]) -> AdminAct:
    """Return the log entry of an act on a webhook.

    Its address may contain a secret, so it is personal data.
    """
    about = {"webhookId": webhook.id, "mode": webhook.mode.value, **data}
    return AdminAct(act, now, about, {"url": webhook.url})


def check_event_names(names: tuple[str, ...]) -> None:
    """Raise `unknown_event` naming each unknown event."""
    if "*" in names and names != ("*",):
        raise Problem("unknown_event", details=[Detail("/events", "“*” must be the only event.", "enum")])
    unknown = [
        Detail(f"/events/{n}", say("There is no event “{name}”.", name=name), "enum")
        for n, name in enumerate(names)
        if name != "*" and name not in ALL_EVENTS
    ]
    if unknown:
        raise Problem("unknown_event", details=unknown)


def decrypt_secret(runtime: Runtime, webhook: Webhook) -> str:
    """Return the secret that signs the webhook's deliveries now."""
    return runtime.vault.decrypt("webhook", webhook.secret, webhook.id.encode()).decode()


async def find_page(
    runtime: Runtime, owner: Owner, limit: int, after: PageStart | None
) -> tuple[list[Webhook], PageStart | None]:
    """Return a page of webhooks, newest first, and the place where the next page begins, or None."""
    found = await webhooks.find_page(runtime.db, owner, limit + 1, after)
    return cut_page(found, limit)


async def get(runtime: Runtime, owner: Owner, webhook_id: str) -> Webhook:
    """Return the webhook. Raises `not_found`."""
    return await webhooks.get_own(runtime.db, owner, webhook_id)


async def get_enabled(reader: Reader, owner: Owner, webhook_id: str) -> Webhook:
    """Return the webhook. Raises `not_found`, and `webhook_disabled` if it is switched off."""
    webhook = await webhooks.get_own(reader, owner, webhook_id)
    if not webhook.enabled:
        raise Problem("webhook_disabled")
    return webhook


@dataclass(frozen=True, slots=True)
class WebhookChanges:
    """What the caller wants changed: `members` by their names in Webhook. An `enabled` of None keeps the present state.

    `since` is the `updated_at` of the webhook that the caller has seen.
    """

    members: Mapping[str, Any]
    enabled: bool | None = None
    since: Instant | None = None


async def change(runtime: Runtime, caller: Caller, webhook_id: str, changes: WebhookChanges) -> Webhook:
    """Change the webhook, and return it.

    Enabling clears its failures; disabling gives up its pending deliveries. Raises `revision_mismatch` if it
    has changed since the caller saw it.
    """
    owner = caller.owner
    if "events" in changes.members:
        check_event_names(changes.members["events"])
    if "url" in changes.members:
        runtime.http.check(changes.members["url"], plain_allowed=owner.mode is Mode.TEST)
    now = runtime.clock.now()

    async def write(tx: Transaction) -> Webhook:
        before = await webhooks.get_own(tx, owner, webhook_id)
        if changes.since not in (None, before.updated_at):
            raise Problem("revision_mismatch", "Someone changed the webhook in the meantime. Check it again.")
        webhook = replace(before, **changes.members)
        if changes.enabled:
            webhook = rules.switch_on(webhook)
        elif changes.enabled is False:
            webhook = rules.switch_off(webhook, "manual", now)
            await deliveries.give_up(tx, webhook_id, now, "the webhook was switched off")
        if webhook != before:
            members = ("url", "events", "description", "enabled")
            named = [name for name in members if getattr(before, name) != getattr(webhook, name)]
            webhook = replace(webhook, updated_at=now)
            await webhooks.save(tx, [webhook])
            tx.wake_workers()  # to read the webhook again for the deliveries that they have claimed
            data = {"members": named, "events": list(webhook.events), "enabled": webhook.enabled}
            entry = make_entry("webhook.changed", now, webhook, data)
            await audit_log.log_act(tx, runtime.vault, caller, entry)
        await caller.keep(tx, webhook)
        return webhook

    webhook = await runtime.db.write(write)
    return webhook


async def delete(runtime: Runtime, caller: Caller, webhook_id: str) -> str:
    """Delete the webhook and its pending deliveries, and return its id."""
    owner, now = caller.owner, runtime.clock.now()

    async def write(tx: Transaction) -> None:
        webhook = await webhooks.get_own(tx, owner, webhook_id)
        await webhooks.delete(tx, owner, webhook_id)
        await deliveries.drop(tx, webhook_id)
        entry = make_entry("webhook.deleted", now, webhook, {})
        await audit_log.log_act(tx, runtime.vault, caller, entry)
        await caller.keep(tx, webhook_id)

    await runtime.db.write(write)
    return webhook_id


@dataclass(frozen=True, slots=True)
class RotatedSecret:
    """A new secret, shown only this once. The previous secret signs beside it until `until`."""

    id: str
    secret: str
    until: Instant


async def rotate(runtime: Runtime, caller: Caller, webhook_id: str, hours: int) -> RotatedSecret:
    """Replace the secret of the webhook. With `hours` of 0 every earlier secret ends at once.

    Raises `rotation_in_progress` if an earlier secret still signs and `hours` is not 0.
    """
    owner, now, secret = caller.owner, runtime.clock.now(), make_webhook_secret()
    rotated = RotatedSecret(webhook_id, secret, now + hours * HOUR)

    async def write(tx: Transaction) -> None:
        before = await webhooks.get_own(tx, owner, webhook_id)
        if hours and before.rotating(now):
            raise Problem("rotation_in_progress")
        webhook = replace(
            before,
            secret=runtime.vault.encrypt("webhook", secret.encode(), webhook_id.encode()),
            previous_secret=before.secret if hours else None,
            previous_until=rotated.until if hours else None,
            updated_at=now,
        )
        await webhooks.save(tx, [webhook])
        entry = make_entry("webhook.secret_rotated", now, webhook, {"graceHours": hours})
        await audit_log.log_act(tx, runtime.vault, caller, entry)
        await caller.keep(tx, rotated)

    await runtime.db.write(write)
    return rotated
