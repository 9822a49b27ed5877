from dataclasses import replace
from typing import Any

import pytest

from esign.core.instant import DAY, HOUR, MINUTE, SECOND
from esign.core.webhook import delivery as rules
from esign.core.webhook.delivery import DeliveryAttempt, DeliveryStatus, EventDelivery
from tests.factories import NOW, a_webhook

LATER = NOW + MINUTE
PENDING, SUCCEEDED, FAILED = DeliveryStatus


def a_delivery(status: DeliveryStatus = PENDING, **changes: Any) -> EventDelivery:
    """One that waits for its first attempt, or has ended."""
    made = EventDelivery(1, "dlv_1", "wh_1", "evt_1", "document.sent", status, NOW, NOW)
    if status is not PENDING:
        made = replace(made, finished_at=NOW)
    return replace(made, **changes)


def make_attempt(status: int, **more: Any) -> DeliveryAttempt:
    error = None if 200 <= status < 300 else f"status {status}"
    return DeliveryAttempt(LATER, 5, status, error, **more)


UNANSWERED = DeliveryAttempt(LATER, 15_000, error="timeout: no answer")


# ---------- the schedule ----------


def test_the_schedule_is_that_of_the_contract() -> None:
    waits = [rules.find_next_attempt(failures, 0, 1.0) for failures in range(12)]
    assert waits == [
        *(
            0,
            5 * SECOND,
            5 * MINUTE,
            30 * MINUTE,
            2 * HOUR,
            5 * HOUR,
            10 * HOUR,
            14 * HOUR,
            20 * HOUR,
            24 * HOUR,
        ),
        *(None, None),
    ]
    assert sum(wait for wait in waits if wait) == pytest.approx(75.6 * HOUR, rel=0.001)


@pytest.mark.parametrize("failures", range(1, 10))
@pytest.mark.parametrize("jitter", [0.9, 1.0, 1.1])
def test_each_delay_is_spread_by_its_jitter_from_the_failure_on(failures: int, jitter: float) -> None:
    due = rules.find_next_attempt(failures, NOW, jitter)
    assert due == NOW + round(rules.DELAYS[failures] * jitter)


@pytest.mark.parametrize(
    ("failures", "asked", "wait"),
    [
        (1, 60 * SECOND, 60 * SECOND),
        (1, 1 * SECOND, 5 * SECOND),
        (3, 0, 30 * MINUTE),
        (2, 7 * DAY, 24 * HOUR),
        (9, 25 * HOUR, 24 * HOUR),
        (10, 60 * SECOND, None),
    ],
)
def test_a_receiver_may_ask_for_more_time_up_to_a_day(failures: int, asked: int, wait: int | None) -> None:
    due = rules.find_next_attempt(failures, NOW, 1.0, asked)
    assert due == (None if wait is None else NOW + wait)


# ---------- one attempt ----------


@pytest.mark.parametrize("status", DeliveryStatus)
@pytest.mark.parametrize("answer", [200, 204, 299])
def test_an_answer_of_2xx_ends_a_delivery_whatever_its_status(status: DeliveryStatus, answer: int) -> None:
    before = a_delivery(status, boot="run", last_error="status 500", attempt_count=3)
    for after in (
        rules.record_attempt(before, make_attempt(answer), LATER, 1.0),
        rules.record_manual_attempt(before, make_attempt(answer), LATER),
    ):
        assert (after.status, after.finished_at, after.boot) == (SUCCEEDED, LATER, None)
        assert (after.attempt_count, after.last_status_code, after.last_error) == (4, answer, None)
        assert after.next_attempt_at is None


@pytest.mark.parametrize("attempt", [make_attempt(500), make_attempt(302), make_attempt(199), UNANSWERED])
@pytest.mark.parametrize("tries", range(10))
def test_any_other_answer_is_tried_again_until_the_tenth(attempt: DeliveryAttempt, tries: int) -> None:
    after = rules.record_attempt(a_delivery(tries=tries, boot="run"), attempt, LATER, 1.1)
    assert (after.tries, after.attempt_count, after.boot) == (tries + 1, 1, None)
    assert (after.last_status_code, after.last_error) == (attempt.status_code, attempt.error)
    if tries == 9:
        assert (after.status, after.finished_at, after.next_attempt_at) == (FAILED, LATER, None)
    else:
        due = LATER + round(rules.DELAYS[tries + 1] * 1.1)
        assert (after.status, after.finished_at, after.next_attempt_at) == (PENDING, None, due)


def test_a_receiver_that_asks_for_time_gets_it() -> None:
    after = rules.record_attempt(a_delivery(), make_attempt(429, asked=HOUR), LATER, 1.0)
    assert after.next_attempt_at == LATER + HOUR


def test_410_ends_a_delivery_at_once() -> None:
    after = rules.record_attempt(a_delivery(), make_attempt(410), LATER, 1.0)
    assert (after.status, after.finished_at, after.last_status_code) == (FAILED, LATER, 410)


@pytest.mark.parametrize("status", DeliveryStatus)
def test_a_failure_by_hand_changes_neither_status_nor_schedule(status: DeliveryStatus) -> None:
    before = a_delivery(status, tries=4, attempt_count=5, due_at=NOW + HOUR)
    after = rules.record_manual_attempt(before, UNANSWERED, LATER)
    assert after == replace(before, attempt_count=6, last_status_code=None, last_error=UNANSWERED.error)


@pytest.mark.parametrize("status", [SUCCEEDED, FAILED])
def test_what_ended_while_an_attempt_was_under_way_is_not_started_again_by_its_failure(
    status: DeliveryStatus,
) -> None:
    after = rules.record_attempt(a_delivery(status), make_attempt(500), LATER, 1.0)
    assert (after.status, after.finished_at, after.tries, after.attempt_count) == (status, NOW, 0, 1)


def test_while_an_attempt_is_under_way_no_next_one_is_planned() -> None:
    assert a_delivery(boot="run").next_attempt_at is None
    assert a_delivery().next_attempt_at == NOW


# ---------- the webhook ----------


def test_failing_is_counted_from_the_first_failure_on_and_forgiven_by_a_success() -> None:
    hook = a_webhook()
    for n, exhausted in enumerate((False, True, False)):
        hook = rules.record_failure(hook, exhausted, NOW + n)
    assert (hook.failing_since, hook.failures, hook.exhausted) == (NOW, 3, 1)
    hook = rules.record_success(rules.record_warning(hook, LATER), LATER)
    assert hook == a_webhook(id=hook.id, last_success_at=LATER)


def test_whatever_switched_a_webhook_off_first_stays_the_reason() -> None:
    gone = rules.switch_off(a_webhook(), "gone", NOW + 1)
    assert (gone.enabled, gone.disabled_at, gone.disabled_reason) == (False, NOW + 1, "gone")
    assert rules.switch_off(gone, "failing", NOW + 2) == gone


def test_switching_on_again_clears_all_that_was_held_against_it() -> None:
    hook = rules.switch_off(
        rules.record_warning(rules.record_failure(a_webhook(), True, NOW), NOW), "failing", NOW
    )
    assert rules.switch_on(hook) == replace(a_webhook(id=hook.id), updated_at=NOW)


FAILING: dict[str, Any] = {"failing_since": NOW, "failures": 10, "exhausted": 1}


@pytest.mark.parametrize(
    ("changes", "after", "verdict"),
    [
        ({}, 4 * DAY - 1, None),
        ({}, 4 * DAY, "warn"),
        ({}, 9 * DAY, "warn"),
        ({"failures": 9}, 9 * DAY, None),
        ({"exhausted": 0}, 9 * DAY, None),
        ({"failing_since": None}, 9 * DAY, None),
        ({"enabled": False}, 9 * DAY, None),
        ({"warned_at": NOW + 4 * DAY}, 5 * DAY - 1, None),
        ({"warned_at": NOW + 4 * DAY}, 5 * DAY, "end"),
        ({"warned_at": NOW + 9 * DAY}, 10 * DAY - 1, None),
        ({"warned_at": NOW + 9 * DAY}, 10 * DAY, "end"),
    ],
)
def test_a_webhook_that_takes_nothing_is_warned_of_and_a_day_later_switched_off(
    changes: dict[str, Any], after: int, verdict: str | None
) -> None:
    hook = a_webhook(**{**FAILING, **changes})
    assert rules.find_due_step(hook, NOW + after) == verdict


def test_the_warning_names_the_time_at_which_it_ends() -> None:
    assert rules.find_end_time(a_webhook(**FAILING), NOW + 4 * DAY) == NOW + 5 * DAY
    assert rules.find_end_time(a_webhook(**FAILING), NOW + 9 * DAY) == NOW + 10 * DAY
    assert rules.find_end_time(a_webhook(**FAILING, warned_at=NOW + 4 * DAY), NOW + 9 * DAY) == NOW + 5 * DAY
