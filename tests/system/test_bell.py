import asyncio

from esign.system.bell import Bell

LONG = 60.0


async def waiting(bell: Bell, count: int = 1) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(bell.wait(LONG, bell.rung)) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


async def test_everybody_who_waits_hears_a_ring() -> None:
    bell = Bell()
    tasks = await waiting(bell, 3)
    bell.ring()
    bell.ring()
    await asyncio.gather(*tasks)


async def test_who_comes_after_a_ring_waits_for_the_next() -> None:
    bell = Bell()
    bell.ring()
    (task,) = await waiting(bell)
    await asyncio.sleep(0)
    assert not task.done()
    bell.ring()
    await task


async def test_a_ring_while_one_was_still_looking_is_not_missed() -> None:
    bell = Bell()
    before = bell.rung
    bell.ring()
    await asyncio.wait_for(bell.wait(LONG, before), 5)


async def test_without_a_ring_the_wait_ends_by_itself() -> None:
    await Bell().wait(0.0, 0)


async def test_who_was_cancelled_is_not_missed() -> None:
    bell = Bell()
    gone, stays = await waiting(bell, 2)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    bell.ring()
    await stays
