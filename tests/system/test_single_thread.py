import asyncio
import threading

import pytest

from esign.system.single_thread import SingleThread


async def test_calls_behind_one_that_hangs_take_no_other_thread_and_go_on_after_it() -> None:
    thread, inside, free = SingleThread("keys"), asyncio.Event(), threading.Event()
    loop, ran = asyncio.get_running_loop(), list[int]()

    def hang() -> None:
        loop.call_soon_threadsafe(inside.set)
        free.wait()

    hanging = asyncio.create_task(thread.run(hang))
    await inside.wait()
    threads = threading.active_count()
    waiting = [asyncio.create_task(thread.run(ran.append, number)) for number in range(30)]
    await asyncio.sleep(0)
    for task in waiting[:-1]:
        task.cancel()
    assert threading.active_count() == threads
    assert await asyncio.to_thread(lambda: 5) == 5, "other work goes on"
    free.set()
    await asyncio.gather(hanging, *waiting, return_exceptions=True)
    assert ran == [29], "nothing is done for callers that went away"


async def test_what_a_call_raises_is_raised_where_it_is_awaited() -> None:
    thread = SingleThread("keys")
    with pytest.raises(FileNotFoundError):
        await thread.run(open, "/nowhere/at/all")
    assert await thread.run(len, "abc") == 3
