"""A thread for calls that may hang, such as those into a folder on a network share.

In asyncio's default executor such calls would take one thread after the other from all other work, and hold up the end
of the program.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class SingleThread:
    """Runs calls one after the other in a daemon thread, which starts with the first of them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[[], Any]]]
        self._calls = SimpleQueue()
        self._thread: Thread | None = None

    async def run(self, call: Callable[..., T], *given: object) -> T:
        """Return what the call returns, or raise what it raises. A caller that has gone gets no call."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        if self._thread is None:
            thread = Thread(target=self._work, name=self._name, daemon=True)
            thread.start()
            self._thread = thread
        self._calls.put((loop, future, lambda: call(*given)))
        return await future

    def _work(self) -> None:
        while True:
            loop, future, call = self._calls.get()
            if future.cancelled():
                continue
            result, failure = None, None
            try:
                result = call()
            except Exception as error:
                failure = error
            with suppress(RuntimeError):  # the program has ended meanwhile
                loop.call_soon_threadsafe(settle, future, result, failure)


def settle(future: "asyncio.Future[Any]", result: object, failure: Exception | None) -> None:
    """Give a future its result or its failure, unless its caller has gone."""
    if future.done():
        return
    if failure is not None:
        future.set_exception(failure)
    else:
        future.set_result(result)
