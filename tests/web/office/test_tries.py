from esign.core.errors import Problem
from esign.web.office import tries
from esign.web.office.tries import ACCOUNT, ADDRESS, ALL, SPAN, Tries
from tests.fakes import FakeClock


def refused(tried: Tries, account: str, ip: str = "192.0.2.1", kind: str = "sign-in") -> int | None:
    """The seconds to wait; None where the try counts."""
    try:
        tried.count(kind, account, ip)
    except Problem as problem:
        return problem.retry_after
    return None


def test_in_any_quarter_of_an_hour_an_account_is_tried_so_often_and_no_more(clock: FakeClock) -> None:
    tried = Tries(clock)
    for _ in range(ACCOUNT):
        assert refused(tried, "ada") is None
        clock.advance(seconds=60)
    assert refused(tried, "ADA", "192.0.2.9") == 300
    assert refused(tried, "bo") is None and refused(tried, "ada", kind="code") is None
    clock.advance(seconds=299)
    assert refused(tried, "ada") == 1
    clock.advance(seconds=1)
    assert refused(tried, "ada") is None
    assert refused(tried, "ada") == 60, "what was refused did not count"


def test_an_address_is_that_of_a_household(clock: FakeClock) -> None:
    tried = Tries(clock)
    for n in range(ADDRESS):
        assert refused(tried, f"a{n}", f"2001:db8::{n:x}") is None
    assert refused(tried, "x", "2001:db8::ffff") == SPAN
    assert refused(tried, "x", "2001:db8:0:1::1") is None


def test_in_all_there_are_so_many(clock: FakeClock) -> None:
    tried = Tries(clock)
    assert [refused(tried, f"a{n}", f"10.0.{n}.1") for n in range(ALL)] == [None] * ALL
    assert refused(tried, "x", "192.0.2.200") == SPAN


def test_who_was_right_starts_again_and_counts_for_nobody_else(clock: FakeClock) -> None:
    tried = Tries(clock)
    for n in range(5 * ADDRESS):
        assert refused(tried, f"a{n % 7}") is None
        tried.forgive("sign-in", f"a{n % 7}", "192.0.2.1")


def test_a_flood_of_names_takes_no_more_memory_than_this(clock: FakeClock) -> None:
    tried = Tries(clock)
    for n in range(tries.REMEMBERED + 1000):
        refused(tried, f"a{n}", f"2001:db8:{n:x}::1")
    assert len(tried._times) <= tries.REMEMBERED + 3
    clock.advance(seconds=SPAN)
    assert refused(tried, "ada") is None
    assert len(tried._times) < 10
