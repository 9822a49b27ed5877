import asyncio
from collections.abc import Callable

import pytest

from esign.core.errors import Problem
from esign.web.office.session import login_throttle
from esign.web.office.session.login_throttle import ACCOUNT, ADDRESS, SLOWEST, SPAN, WAITING, LoginThrottle
from tests.fakes import FakeClock


def find_wait(tried: LoginThrottle, account: str, ip: str = "192.0.2.1", kind: str = "code") -> int | None:
    """The seconds to wait; None where the try counts."""
    try:
        tried.count(kind, account, ip)
    except Problem as problem:
        return problem.retry_after
    return None


def test_in_any_quarter_of_an_hour_an_account_is_tried_so_often_and_no_more(clock: FakeClock) -> None:
    tried = LoginThrottle(clock)
    for _ in range(ACCOUNT):
        assert find_wait(tried, "ada") is None
        clock.advance(seconds=60)
    assert find_wait(tried, "ADA", "192.0.2.9") == 300
    assert find_wait(tried, "bo") is None and find_wait(tried, "ada", kind="confirm") is None
    clock.advance(seconds=299)
    assert find_wait(tried, "ada") == 1
    clock.advance(seconds=1)
    assert find_wait(tried, "ada") is None
    assert find_wait(tried, "ada") == 60, "what was refused did not count"


def test_an_address_is_that_of_its_network_and_a_48_counts_loosely(clock: FakeClock) -> None:
    tried = LoginThrottle(clock)
    for n in range(ADDRESS):
        assert find_wait(tried, f"a{n}", f"2001:db8::{n:x}") is None
    assert find_wait(tried, "x", "2001:db8::ffff") == SPAN
    for n in range(9 * ADDRESS):
        assert find_wait(tried, f"b{n}", f"2001:db8:0:{n // 10 + 1:x}::1") is None
    assert find_wait(tried, "x", "2001:db8:0:fff::1") == SPAN
    assert find_wait(tried, "x", "2001:db8:1::1") is None


def test_an_ipv4_address_is_the_same_however_it_is_written(clock: FakeClock) -> None:
    tried = LoginThrottle(clock)
    for n in range(ADDRESS):
        assert find_wait(tried, f"a{n}", ("192.0.2.7", "::ffff:192.0.2.7", "::ffff:c000:207")[n % 3]) is None
    assert find_wait(tried, "x", "192.0.2.7") == SPAN
    assert find_wait(tried, "x", "::ffff:192.0.2.8") is None


def test_who_was_right_starts_again_and_counts_for_nobody_else(clock: FakeClock) -> None:
    tried = LoginThrottle(clock)
    for n in range(5 * ADDRESS):
        assert find_wait(tried, f"a{n % 7}") is None
        tried.forgive("code", f"a{n % 7}", "192.0.2.1")


def count_held(tried: LoginThrottle) -> int:
    return sum(map(len, tried._times.values()))


def test_a_flood_of_names_takes_no_more_memory_than_this(clock: FakeClock) -> None:
    tried = LoginThrottle(clock)
    for n in range(login_throttle.REMEMBERED + 1000):
        find_wait(tried, f"a{n}", f"2001:db8:{n:x}::1")
    assert count_held(tried) <= 2 * login_throttle.REMEMBERED
    clock.advance(seconds=SPAN)
    assert find_wait(tried, "ada") is None
    assert count_held(tried) < 10


@pytest.mark.parametrize("kind", ["code", "confirm", "forgot"])
@pytest.mark.parametrize("networks", [1, 300, 10**6])
async def test_a_flood_that_fills_the_memory_closes_and_slows_nobody_else(
    clock: FakeClock, sleeper: "Sleeper", kind: str, networks: int
) -> None:
    tried = LoginThrottle(clock, sleeper)

    def attacker(n: int) -> str:
        return f"2001:db8:{n % networks >> 16:x}:{n % networks & 0xFFFF:x}::1"

    for n in range(login_throttle.REMEMBERED + 1000):
        find_wait(tried, f"nobody{n}", attacker(n), kind)
        await wait_of(tried, sleeper, f"nobody{n}@example.test", attacker(n))
    for n in range(100):
        assert find_wait(tried, f"user{n}", f"192.0.2.{n}", kind) is None
        assert await wait_of(tried, sleeper, f"user{n}@example.test", f"192.0.2.{n}") == 0
        assert await wait_of(tried, sleeper, f"user{n}@example.test", f"192.0.2.{n}", f"browser{n}") == 0


def test_no_flood_makes_the_tries_of_one_secret_be_forgotten(clock: FakeClock) -> None:
    tried = LoginThrottle(clock)
    for n in range(ACCOUNT):
        assert find_wait(tried, "ada", everywhere(n)) is None
    for n in range(2 * login_throttle.REMEMBERED):
        find_wait(tried, "ada", everywhere(n))
        find_wait(tried, f"nobody{n}@example.test", everywhere(n), "forgot")
    assert find_wait(tried, "ada", "192.0.2.1") == SPAN


# ---------- passwords ----------


class Sleeper:
    """Notes how long somebody would have slept."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


async def wait_of(
    tried: LoginThrottle, sleeper: Sleeper, account: str, ip: str, device: str | None = None
) -> float:
    """The seconds that this try waited before it was looked at."""
    before = len(sleeper.slept)
    async with tried.wait_for_turn(account, ip, device):
        return sum(sleeper.slept[before:])


@pytest.fixture
def sleeper() -> Sleeper:
    return Sleeper()


def everywhere(n: int) -> str:
    return f"10.{n // 256}.{n % 256}.1"


def one_network(n: int) -> str:
    return f"2001:db8::{n:x}"


@pytest.mark.parametrize("where", [everywhere, one_network])
async def test_wrong_passwords_of_invented_accounts_close_no_account(
    clock: FakeClock, sleeper: Sleeper, where: Callable[[int], str]
) -> None:
    tried = LoginThrottle(clock, sleeper)
    for n in range(1000):
        await wait_of(tried, sleeper, f"nobody{n}@example.test", where(n))
    assert await wait_of(tried, sleeper, "ada@example.test", "192.0.2.1") == 0
    assert await wait_of(tried, sleeper, "ada@example.test", where(1001)) <= login_throttle.PACE


async def test_wrong_passwords_of_one_account_make_its_owner_wait_only_in_the_same_network(
    clock: FakeClock, sleeper: Sleeper
) -> None:
    tried = LoginThrottle(clock, sleeper)
    waits = [await wait_of(tried, sleeper, "ada", "198.51.100.1") for _ in range(300)]
    assert waits[:ACCOUNT] == [0] * ACCOUNT and waits[ACCOUNT] > 0
    assert waits == sorted(waits) and waits[-1] == SLOWEST, "slower and slower, and never closed"
    assert await wait_of(tried, sleeper, "ada", "192.0.2.1") == 0
    for n in range(1000):
        await wait_of(tried, sleeper, "ada", everywhere(n))
    assert await wait_of(tried, sleeper, "ada", "192.0.2.1") == 0
    assert await wait_of(tried, sleeper, "ADA", "198.51.100.1") == SLOWEST
    clock.advance(seconds=SPAN)
    assert await wait_of(tried, sleeper, "ada", "198.51.100.1") == 0


async def test_a_known_browser_does_not_wait_for_what_others_try(clock: FakeClock, sleeper: Sleeper) -> None:
    tried = LoginThrottle(clock, sleeper)
    for _ in range(300):
        await wait_of(tried, sleeper, "ada", "198.51.100.1")
    for _ in range(ACCOUNT):
        assert await wait_of(tried, sleeper, "ada", "198.51.100.1", "browser") == 0
    assert await wait_of(tried, sleeper, "ada", "198.51.100.1", "browser") > 0, "it has no more tries either"


async def test_many_at_once_wait_in_a_bounded_number(clock: FakeClock) -> None:
    asleep = asyncio.Event()

    async def sleep(seconds: float) -> None:
        await asleep.wait()

    tried = LoginThrottle(clock, sleep)
    ended: list[str] = []

    async def one(account: str, ip: str) -> None:
        try:
            async with tried.wait_for_turn(account, ip):
                ended.append("tried")
        except Problem as problem:
            assert problem.code == "rate_limited" and problem.retry_after
            ended.append("refused")

    async with asyncio.TaskGroup() as group:
        for n in range(ADDRESS + WAITING + 7):
            group.create_task(one(f"n{n}", "198.51.100.1"))
        await asyncio.sleep(0)
        assert ended == ["tried"] * ADDRESS + ["refused"] * 7
        await one("ada", "192.0.2.1")
        assert ended[-1] == "tried"
        asleep.set()
    assert not tried._waiting
