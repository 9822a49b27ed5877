import pytest

from esign.core.instant import DAY, Instant
from esign.core.people.api_key import ApiKey
from esign.core.people.key_expiry import UnusedKeyStep, find_expiry_notice, find_unused_step
from tests.factories import NOW, an_api_key

YEAR = 365 * DAY


def a_key(days: int, notice: int | None = None) -> ApiKey:
    """One that lives so long from now on."""
    return an_api_key(created_at=NOW, expires_at=NOW + days * DAY, expiry_notice=notice)


@pytest.mark.parametrize(
    ("left", "given", "due"),
    [
        (14 * DAY + 1, None, None),
        (14 * DAY, None, 14),
        (14 * DAY, 14, None),
        (3 * DAY + 1, None, 14),
        (3 * DAY + 1, 14, None),
        (3 * DAY, 14, 3),
        (3 * DAY, None, 3),
        (1, 3, None),
        (1, None, 3),
        (0, None, None),
        (-1, 14, None),
    ],
)
def test_each_notice_is_given_once_and_late_only_the_one_that_fits(
    left: int, given: int | None, due: int | None
) -> None:
    key = a_key(90, given)
    assert key.expires_at is not None
    assert find_expiry_notice(key, key.expires_at - left) == due


@pytest.mark.parametrize(("days", "dues"), [(15, [14, 3]), (14, [3]), (10, [3]), (3, []), (1, [])])
def test_a_short_life_begins_with_no_notice(days: int, dues: list[int]) -> None:
    key, seen = a_key(days), []
    for hour in range(24 * days + 2):
        due = find_expiry_notice(key, NOW + hour * DAY // 24)
        if due is not None:
            seen.append(due)
            key = a_key(days, due)
    assert seen == dues


def test_a_key_without_expiry_is_never_spoken_of() -> None:
    assert find_expiry_notice(an_api_key(), NOW + 5000 * DAY) is None


def make_unused_key(
    given: int = 0, noticed_at: Instant | None = None, used_at: Instant | None = NOW
) -> ApiKey:
    return an_api_key(
        created_at=NOW - DAY, last_used_at=used_at, unused_notices=given, unused_noticed_at=noticed_at
    )


def test_a_key_that_is_never_used_again_gets_two_notices_and_ends_after_a_year() -> None:
    end = NOW + YEAR
    assert find_unused_step(make_unused_key(), end - 14 * DAY - 1) is None
    assert find_unused_step(make_unused_key(), end - 14 * DAY) == UnusedKeyStep(1, end)
    first = make_unused_key(1, end - 14 * DAY)
    assert find_unused_step(first, end - 3 * DAY - 1) is None
    assert find_unused_step(first, end - 3 * DAY) == UnusedKeyStep(2, end)
    second = make_unused_key(2, end - 3 * DAY)
    assert find_unused_step(second, end - 1) is None
    assert find_unused_step(second, end) == UnusedKeyStep(None, end)


def test_late_notices_move_the_end_so_that_both_come_in_time() -> None:
    late = NOW + 2 * YEAR
    assert find_unused_step(make_unused_key(), late) == UnusedKeyStep(1, late + 14 * DAY)
    first = make_unused_key(1, late)
    assert find_unused_step(first, late + 11 * DAY - 1) is None
    assert find_unused_step(first, late + 11 * DAY) == UnusedKeyStep(2, late + 14 * DAY)
    later = late + 50 * DAY
    assert find_unused_step(first, later) == UnusedKeyStep(2, later + 3 * DAY)
    second = make_unused_key(2, later)
    assert find_unused_step(second, later + 3 * DAY - 1) is None
    assert find_unused_step(second, later + 3 * DAY) == UnusedKeyStep(None, later + 3 * DAY)


def test_a_use_begins_it_all_anew() -> None:
    used = NOW + YEAR
    assert find_unused_step(make_unused_key(2, NOW + YEAR - DAY, used_at=used), used + 300 * DAY) is None
    assert find_unused_step(
        make_unused_key(2, NOW + YEAR - DAY, used_at=used), used + YEAR - 14 * DAY
    ) == UnusedKeyStep(1, used + YEAR)


def test_a_key_that_was_never_used_counts_from_its_making() -> None:
    assert find_unused_step(make_unused_key(used_at=None), NOW - DAY + YEAR - 14 * DAY) == UnusedKeyStep(
        1, NOW - DAY + YEAR
    )
