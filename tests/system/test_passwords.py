"""Hashes of passwords, and which passwords are taken at all (docs/dev/security.md 4)."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from esign.core.errors import Problem
from esign.core.people import password as rules
from esign.system.passwords import AT_ONCE, LANE, TOO_EASY, FairQueue, Passwords, build_known_lane
from esign.system.passwords import build_stranger_lane as lane

LANE_OF_ONE = build_known_lane("usr_1")
GOOD = "copper kettle under nine maples"


@pytest.fixture
def passwords() -> Passwords:
    return Passwords()


async def test_a_hash_fits_its_password_and_no_other(passwords: Passwords) -> None:
    stored = await passwords.hash(GOOD, LANE_OF_ONE)
    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert await passwords.is_password(stored, GOOD, LANE_OF_ONE)
    for other in (GOOD + " ", GOOD.upper(), "", "x" * 1024):
        assert not await passwords.is_password(stored, other, LANE_OF_ONE)
    assert stored != await passwords.hash(GOOD, LANE_OF_ONE), "each has a salt of its own"


async def test_the_same_letters_from_another_keyboard_fit(passwords: Passwords) -> None:
    stored = await passwords.hash("cafe\u0301 mit \ufb01ligranem Griff", LANE_OF_ONE)
    assert await passwords.is_password(stored, "caf\u00e9 mit filigranem Griff", LANE_OF_ONE)


class CountedHasher:
    """Counts the comparisons of a real hasher."""

    def __init__(self, hasher: Any) -> None:
        self.hasher = hasher
        self.compared: list[str] = []

    def hash(self, text: str) -> str:
        return str(self.hasher.hash(text))

    def verify(self, stored: str, text: str) -> bool:
        self.compared.append(stored.rpartition("$")[0].rpartition("$")[0])
        return bool(self.hasher.verify(stored, text))


async def test_nobody_is_compared_with_as_much_work_as_somebody(passwords: Passwords) -> None:
    stored = await passwords.hash(GOOD, LANE_OF_ONE)
    counted = CountedHasher(passwords._hasher)
    passwords._hasher = counted  # type: ignore[assignment]
    assert not await passwords.is_password(None, GOOD, LANE_OF_ONE)
    assert not await passwords.is_password(None, "the password of nobody", LANE_OF_ONE)
    assert await passwords.is_password(stored, GOOD, LANE_OF_ONE)
    assert len(counted.compared) == 3 and len(set(counted.compared)) == 1


async def test_a_damaged_hash_fits_nothing(passwords: Passwords) -> None:
    for stored in ("", "$argon2id$", "plain"):
        assert not await passwords.is_password(stored or "x", GOOD, LANE_OF_ONE)


@pytest.mark.parametrize(
    ("text", "with_totp", "said"),
    [
        ("x" * 11, False, "12 characters"),
        ("vq7!Rk2", True, "8 characters"),
        ("vq7!Rk2#w", False, "12 characters"),
        ("\u00e4" * 513, False, "1024 bytes"),
        ("password1234", False, TOO_EASY),
        ("aaaaaaaaaaaaaaaa", False, TOO_EASY),
        ("ada@example.test", False, TOO_EASY),
        ("Alder & Finch 1", False, TOO_EASY),
        ("password", True, TOO_EASY),
    ],
)
async def test_what_is_easy_to_guess_is_refused(
    passwords: Passwords, text: str, with_totp: bool, said: str
) -> None:
    about = ("ada@example.test", "Ada", "Alder & Finch")
    complaint = await passwords.find_complaint(text, about, LANE_OF_ONE, with_totp=with_totp)
    assert complaint is not None and said in complaint


@pytest.mark.parametrize(
    ("text", "with_totp"), [(GOOD, False), ("vq7!Rk2#w", True), ("日本語の長い合言葉です十二文字", False)]
)
async def test_what_is_long_and_not_common_is_taken(passwords: Passwords, text: str, with_totp: bool) -> None:
    assert await passwords.find_complaint(text, (), LANE_OF_ONE, with_totp=with_totp) is None


def test_a_password_is_as_long_as_it_reads() -> None:
    assert rules.find_complaint("x" * 12, with_totp=False) is None
    assert rules.find_complaint("x" * 8, with_totp=True) is None
    assert rules.find_complaint("x" * 1024, with_totp=False) is None
    assert rules.find_complaint("x" * 1025, with_totp=False) is not None


async def test_whoever_comes_after_many_others_is_asked_to_come_back(passwords: Passwords) -> None:
    stored = await passwords.hash(GOOD, LANE_OF_ONE)
    async with AsyncExitStack() as held, asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            await held.enter_async_context(passwords._queue.place(lane("192.0.2.1")))
        waiting = [
            group.create_task(passwords.is_password(stored, GOOD, lane("192.0.2.1"))) for _ in range(LANE)
        ]
        await until(lambda: held_up(passwords._queue) == LANE)
        with pytest.raises(Problem) as refused:
            await passwords.is_password(stored, GOOD, lane("192.0.2.1"))
        assert (refused.value.code, refused.value.retry_after) == ("rate_limited", 5)
        other = group.create_task(passwords.is_password(stored, GOOD, lane("192.0.2.2")))
        await until(lambda: held_up(passwords._queue) == LANE + 1)
        await held.aclose()
    assert other.result() and all(task.result() for task in waiting)


# ---------- the queue before the hashing ----------


def held_up(queue: FairQueue) -> int:
    return sum(map(len, queue._lanes.values()))


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  the queue tells nobody how long it is
        await asyncio.sleep(0)


async def enter_queue(queue: FairQueue, who: str, order: list[str], known: bool = False) -> None:
    try:
        async with queue.place(build_known_lane(who) if known else lane(who)):
            order.append(who)
            await asyncio.sleep(0)
    except Problem:
        order.append(f"not {who}")


async def test_a_network_that_floods_the_queue_waits_for_itself() -> None:
    queue, order = FairQueue(1, lane=10, waiting=100), list[str]()
    async with asyncio.TaskGroup() as group, queue.place(lane("somebody")):
        for n in range(15):
            group.create_task(enter_queue(queue, f"2001:db8:0:{n}::1", order))  # one /48
        await until(lambda: held_up(queue) == 10)
        group.create_task(enter_queue(queue, "192.0.2.1", order))
        await until(lambda: held_up(queue) == 11)
    assert len([one for one in order if one.startswith("not")]) == 5
    served = [one for one in order if not one.startswith("not")]
    assert served.index("192.0.2.1") == 1, "behind one of them, not behind all"


async def test_in_a_full_queue_the_longest_lane_gives_way() -> None:
    queue, order = FairQueue(1, lane=10, waiting=12), list[str]()
    async with asyncio.TaskGroup() as group, queue.place(lane("somebody")):
        for who in ["198.51.100.1"] * 8 + [f"203.0.113.{n}" for n in range(4)]:
            group.create_task(enter_queue(queue, who, order))
        await until(lambda: held_up(queue) == 12)
        group.create_task(enter_queue(queue, "192.0.2.1", order))
        await until(lambda: order == ["not 198.51.100.1"])
    assert order[1:].index("192.0.2.1") < 7 and order.count("198.51.100.1") == 7
    async with queue.place(lane("anybody")):
        assert held_up(queue) == 0 and queue._free == 0
    assert queue._free == 1


async def test_strangers_from_however_many_networks_keep_nobody_out_who_is_known() -> None:
    queue, order = FairQueue(1, lane=10, waiting=200), list[str]()
    async with asyncio.TaskGroup() as group, queue.place(lane("somebody")):
        for n in range(200):
            group.create_task(enter_queue(queue, f"2001:db8:{n:x}::1", order))  # each a /48 of its own
        await until(lambda: held_up(queue) == 200)
        for n in range(5):
            group.create_task(enter_queue(queue, f"browser{n}", order, known=True))
        await until(lambda: len(order) == 5)
        assert all(one.startswith("not 2001:db8") for one in order) and held_up(queue) == 200
        group.create_task(enter_queue(queue, "2001:db8:fff::1", order))
        await until(lambda: len(order) == 6)
        assert order[-1] == "not 2001:db8:fff::1"
    assert order[6:11] == [f"browser{n}" for n in range(5)], "before all of them, and in their order"
    assert len(order) == 206 and queue._free == 1 and not queue._lanes


async def test_a_queue_full_of_known_people_sends_strangers_and_the_last_of_them_away() -> None:
    queue, order = FairQueue(1, lane=10, waiting=20), list[str]()
    async with asyncio.TaskGroup() as group, queue.place(lane("somebody")):
        for n in range(20):
            group.create_task(enter_queue(queue, f"browser{n}", order, known=True))
        await until(lambda: held_up(queue) == 20)
        for who, known in (("192.0.2.1", False), ("browser20", True)):
            group.create_task(enter_queue(queue, who, order, known))
        await until(lambda: order == ["not 192.0.2.1", "not browser20"])
    assert queue._free == 1 and not queue._lanes


async def test_whoever_leaves_the_queue_takes_no_place_along() -> None:
    queue = FairQueue(1)
    async with queue.place(lane("a")):
        waiting = [asyncio.create_task(enter_queue(queue, who, [])) for who in "bcd"]
        await until(lambda: held_up(queue) == 3)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    assert (held_up(queue), queue._free) == (0, 1)
