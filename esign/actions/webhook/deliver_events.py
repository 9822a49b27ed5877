"""Delivers an event to a webhook, and applies the consequences of the result (contract 5)."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from esign import net
from esign.actions.base import audit_log
from esign.actions.mail import notices
from esign.actions.mail.notices import News
from esign.actions.webhook.webhooks import make_entry
from esign.core.actor import PROGRAM, Mode, Owner
from esign.core.instant import DAY, SECOND, Instant, Millis
from esign.core.webhook import delivery as rules
from esign.core.webhook import webhook_signature
from esign.core.webhook.delivery import DeliveryAttempt, DeliveryStatus, EventDelivery
from esign.core.webhook.webhook import TEST, Webhook
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.queue import deliveries, webhooks
from esign.system.entropy import draw_jitter

log = logging.getLogger("esign.webhooks")
INTERNAL = "internal_error: this server couldn’t make the request. Its log says why"

HUNG_SECONDS = 90.0  # less than the lease of a delivery

OFF = {"members": ["enabled"], "enabled": False}


async def attempt(runtime: Runtime, webhook: Webhook, event_id: str, body: bytes) -> DeliveryAttempt:
    """Post an event once, count the result for `/metrics`, and return it. It never raises.

    Every attempt sends the same bytes under the same id.
    """
    made = await _post_event(runtime, webhook, event_id, body)
    runtime.measures.deliveries["delivered" if made.has_succeeded else "failed"] += 1
    return made


async def _post_event(runtime: Runtime, webhook: Webhook, event_id: str, body: bytes) -> DeliveryAttempt:
    at, began = runtime.clock.now(), runtime.clock.monotonic()

    def took() -> Millis:
        return round((runtime.clock.monotonic() - began) * 1_000)

    try:
        secrets = tuple(
            runtime.vault.decrypt("webhook", secret, webhook.id.encode()).decode()
            for secret in webhook.list_secrets(at)
        )
        headers = webhook_signature.make_headers(secrets, event_id, at // SECOND, body)
        async with asyncio.timeout(HUNG_SECONDS):  # the client has limits of its own, which are shorter
            answer = await runtime.http.post(
                webhook.url, body, headers, plain_allowed=webhook.mode is Mode.TEST
            )
    except (net.TargetRefused, net.RequestFailed) as failure:
        return DeliveryAttempt(at, took(), error=str(failure))
    except Exception:
        log.exception("the attempt to deliver %s to %s failed", event_id, webhook.id)
        return DeliveryAttempt(at, took(), error=INTERNAL)
    made = DeliveryAttempt(
        at,
        took(),
        answer.status,
        None if 200 <= answer.status < 300 else f"status {answer.status}",
        answer.body,
        read_retry_after(answer.status, answer.headers, runtime.clock.now()),
    )
    return made


def read_retry_after(status: int, headers: Mapping[str, str], now: Instant) -> Millis | None:
    """Return the milliseconds that the receiver asks to wait in `Retry-After`, or None.

    The header counts only for 429 and 503. It holds seconds or a date (RFC 9110 10.2.3). A date without a zone
    is in UTC.
    """
    text = headers.get("retry-after", "").strip() if status in rules.ASKS_TO_WAIT else ""
    if text.isdecimal():
        return int(text[:10]) * SECOND
    try:
        date = parsedate_to_datetime(text)
        return round((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()) * SECOND - now
    except (ValueError, OverflowError):
        return None


async def note_attempts(
    runtime: Runtime, tx: Transaction, ended: Sequence[tuple[int, DeliveryAttempt]], *, by_hand: bool = False
) -> None:
    """Record the results of attempts, by the numbers of their deliveries, and the consequences for the webhooks.

    A delivery that was deleted meanwhile is skipped.
    """
    now = runtime.clock.now()
    found = await deliveries.get_many(tx, [number for number, _ in ended])
    hooks = await webhooks.get_many(tx, list({delivery.webhook_id for delivery in found.values()}))
    changed, noted, told = dict(hooks), [], []
    for number, made in ended:
        if number not in found:
            continue
        before = found[number]
        after = (
            rules.record_manual_attempt(before, made, now)
            if by_hand
            else rules.record_attempt(before, made, now, draw_jitter())
        )
        found[number] = after
        noted.append((after, made))
        if before.webhook_id in hooks:
            webhook = changed[before.webhook_id]
            changed[webhook.id], found_out = judge_attempt(webhook, before, after, made, now)
            told += [(webhook, news) for news in found_out]
    await deliveries.save(tx, noted)
    await webhooks.save(tx, [webhook for webhook in changed.values() if webhook != hooks[webhook.id]])
    for webhook in changed.values():
        if hooks[webhook.id].enabled and not webhook.enabled:
            await deliveries.give_up(tx, webhook.id, now, "the endpoint answered 410 Gone")
            entry = make_entry("webhook.changed", now, webhook, OFF)
            await audit_log.add_entry(tx, runtime.vault, webhook.organisation_id, PROGRAM, entry)
    for webhook, news in told:
        await notify_administrators(runtime, tx, webhook, news)


def judge_attempt(
    webhook: Webhook, before: EventDelivery, after: EventDelivery, made: DeliveryAttempt, now: Instant
) -> tuple[Webhook, Sequence[News]]:
    """Return the webhook after one attempt, and the notices to send.

    Only attempts of the schedule count as failures. Tests and manual attempts do not. An answer of 410 always
    switches an enabled webhook off.
    """
    if made.has_succeeded:
        return rules.record_success(webhook, now), ()
    if not webhook.enabled:
        return webhook, ()
    if made.status_code == rules.GONE:
        return rules.switch_off(webhook, "gone", now), [News("webhook_gone", str(now))]
    if before.tries == after.tries or before.event_type == TEST:
        return webhook, ()
    exhausted = after.status is DeliveryStatus.FAILED
    webhook = rules.record_failure(webhook, exhausted, now)
    if not exhausted:
        return webhook, ()
    since = webhook.failing_since or now
    facts: dict[str, str | int] = {
        "event": after.event_type,
        "answer": after.last_error or "",
        "since_at": since,
    }
    return webhook, [News("webhook_exhausted", str(now // DAY), facts)]


async def end_failing(runtime: Runtime, webhook_id: str) -> None:
    """Warn of, or switch off, a webhook that has accepted no event for days."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> None:
        webhook = await webhooks.get(tx, webhook_id)
        due = rules.find_due_step(webhook, runtime.clock.read_settled_time()) if webhook is not None else None
        if webhook is None or due is None:
            return
        since = webhook.failing_since or now
        if due == "warn":
            webhook = rules.record_warning(webhook, now)
            facts = {"since_at": since, "until_at": rules.find_end_time(webhook, now)}
            await notify_administrators(runtime, tx, webhook, News("webhook_warning", str(since), facts))
        else:
            webhook = rules.switch_off(webhook, "failing", now)
            await deliveries.give_up(tx, webhook.id, now, "the webhook was switched off")
            await notify_administrators(
                runtime, tx, webhook, News("webhook_failing", str(since), {"since_at": since})
            )
            entry = make_entry("webhook.changed", now, webhook, OFF)
            await audit_log.add_entry(tx, runtime.vault, webhook.organisation_id, PROGRAM, entry)
        await webhooks.save(tx, [webhook])

    await runtime.db.write(write)


async def notify_administrators(runtime: Runtime, tx: Transaction, webhook: Webhook, news: News) -> None:
    """Queue a notice to the administrators of the webhook."""
    facts: dict[str, str | int] = {
        "webhook": webhook.url,
        "host": urlsplit(webhook.url).hostname or "",
        "days": runtime.config.limits.event_days,
        **news.facts,
    }
    owner = Owner(webhook.organisation_id, webhook.mode)
    told = News(news.letter, f"{webhook.id}:{news.key}", facts)
    await notices.queue_for_administrators(runtime, tx, owner, told)
