"""Parts of the program that are imported and built in a thread while the server already listens."""

import asyncio
import threading
from contextlib import suppress

import pytest
from starlette.types import Message, Receive, Scope, Send

from esign.web.http.late_app import LateApp


class SlowPart:
    """An application whose building waits until it is told to go on. It counts its buildings and its requests."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.threads: list[threading.Thread] = []
        self.answered = 0
        self._failure = failure

    def build(self) -> "SlowPart":
        self.threads.append(threading.current_thread())
        self.begun.set()
        assert self.go_on.wait(30)
        if self._failure is not None:
            raise self._failure
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.answered += 1


async def receive() -> Message:
    return {"type": "http.request"}


async def send(message: Message) -> None:
    raise AssertionError


async def wait_until_building(part: SlowPart) -> None:
    assert await asyncio.to_thread(part.begun.wait, 30)


async def test_requests_wait_for_one_building_off_the_loop() -> None:
    part = SlowPart()
    late = LateApp(part.build)
    requests = [asyncio.create_task(late({}, receive, send)) for _ in range(5)]
    await wait_until_building(part)
    assert part.answered == 0
    part.go_on.set()
    await asyncio.gather(*requests)
    await late({}, receive, send)
    assert (part.answered, len(part.threads), late.built) == (6, 1, part)
    assert part.threads[0] is not threading.main_thread()


async def test_a_client_that_leaves_does_not_end_the_building_for_the_others() -> None:
    part = SlowPart()
    late = LateApp(part.build)
    left, stays = (asyncio.create_task(late({}, receive, send)) for _ in range(2))
    await wait_until_building(part)
    left.cancel()
    with suppress(asyncio.CancelledError):
        await left
    part.go_on.set()
    await stays
    assert (part.answered, len(part.threads)) == (1, 1)


async def test_everybody_is_told_of_a_building_that_failed() -> None:
    part = SlowPart(ImportError("a file of the installation is missing"))
    late = LateApp(part.build)
    part.go_on.set()
    for ask in (late.load(), late({}, receive, send), late.load()):
        with pytest.raises(ImportError):
            await ask
    assert (late.built, len(part.threads)) == (None, 1)
