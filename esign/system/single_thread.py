"""Run work that may hang, such as reading a folder on another machine, in one thread at a time.

A call into a dead share cannot be interrupted. In asyncio's default executor, which has a few threads for everybody,
the calls that hang would soon be all that it does, and they would hold up the end of the program.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 30.0  # seconds


class SingleThread:
    """Runs one function after the other, each in a daemon thread of its own with this name."""

    def __init__(self, name: str, patience: float = PATIENCE) -> None:
        self._name = name
        self._patience = patience
        self._busy: asyncio.Future[Any] | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, and raise what it raises. What began goes on when its caller is cancelled.

        Raises `TimeoutError` if the work before it does not end within `patience` seconds.
        """
        async with asyncio.timeout(self._patience):
            while self._busy is not None:
                await asyncio.wait([self._busy])
        return await asyncio.shield(self._begin(work))

    def _begin(self, work: Callable[[], T]) -> asyncio.Future[T]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._busy = answer

        def end(result: T | None, error: BaseException | None) -> None:
            self._busy = None
            if answer.done():
                return
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(result)  # type: ignore[arg-type]  # without an error there is a result

        def do_work() -> None:
            result, failure = None, None
            try:
                result = work()
            except BaseException as error:
                failure = error
            with suppress(RuntimeError):  # the program has ended meanwhile
                loop.call_soon_threadsafe(end, result, failure)

        threading.Thread(target=do_work, name=self._name, daemon=True).start()
        return answer
