import asyncio
from contextlib import AsyncExitStack

import pytest

from esign.core.errors import Problem
from esign.web.http.ratelimit import REMEMBERED, RateWindows, Uploads
from tests.web.world import START, StoppedClock


def test_a_window_ends_with_the_minute_of_the_clock() -> None:
    clock = StoppedClock()
    windows = RateWindows(clock, {"default": 2, "off": 0})
    clock.at = 59.5
    standings = [windows.count("default", "key") for _ in range(3)]
    assert [s and (s.remaining, s.is_exceeded, s.reset) for s in standings] == [
        (1, False, 1),
        (0, False, 1),
        (0, True, 1),
    ]
    clock.at = 60
    fresh = windows.count("default", "key")
    assert fresh is not None and fresh.remaining == 1 and fresh.reset_at == START // 1000 + 120
    assert windows.count("off", "key") is None
    assert windows.count("unheard of", "key") is None


def test_callers_do_not_share_and_policies_do_not_share() -> None:
    windows = RateWindows(StoppedClock(), {"a": 1, "b": 1})
    counted = [windows.count("a", "x"), windows.count("a", "y"), windows.count("b", "x")]
    assert [s and s.is_exceeded for s in counted] == [False, False, False]


def test_memory_is_bounded_whoever_asks() -> None:
    windows = RateWindows(StoppedClock(), {"default": 3})
    for n in range(REMEMBERED + 10):
        windows.count("default", str(n))
    assert len(windows._counts) <= REMEMBERED
    for _ in range(3):
        late = windows.count("default", "somebody new")
        assert late is not None and not late.is_exceeded, "nobody pays for what others asked"


@pytest.mark.slow
def test_a_flood_of_a_network_makes_its_own_count_be_forgotten_least_of_all() -> None:
    windows = RateWindows(StoppedClock(), {"default": 3})
    for n in range(REMEMBERED + 10):
        windows.count_address("default", f"2001:db8:0:{n % 2**16:x}::1")
    last = windows.count_address("default", "2001:db8::ffff")
    assert last is not None and last.is_exceeded


def test_a_jump_of_the_wall_clock_moves_no_window() -> None:
    class Jumping(StoppedClock):
        ahead = 0

        def now(self) -> int:
            return super().now() + self.ahead

    clock = Jumping()
    windows = RateWindows(clock, {"default": 1})
    windows.count("default", "key")
    clock.ahead = 3_600_000
    again = windows.count("default", "key")
    assert again is not None and again.is_exceeded


async def test_large_uploads_wait_for_a_place_and_not_for_ever() -> None:
    uploads = Uploads(per_key=1, in_all=2, patience=0.01)
    async with uploads.place("a") as first, uploads.place("b") as second:
        await first.take()
        await second.take()
        for key in ("a", "c"):
            async with uploads.place(key) as late:
                with pytest.raises(Problem) as problem:
                    await late.take()
                assert (problem.value.code, problem.value.retry_after) == ("rate_limited", 5)
        first.leave()
        async with uploads.place("c") as third:
            await third.take()
    async with uploads.place("a") as again:
        await asyncio.wait_for(again.take(), 1)


def is_counted(windows: RateWindows, address: str) -> bool:
    """Whether this one was too many."""
    standing = windows.count_address("verify", address)
    return standing is not None and standing.is_exceeded


def test_addresses_of_one_64_count_as_one_and_those_of_a_48_as_ten() -> None:
    windows = RateWindows(StoppedClock(), {"verify": 2})
    assert [is_counted(windows, f"2001:db8::{n}") for n in range(3)] == [False, False, True]
    assert not is_counted(windows, "2001:db8:0:1::1")
    for n in range(2, 18):
        assert not is_counted(windows, f"2001:db8:0:{n:x}::1")
    assert is_counted(windows, "2001:db8:0:ff::1"), "the 21st of the /48"
    assert not is_counted(windows, "2001:db8:1::1")
    assert [is_counted(windows, a) for a in ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1")] == [
        False,
        False,
        True,
    ]
    assert not is_counted(windows, "192.0.2.2")
    assert windows.count_address("off", "192.0.2.2") is None


async def test_groups_that_hold_every_place_leave_one_to_a_group_that_holds_none() -> None:
    """Two that keep to their own bounds, and one that comes after them."""
    uploads = Uploads(per_key=4, in_all=8, patience=0.01, per_group=6, spare=2)
    async with AsyncExitStack() as stack:
        for n in range(8):
            await (await stack.enter_async_context(uploads.place(f"key {n}", f"hostile {n // 6}"))).take()
        for n in range(2):
            with pytest.raises(Problem):
                await (await stack.enter_async_context(uploads.place("another", f"hostile {n}"))).take()
        await (await stack.enter_async_context(uploads.place("honest", "honest"))).take()
        with pytest.raises(Problem):
            await (await stack.enter_async_context(uploads.place("honest", "honest"))).take()
        assert uploads.taken_places == 9
    assert uploads.taken_places == 0
