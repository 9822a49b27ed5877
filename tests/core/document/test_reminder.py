import pytest

from esign.core.document.reminder import find_next_due
from esign.core.instant import DAY, HOUR, Instant
from esign.core.people.account import Reminders
from tests.factories import NOW

NEVER_BEFORE_EXPIRY = Reminders(before_expiry_hours=0)


def plan(reminders: Reminders, days: float, after: Instant = NOW) -> list[float]:
    """Days after the invitation of every reminder, when each one is sent on time."""
    expires_at, due = NOW + round(days * DAY), after
    found: list[float] = []
    while (following := find_next_due(reminders, NOW, expires_at, due)) is not None:
        assert following > due
        due = following
        found.append((due - NOW) / DAY)
    return found


@pytest.mark.parametrize(
    ("reminders", "days", "expected"),
    [
        (Reminders(), 30, [3, 7, 11, 15, 19, 29]),
        (NEVER_BEFORE_EXPIRY, 30, [3, 7, 11, 15, 19]),
        (Reminders(max=0), 30, [29]),
        (Reminders(max=1), 30, [3, 29]),
        (Reminders(first_after_days=1, every_days=1, max=3), 30, [1, 2, 3, 29]),
        (Reminders(first_after_days=10, every_days=10, max=10), 30, [10, 20, 29]),
        (Reminders(), 12, [3, 7, 11]),
        (Reminders(), 10, [3, 7, 9]),
        (Reminders(before_expiry_hours=48), 30, [3, 7, 11, 15, 19, 28]),
        (Reminders(enabled=False), 30, []),
    ],
)
def test_reminders_come_first_then_regularly_at_most_so_often_and_once_before_expiry(
    reminders: Reminders, days: float, expected: list[float]
) -> None:
    assert plan(reminders, days) == expected


@pytest.mark.parametrize(("days", "expected"), [(1, []), (2, []), (2.5, [1.5])])
def test_the_reminder_before_expiry_is_left_out_within_a_day_of_the_invitation(
    days: float, expected: list[float]
) -> None:
    assert plan(Reminders(), days) == expected


def test_nobody_is_reminded_at_or_after_the_expiry() -> None:
    assert plan(NEVER_BEFORE_EXPIRY, 7) == [3]
    assert plan(NEVER_BEFORE_EXPIRY, 7 + 1 / DAY) == [3, 7]


@pytest.mark.parametrize(
    ("stopped_until", "then"),
    [
        (2.9, 3),
        (3, 7),
        (3.1, 7),
        (12, 15),
        (18.9, 19),
        (18.99, 29),
        (20, 29),
        (28.9, 29),
        (29, None),
        (40, None),
    ],
)
def test_what_was_missed_while_the_program_was_stopped_is_skipped(
    stopped_until: float, then: float | None
) -> None:
    due = find_next_due(Reminders(), NOW, NOW + 30 * DAY, NOW + round(stopped_until * DAY))
    assert due == (None if then is None else NOW + then * DAY)


def test_the_plan_counts_from_the_own_invitation_and_not_from_the_sending() -> None:
    invited = NOW + 10 * DAY + HOUR
    assert find_next_due(Reminders(), invited, NOW + 30 * DAY, invited) == invited + 3 * DAY


@pytest.mark.parametrize(("hours_before", "expected"), [(24.5, [3, 7]), (25, [3, 7, 7 + 1 / 24])])
def test_two_reminders_are_at_least_an_hour_apart(hours_before: float, expected: list[float]) -> None:
    days = 7 + hours_before / 24
    assert plan(Reminders(), days) == pytest.approx(expected)
