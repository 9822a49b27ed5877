"""Wakes whoever waits for work after a commit that made some."""

import asyncio


class Bell:
    """Every waiter of the moment hears a ring; one that comes later hears the next."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def ring(self) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Return at the next ring, or after `seconds`."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await asyncio.wait([future], timeout=seconds)
        finally:
            self._waiting.discard(future)
