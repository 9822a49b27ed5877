"""Work that hangs holds one thread, and what comes after it waits its turn."""

import asyncio
import threading

import pytest

from esign.system.single_thread import SingleThread


async def test_work_is_done_one_after_the_other_and_errors_come_back() -> None:
    single, order, go_on = SingleThread("single"), list[int](), threading.Event()

    def hold() -> int:
        go_on.wait(10)
        order.append(1)
        return 1

    def fail() -> int:
        order.append(2)
        raise LookupError("nothing there")

    first, second = asyncio.create_task(single.run(hold)), asyncio.create_task(single.run(fail))
    await asyncio.sleep(0)
    go_on.set()
    assert await first == 1
    with pytest.raises(LookupError, match="nothing there"):
        await second
    assert order == [1, 2]


async def test_work_that_hangs_keeps_its_turn_when_its_caller_leaves() -> None:
    single, go_on = SingleThread("single", patience=0.05), threading.Event()
    for _ in range(5):
        caller = asyncio.create_task(single.run(lambda: go_on.wait(10)))
        await asyncio.sleep(0)
        caller.cancel()
        await asyncio.gather(caller, return_exceptions=True)
    assert [each.name for each in threading.enumerate()].count("single") == 1
    with pytest.raises(TimeoutError):
        await single.run(list)
    go_on.set()
    async with asyncio.timeout(10):
        while True:
            try:
                assert await single.run(list) == []
                break
            except TimeoutError:
                continue
