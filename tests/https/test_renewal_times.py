"""When a certificate is renewed, and how long a failed order waits."""

import pytest

from esign.core.instant import DAY, HOUR, MINUTE, SECOND, Millis
from esign.https.renewal_times import (
    PAUSES,
    find_renewal_time,
    is_due,
    plan_first_order,
    plan_next_order,
)
from tests.factories import NOW


@pytest.mark.parametrize(
    ("days", "before_end"), [(365, 30 * DAY), (90, 30 * DAY), (45, 15 * DAY), (6, 2 * DAY)]
)
def test_a_certificate_is_renewed_30_days_before_its_end_or_at_a_third_of_its_life(
    days: int, before_end: Millis
) -> None:
    ends = NOW + days * DAY - SECOND
    assert find_renewal_time(NOW, ends) == ends - before_end


def test_each_failure_waits_longer_up_to_six_hours() -> None:
    pauses = [plan_next_order(NOW, failures, 0) - NOW for failures in range(1, 9)]
    assert pauses == sorted(pauses) and pauses[0] == MINUTE and pauses[-1] == 6 * HOUR
    assert sum(pauses[:2]) < HOUR < sum(pauses[:3]), "the limit is 5 failed proofs an hour"


@pytest.mark.parametrize(("wish", "pause"), [(0, MINUTE), (7200, 2 * HOUR), (30 * 86_400, DAY)])
def test_the_wish_of_the_authority_counts_up_to_a_day(wish: int, pause: Millis) -> None:
    assert plan_next_order(NOW, 1, wish) == NOW + pause


def test_a_start_orders_sooner_but_not_at_each_start_of_a_loop() -> None:
    planned = plan_next_order(NOW, len(PAUSES), 0)
    assert plan_first_order(NOW, planned) == NOW + 15 * MINUTE
    assert plan_first_order(NOW, NOW + MINUTE) == NOW + MINUTE


def test_what_a_wrong_clock_planned_is_due_at_once() -> None:
    assert is_due(NOW, NOW + 2 * DAY) and is_due(NOW, NOW) and not is_due(NOW, NOW + HOUR)
