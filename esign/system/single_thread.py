"""Runs calls that may hang, such as reading a folder on another machine, in one thread at a time.

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
    """Runs one call after the other, each in a daemon thread of its own with this name."""

    def __init__(self, name: str, patience: float = PATIENCE) -> None:
        self._name = name
        self._patience = patience
        self._busy: asyncio.Future[Any] | None = None

    @property
    def is_busy(self) -> bool:
        """Return whether a call has not ended yet, also one whose caller has gone."""
        return self._busy is not None

    async def run(self, call: Callable[..., T], *given: object) -> T:
        """Return what the call returns, or raise what it raises. A call that has begun goes on without its caller.

        Raises `TimeoutError` if the calls before it do not end within `patience` seconds, and RuntimeError if the
        system has no thread left.
        """
        async with asyncio.timeout(self._patience):
            while self._busy is not None:
                await asyncio.wait([self._busy])
        return await asyncio.shield(self._begin(call, given))

    def _begin(self, call: Callable[..., T], given: tuple[object, ...]) -> asyncio.Future[T]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def end(result: T | None, error: BaseException | None) -> None:
            self._busy = None
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(result)  # type: ignore[arg-type]  # without an error there is a result

        def work() -> None:
            result, failure = None, None
            try:
                result = call(*given)
            except BaseException as error:
                failure = error
            with suppress(RuntimeError):  # the program has ended meanwhile
                loop.call_soon_threadsafe(end, result, failure)

        threading.Thread(target=work, name=self._name, daemon=True).start()
        self._busy = answer
        return answer
