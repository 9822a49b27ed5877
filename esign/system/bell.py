"""Wake the workers that wait for jobs after a commit that made some."""

import asyncio


class Bell:
    """Wakes all waiters. A ring also counts for a waiter that was still looking at the earlier jobs when it came."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()
        self.rung = 0

    def ring(self) -> None:
        self.rung += 1
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self, seconds: float, since: int) -> None:
        """Return at the first ring after `since` rings, or after `seconds`."""
        if self.rung != since:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await asyncio.wait([future], timeout=seconds)
        finally:
            self._waiting.discard(future)
