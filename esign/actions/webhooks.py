"""Subscriptions and the delivery of events to them (contract 3.4, 5)."""

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from esign import net
from esign.actions.documents import Owner
from esign.actions.transition import Keep
from esign.core import signature
from esign.core import webhook as rules
from esign.core.document import Mode
from esign.core.errors import Detail, Problem
from esign.core.instant import SECOND, Instant, Millis
from esign.core.webhook import Webhook
from esign.entropy import jitter, new_id, new_webhook_secret
from esign.runtime import Runtime
from esign.store import events, outbox, webhooks
from esign.store.database import Transaction
from esign.store.outbox import Job

GONE = 410
ASKS_TO_WAIT = (429, 503)


async def create(
    runtime: Runtime,
    owner: Owner,
    url: str,
    names: tuple[str, ...],
    description: str | None,
    keep: Keep | None = None,
) -> tuple[Webhook, str]:
    """A subscription and, once, its secret."""
    check_names(names)
    runtime.http.check(url, plain_allowed=owner.mode is Mode.TEST)
    now, secret = runtime.clock.now(), new_webhook_secret()
    webhook_id = new_id("wh", now)
    webhook = Webhook(
        id=webhook_id,
        organisation_id=owner.organisation_id,
        mode=owner.mode,
        url=url,
        events=names,
        enabled=True,
        secret=runtime.vault.encrypt("webhook", secret.encode(), webhook_id.encode()),
        created_at=now,
        updated_at=now,
        description=description,
    )

    async def write(tx: Transaction) -> None:
        limit = runtime.config.limits.webhooks
        if len(await webhooks.find(tx, owner.organisation_id, owner.mode)) >= limit:
            raise Problem("limit_reached", f"The organisation has {limit} webhooks; delete one first.")
        await webhooks.add(tx, webhook)
        if keep is not None:
            await keep(tx, (webhook, secret))

    await runtime.db.write(write)
    return webhook, secret


def check_names(names: tuple[str, ...]) -> None:
    """Raise `unknown_event` naming each name that is none."""
    if "*" in names and names != ("*",):
        raise Problem("unknown_event", details=[Detail("/events", "“*” stands alone.", "enum")])
    unknown = [
        Detail(f"/events/{n}", f"There is no event “{name}”.", "enum")
        for n, name in enumerate(names)
        if name != "*" and name not in rules.ALL_EVENTS
    ]
    if unknown:
        raise Problem("unknown_event", details=unknown)


async def delete(runtime: Runtime, owner: Owner, webhook_id: str, keep: Keep | None = None) -> str:
    """Gone with its pending deliveries."""

    async def write(tx: Transaction) -> None:
        if not await webhooks.delete(tx, owner.organisation_id, owner.mode, webhook_id):
            raise Problem("not_found")
        await outbox.drop_lane(tx, webhook_id, runtime.clock.now(), "the webhook was deleted")
        if keep is not None:
            await keep(tx, webhook_id)

    await runtime.db.write(write)
    return webhook_id


async def deliver(runtime: Runtime, job: Job) -> None:
    """One attempt of one event to one endpoint; the same bytes and the same id at every attempt."""
    names = json.loads(job.body)
    webhook = await webhooks.get(runtime.db, names["webhook"])
    body = await events.body(runtime.db, names["event"])
    if webhook is None or not webhook.enabled or body is None:
        await give_up(runtime, job, "the webhook is disabled or the event was forgotten")
        return
    try:
        answer = await post(runtime, webhook, names["event"], body)
    except (net.Refused, net.Failed) as failure:
        await retry(runtime, job, webhook, str(failure))
        return
    if 200 <= answer.status < 300:
        await succeed(runtime, job, webhook)
    elif answer.status == GONE:
        await disable(runtime, job, webhook)
    else:
        asked = asked_wait(answer.status, answer.headers, runtime.clock.now())
        await retry(runtime, job, webhook, f"status {answer.status}", asked)


async def post(runtime: Runtime, webhook: Webhook, event_id: str, body: bytes) -> net.Answer:
    secret = runtime.vault.decrypt("webhook", webhook.secret, webhook.id.encode()).decode()
    headers = signature.headers((secret,), event_id, runtime.clock.now() // SECOND, body)
    return await runtime.http.post(webhook.url, body, headers, plain_allowed=webhook.mode is Mode.TEST)


def asked_wait(status: int, headers: Mapping[str, str], now: Instant) -> Millis | None:
    """What a receiver asked for in `Retry-After`, when it may (429, 503): seconds or a date (RFC 9110 10.2.3)."""
    text = headers.get("retry-after", "").strip() if status in ASKS_TO_WAIT else ""
    if text.isdecimal():
        return int(text[:10]) * SECOND
    try:
        return round(parsedate_to_datetime(text).timestamp()) * SECOND - now
    except (ValueError, OverflowError):
        return None


async def succeed(runtime: Runtime, job: Job, webhook: Webhook) -> None:
    now = runtime.clock.now()

    async def write(tx: Transaction) -> None:
        await webhooks.succeeded(tx, webhook.id, now)
        await outbox.finish(tx, job, now)

    await runtime.db.write(write)


async def retry(
    runtime: Runtime, job: Job, webhook: Webhook, reason: str, asked: Millis | None = None
) -> None:
    """Plan the next attempt, or give up after the last."""
    now: Instant = runtime.clock.now()
    due_at = rules.next_attempt(job.attempts, now, jitter(), asked)

    async def write(tx: Transaction) -> None:
        await webhooks.failed(tx, webhook.id, now)
        if due_at is None:
            await outbox.finish(tx, job, now, reason)
        else:
            await outbox.postpone(tx, job, due_at, reason)

    await runtime.db.write(write)


async def disable(runtime: Runtime, job: Job, webhook: Webhook) -> None:
    """The endpoint said that it is gone for good (410)."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> None:
        await webhooks.disable(tx, webhook.id, "gone", now)
        await outbox.finish(tx, job, now, "status 410")
        await outbox.drop_lane(tx, webhook.id, now, "the endpoint answered 410 Gone")

    await runtime.db.write(write)


async def give_up(runtime: Runtime, job: Job, reason: str) -> None:
    async def write(tx: Transaction) -> None:
        await outbox.finish(tx, job, runtime.clock.now(), reason)

    await runtime.db.write(write)
