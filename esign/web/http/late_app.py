"""A part of the program that is imported and built in a thread, so that the server can listen before it is there."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

A = TypeVar("A", bound=ASGIApp)


class LateApp(Generic[A]):
    """Passes requests to the application that `build` returns. Requests that come before it is built wait for it.

    `build` runs in a thread, where its imports do not hold up the event loop.
    """

    def __init__(self, build: Callable[[], A]) -> None:
        self.built: A | None = None
        self._build = build
        self._building: asyncio.Task[A] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.built or await self.load()
        await app(scope, receive, send)

    async def load(self) -> A:
        """Build the application, unless that was begun before, and return it. Raises what `build` raises."""
        if self._building is None:
            self._building = asyncio.create_task(asyncio.to_thread(self._build))
        self.built = await asyncio.shield(
            self._building
        )  # a caller that leaves does not end it for the others
        return self.built
