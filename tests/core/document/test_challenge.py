"""Codes: how long one lives, how often one may try, and when the next may be sent (docs/dev/security.md 4)."""

import pytest

from esign.core.document.challenge import (
    APART,
    CODES_A_DAY,
    LIVES,
    TRIES,
    TRIES_IN_ALL,
    WINDOW,
    Challenge,
    ChallengeStanding,
    ChallengeStep,
    Method,
    find_next_code_time,
    find_standing,
    record_sent_code,
    record_wrong_try,
    use_up_code,
)
from esign.core.instant import DAY, HOUR, MINUTE, Instant
from tests.factories import NOW

NEW = Challenge("rcp_1")
MAILED, AGREED = Method.EMAIL_CODE, Method.ACCESS_CODE


def enter_wrong_codes(method: Method, challenge: Challenge, times: int, now: Instant = NOW) -> Challenge:
    for _ in range(times):
        assert find_standing(method, challenge, now).step is ChallengeStep.ENTER
        challenge = record_wrong_try(method, challenge, now)
    return challenge


# ---------- a code by mail ----------


def test_a_code_is_asked_for_before_it_can_be_entered() -> None:
    assert find_standing(MAILED, NEW, NOW) == ChallengeStanding(ChallengeStep.ASK, at=NOW)
    fresh = record_sent_code(NEW, b"mac", NOW)
    assert find_standing(MAILED, fresh, NOW) == ChallengeStanding(
        ChallengeStep.ENTER, TRIES, NOW + APART, NOW + LIVES
    )


@pytest.mark.parametrize(
    ("age", "step"),
    [
        (0, ChallengeStep.ENTER),
        (LIVES - 1, ChallengeStep.ENTER),
        (LIVES, ChallengeStep.EXPIRED),
        (HOUR, ChallengeStep.EXPIRED),
    ],
)
def test_a_code_lives_for_ten_minutes(age: int, step: ChallengeStep) -> None:
    assert LIVES == 10 * MINUTE
    assert find_standing(MAILED, record_sent_code(NEW, b"mac", NOW), NOW + age).step is step


def test_a_code_is_spent_after_five_wrong_tries_and_a_new_one_may_be_tried_again() -> None:
    spent = enter_wrong_codes(MAILED, record_sent_code(NEW, b"mac", NOW), 5)
    assert find_standing(MAILED, spent, NOW) == ChallengeStanding(ChallengeStep.SPENT, at=NOW + APART)
    again = record_sent_code(spent, b"other", NOW + APART)
    assert find_standing(MAILED, again, NOW + APART).left == 5


def test_a_code_is_good_for_once() -> None:
    done = use_up_code(record_sent_code(NEW, b"mac", NOW))
    assert done.code is None and find_standing(MAILED, done, NOW).step is ChallengeStep.ASK


def test_codes_leave_a_minute_apart() -> None:
    fresh = record_sent_code(NEW, b"mac", NOW)
    assert find_next_code_time(NEW, NOW) == NOW
    assert find_next_code_time(fresh, NOW + 1) == NOW + MINUTE
    assert find_next_code_time(fresh, NOW + 5 * MINUTE) <= NOW + 5 * MINUTE


def test_after_ten_codes_the_next_leaves_on_the_next_day() -> None:
    challenge, now = NEW, NOW
    for _ in range(CODES_A_DAY):
        assert find_next_code_time(challenge, now) <= now
        challenge = record_sent_code(challenge, b"mac", now)
        now += 11 * MINUTE
    assert find_next_code_time(challenge, now) == NOW + DAY
    assert find_standing(MAILED, challenge, now) == ChallengeStanding(ChallengeStep.EXPIRED, at=NOW + DAY)
    tomorrow = record_sent_code(challenge, b"mac", NOW + DAY)
    assert tomorrow.sent == 1 and find_standing(MAILED, tomorrow, NOW + DAY).step is ChallengeStep.ENTER


def test_fifty_guesses_a_day_are_all_that_anybody_gets() -> None:
    challenge, now, guesses = NEW, NOW, 0
    while now < NOW + DAY:
        if find_standing(MAILED, challenge, now).step is ChallengeStep.ENTER:
            challenge, guesses = record_wrong_try(MAILED, challenge, now), guesses + 1
        elif find_next_code_time(challenge, now) <= now:
            challenge = record_sent_code(challenge, b"mac", now)
        else:
            now = find_next_code_time(challenge, now)
    assert guesses == 50


# ---------- a code that was agreed upon ----------


def test_five_wrong_tries_in_a_quarter_of_an_hour_and_then_one_waits() -> None:
    first = record_wrong_try(AGREED, NEW, NOW)
    assert find_standing(AGREED, first, NOW).left == 4
    blocked = enter_wrong_codes(AGREED, first, 4, NOW + MINUTE)
    assert find_standing(AGREED, blocked, NOW + MINUTE) == ChallengeStanding(
        ChallengeStep.WAIT, at=NOW + WINDOW
    )
    assert find_standing(AGREED, blocked, NOW + WINDOW - 1).step is ChallengeStep.WAIT
    assert find_standing(AGREED, blocked, NOW + WINDOW) == ChallengeStanding(ChallengeStep.ENTER, 5)
    assert WINDOW == 15 * MINUTE


def test_twenty_wrong_tries_end_it_however_slowly_they_come() -> None:
    challenge, now = NEW, NOW
    for number in range(TRIES_IN_ALL):
        state = find_standing(AGREED, challenge, now)
        assert (state.step, state.left > 0) == (ChallengeStep.ENTER, True), number
        challenge, now = record_wrong_try(AGREED, challenge, now), now + 10 * MINUTE
    assert find_standing(AGREED, challenge, now) == ChallengeStanding(ChallengeStep.BLOCKED)
    assert find_standing(AGREED, challenge, now + 365 * DAY) == ChallengeStanding(ChallengeStep.BLOCKED)


def test_being_right_once_lowers_no_count() -> None:
    challenge = enter_wrong_codes(AGREED, NEW, 4)
    assert find_standing(AGREED, use_up_code(challenge), NOW).left == 1


def test_the_last_tries_of_all_are_counted_down() -> None:
    challenge = Challenge("rcp_1", tries=0, tries_in_all=18)
    assert find_standing(AGREED, challenge, NOW).left == 2
