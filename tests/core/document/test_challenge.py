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
    Method,
    Standing,
    Step,
    next_code_at,
    passed,
    sent,
    standing,
    tried,
)
from esign.core.instant import DAY, HOUR, MINUTE, Instant
from tests.factories import NOW

NEW = Challenge("rcp_1")
MAILED, AGREED = Method.EMAIL_CODE, Method.ACCESS_CODE


def wrong(method: Method, challenge: Challenge, times: int, now: Instant = NOW) -> Challenge:
    for _ in range(times):
        assert standing(method, challenge, now).step is Step.ENTER
        challenge = tried(method, challenge, now)
    return challenge


# ---------- a code by mail ----------


def test_a_code_is_asked_for_before_it_can_be_entered() -> None:
    assert standing(MAILED, NEW, NOW) == Standing(Step.ASK, at=NOW)
    fresh = sent(NEW, b"mac", NOW)
    assert standing(MAILED, fresh, NOW) == Standing(Step.ENTER, TRIES, NOW + APART, NOW + LIVES)


@pytest.mark.parametrize(
    ("age", "step"), [(0, Step.ENTER), (LIVES - 1, Step.ENTER), (LIVES, Step.EXPIRED), (HOUR, Step.EXPIRED)]
)
def test_a_code_lives_for_ten_minutes(age: int, step: Step) -> None:
    assert LIVES == 10 * MINUTE
    assert standing(MAILED, sent(NEW, b"mac", NOW), NOW + age).step is step


def test_a_code_is_spent_after_five_wrong_tries_and_a_new_one_may_be_tried_again() -> None:
    spent = wrong(MAILED, sent(NEW, b"mac", NOW), 5)
    assert standing(MAILED, spent, NOW) == Standing(Step.SPENT, at=NOW + APART)
    again = sent(spent, b"other", NOW + APART)
    assert standing(MAILED, again, NOW + APART).left == 5


def test_a_code_is_good_for_once() -> None:
    done = passed(sent(NEW, b"mac", NOW))
    assert done.code is None and standing(MAILED, done, NOW).step is Step.ASK


def test_codes_leave_a_minute_apart() -> None:
    fresh = sent(NEW, b"mac", NOW)
    assert next_code_at(NEW, NOW) == NOW
    assert next_code_at(fresh, NOW + 1) == NOW + MINUTE
    assert next_code_at(fresh, NOW + 5 * MINUTE) <= NOW + 5 * MINUTE


def test_after_ten_codes_the_next_leaves_on_the_next_day() -> None:
    challenge, now = NEW, NOW
    for _ in range(CODES_A_DAY):
        assert next_code_at(challenge, now) <= now
        challenge = sent(challenge, b"mac", now)
        now += 11 * MINUTE
    assert next_code_at(challenge, now) == NOW + DAY
    assert standing(MAILED, challenge, now) == Standing(Step.EXPIRED, at=NOW + DAY)
    tomorrow = sent(challenge, b"mac", NOW + DAY)
    assert tomorrow.sent == 1 and standing(MAILED, tomorrow, NOW + DAY).step is Step.ENTER


def test_fifty_guesses_a_day_are_all_that_anybody_gets() -> None:
    challenge, now, guesses = NEW, NOW, 0
    while now < NOW + DAY:
        if standing(MAILED, challenge, now).step is Step.ENTER:
            challenge, guesses = tried(MAILED, challenge, now), guesses + 1
        elif next_code_at(challenge, now) <= now:
            challenge = sent(challenge, b"mac", now)
        else:
            now = next_code_at(challenge, now)
    assert guesses == 50


# ---------- a code that was agreed upon ----------


def test_five_wrong_tries_in_a_quarter_of_an_hour_and_then_one_waits() -> None:
    first = tried(AGREED, NEW, NOW)
    assert standing(AGREED, first, NOW).left == 4
    blocked = wrong(AGREED, first, 4, NOW + MINUTE)
    assert standing(AGREED, blocked, NOW + MINUTE) == Standing(Step.WAIT, at=NOW + WINDOW)
    assert standing(AGREED, blocked, NOW + WINDOW - 1).step is Step.WAIT
    assert standing(AGREED, blocked, NOW + WINDOW) == Standing(Step.ENTER, 5)
    assert WINDOW == 15 * MINUTE


def test_twenty_wrong_tries_end_it_however_slowly_they_come() -> None:
    challenge, now = NEW, NOW
    for number in range(TRIES_IN_ALL):
        state = standing(AGREED, challenge, now)
        assert (state.step, state.left > 0) == (Step.ENTER, True), number
        challenge, now = tried(AGREED, challenge, now), now + 10 * MINUTE
    assert standing(AGREED, challenge, now) == Standing(Step.BLOCKED)
    assert standing(AGREED, challenge, now + 365 * DAY) == Standing(Step.BLOCKED)


def test_being_right_once_lowers_no_count() -> None:
    challenge = wrong(AGREED, NEW, 4)
    assert standing(AGREED, passed(challenge), NOW).left == 1


def test_the_last_tries_of_all_are_counted_down() -> None:
    challenge = Challenge("rcp_1", tries=0, tries_in_all=18)
    assert standing(AGREED, challenge, NOW).left == 2
