"""When an event is delivered again, and when a webhook that accepts nothing is switched off (contract 5)."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from esign.core.instant import DAY, HOUR, MINUTE, SECOND, Instant, Millis
from esign.core.webhook.webhook import Webhook

# The delay after the previous failure, by attempt: about 75.6 hours in all.
DELAYS: tuple[Millis, ...] = (
    0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR,
)  # fmt: skip
LONGEST_WAIT = 24 * HOUR
GONE = 410
ASKS_TO_WAIT = (429, 503)

OFF_AFTER = 5 * DAY
WARNED_BEFORE = 24 * HOUR
FAILURES = 10
SHOWN = 1_024  # bytes of an answer


class DeliveryStatus(StrEnum):
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class EventDelivery:
    """One event for one webhook; `number` orders deliveries by when they were made.

    `tries` counts the attempts of the schedule, `attempt_count` the manual ones as well. `due_at` is when the
    next attempt is due or, while one is under way, when that counts as lost; `boot` then names the run of the
    program that makes it.
    """

    number: int
    id: str
    webhook_id: str
    event_id: str
    event_type: str
    status: DeliveryStatus
    created_at: Instant
    due_at: Instant
    tries: int = 0
    attempt_count: int = 0
    last_status_code: int | None = None
    last_error: str | None = None
    finished_at: Instant | None = None
    boot: str | None = None

    @property
    def next_attempt_at(self) -> Instant | None:
        """Return when the next attempt is due; None after the last, and while an attempt is under way."""
        return self.due_at if self.status is DeliveryStatus.PENDING and self.boot is None else None


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """The result of one request: an answer with the beginning of its body, or an error.

    `asked` is the wait that the receiver asked for by Retry-After.
    """

    at: Instant
    duration_ms: Millis
    status_code: int | None = None
    error: str | None = None
    response_body: bytes = b""
    asked: Millis | None = None

    @property
    def has_succeeded(self) -> bool:
        """Return whether the receiver answered with a status code of 200 to 299."""
        return self.status_code is not None and 200 <= self.status_code < 300

    @property
    def response_text(self) -> str:
        """Return the first KiB of the answer as text."""
        return self.response_body.decode("utf-8", "replace").encode()[:SHOWN].decode("utf-8", "ignore")


def record_attempt(
    delivery: EventDelivery, attempt: DeliveryAttempt, now: Instant, jitter: float
) -> EventDelivery:
    """Return the delivery after an attempt of its schedule.

    A delivery that was given up meanwhile can still succeed, but is not tried again.
    """
    if attempt.has_succeeded or delivery.status is not DeliveryStatus.PENDING:
        return record_manual_attempt(delivery, attempt, now)
    tries = delivery.tries + 1
    due_at = None if attempt.status_code == GONE else find_next_attempt(tries, now, jitter, attempt.asked)
    noted = replace(_count_attempt(delivery, attempt), tries=tries, boot=None)
    if due_at is None:
        return replace(noted, status=DeliveryStatus.FAILED, finished_at=now)
    return replace(noted, due_at=due_at)


def record_manual_attempt(delivery: EventDelivery, attempt: DeliveryAttempt, now: Instant) -> EventDelivery:
    """Return the delivery after a manual attempt: success ends it, failure changes neither status nor schedule."""
    noted = _count_attempt(delivery, attempt)
    if not attempt.has_succeeded:
        return noted
    return replace(noted, status=DeliveryStatus.SUCCEEDED, finished_at=now, boot=None)


def _count_attempt(delivery: EventDelivery, attempt: DeliveryAttempt) -> EventDelivery:
    """Return the delivery with the attempt counted and its result."""
    return replace(
        delivery,
        attempt_count=delivery.attempt_count + 1,
        last_status_code=attempt.status_code,
        last_error=attempt.error,
    )


def find_next_attempt(
    attempts: int, now: Instant, jitter: float, retry_after: Millis | None = None
) -> Instant | None:
    """Return when to try again after `attempts` failures, or None when the schedule is used up.

    `jitter` is 0.9 to 1.1. `retry_after` is the wait that the receiver asked for, capped at 24 hours.
    """
    if attempts >= len(DELAYS):
        return None
    wait = round(DELAYS[attempts] * jitter)
    if retry_after is not None:
        wait = max(wait, min(retry_after, LONGEST_WAIT))
    return now + wait


def record_success(webhook: Webhook, now: Instant) -> Webhook:
    """Return the webhook after a success, which clears its failures."""
    return replace(_clear_failures(webhook), last_success_at=now)


def record_failure(webhook: Webhook, exhausted: bool, now: Instant) -> Webhook:
    """Return the webhook after one more failed attempt of a schedule; `exhausted` says that it was the last one."""
    return replace(
        webhook,
        failing_since=now if webhook.failing_since is None else webhook.failing_since,
        failures=webhook.failures + 1,
        exhausted=webhook.exhausted + exhausted,
    )


def record_warning(webhook: Webhook, now: Instant) -> Webhook:
    """Return the webhook with the time at which its administrators were warned."""
    return replace(webhook, warned_at=now)


def switch_on(webhook: Webhook) -> Webhook:
    """Return the webhook as enabled, with its failures cleared."""
    return replace(_clear_failures(webhook), enabled=True, disabled_at=None, disabled_reason=None)


def switch_off(webhook: Webhook, reason: str, now: Instant) -> Webhook:
    """Return the webhook as disabled; `reason` is `manual`, `failing` or `gone`.

    A webhook that is disabled already keeps its first reason.
    """
    if not webhook.enabled:
        return webhook
    return replace(webhook, enabled=False, disabled_at=now, disabled_reason=reason, updated_at=now)


def _clear_failures(webhook: Webhook) -> Webhook:
    """Return the webhook with its failures cleared."""
    return replace(webhook, failing_since=None, failures=0, exhausted=0, warned_at=None)


def find_end_time(webhook: Webhook, now: Instant) -> Instant:
    """Return when a failing webhook is switched off: after 5 days, and 24 hours after the warning."""
    warned_at = now if webhook.warned_at is None else webhook.warned_at
    return max((webhook.failing_since or now) + OFF_AFTER, warned_at + WARNED_BEFORE)


def find_due_step(webhook: Webhook, now: Instant) -> Literal["warn", "end"] | None:
    """Return what is due for a webhook that has failed for days: a warning, its end, or None."""
    if not webhook.enabled or webhook.failing_since is None:
        return None
    if webhook.failures < FAILURES or not webhook.exhausted:
        return None
    if webhook.warned_at is None:
        return "warn" if now >= webhook.failing_since + OFF_AFTER - WARNED_BEFORE else None
    return "end" if now >= find_end_time(webhook, now) else None
