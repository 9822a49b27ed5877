"""Keep connections to one mail server open between mails; each carries one mail at a time."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from esign.mail.failure import AuthenticationFailure, RelayFailure

if TYPE_CHECKING:
    import aiosmtplib

GOODBYE = 2.0
SHRUNK = 300.0  # seconds for which fewer connections are opened after the server refused one more


@dataclass(eq=False, slots=True)
class MailConnection:
    """One connection; `reused` after its first mail, `since` is when it was last returned (loop time).

    `lane` is whose mail it carries, or carried last.
    """

    client: "aiosmtplib.SMTP"
    lane: str = ""
    reused: bool = False
    since: float = 0.0


class MailPool:
    """Lends at most `most` connections, and to no lane more than its share. Closes one that is unused for
    `idle` seconds.

    A server that refuses one more connection while others work limits how many a client may hold (RFC 5321 3.8
    and 4.2.1 permit that). The pool then uses those it has, and tries more after five minutes.
    """

    def __init__(self, connect: Callable[[], Awaitable["aiosmtplib.SMTP"]], most: int, idle: float) -> None:
        self._connect = connect
        self._most = most
        self._idle_seconds = idle
        self._limit = most
        self._shrunk_until = 0.0
        self._idle: list[MailConnection] = []
        self._lent: set[MailConnection] = set()
        self._used: Counter[str] = Counter()  # lent and being opened, by lane
        self._opening = 0  # callers whose connection is being opened
        self._undecided = 0  # of these, attempts that have neither succeeded nor failed
        self._failures = 0
        self._failure: RelayFailure | None = None
        self._changed = asyncio.Condition()
        self._sweeping: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def acquire(self, lane: str = "") -> MailConnection:
        """Return an idle connection or a new one. Waits while all are lent, or as many as this lane may have.

        Raises RelayFailure if none can be opened and none is in use. Callers that waited meanwhile get the same
        failure, without asking the server again.
        """
        failures = self._failures
        while True:
            async with self._changed:
                while (found := self._find_idle(lane)) is None and not self._has_room(lane):
                    await self._changed.wait()
                    if self._failure is not None and self._failures != failures:
                        raise self._failure.repeat_failure()
                self._used[lane] += 1
                if found is not None:
                    found.lane = lane
                    self._lent.add(found)
                    return found
                self._opening += 1
                self._undecided += 1
            opened = None
            try:
                opened = await self._open(lane)
                return opened
            except RelayFailure as failure:
                if not await self._can_do_without(failure):
                    raise
            finally:
                self._used[lane] -= opened is None
                self._opening -= 1
                await self._notify_waiting()

    async def _open(self, lane: str) -> MailConnection:
        try:
            connection = MailConnection(await self._connect(), lane)
        finally:
            self._undecided -= 1
            await self._notify_waiting()
        self._failure = None
        self._lent.add(connection)
        return connection

    async def _can_do_without(self, failure: RelayFailure) -> bool:
        """Return whether other connections work.

        Waits first for connections that are being opened to succeed or fail.
        """
        if not isinstance(failure, AuthenticationFailure):
            async with self._changed:
                await self._changed.wait_for(lambda: self._lent or self._idle or not self._undecided)
            if self.shrink():
                return True
        self._failure, self._failures = failure, self._failures + 1
        return False

    async def release(self, connection: MailConnection) -> None:
        """Return a connection that can carry another mail to the pool."""
        self._give_up(connection)
        if self._idle_seconds > 0 and connection.client.is_connected:
            connection.reused, connection.since = True, asyncio.get_running_loop().time()
            self._idle.append(connection)
            self._sweep_later()
        else:
            await say_goodbye(connection.client)
        await self._notify_waiting()

    async def discard(self, connection: MailConnection) -> None:
        """Close a connection that must not be used any more."""
        self._give_up(connection)
        connection.client.close()
        await self._notify_waiting()

    def _give_up(self, connection: MailConnection) -> None:
        if connection in self._lent:
            self._lent.discard(connection)
            self._used[connection.lane] -= 1
            self._used += Counter()  # drop lanes that hold none

    def drop_idle(self) -> bool:
        """Close every idle connection, because the server has closed one of them and most likely all.

        Always return True.
        """
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.client.close()
        return True

    def shrink(self) -> bool:
        """Limit the pool to the connections that work. Return False if there are none."""
        working = len(self._lent) + len(self._idle)
        if not working:
            self.forget_limit()
            return False
        self._limit = working
        self._shrunk_until = asyncio.get_running_loop().time() + SHRUNK
        return True

    async def close(self) -> None:
        """Say goodbye on every idle connection, and close those that still carry a mail."""
        idle, self._idle = self._idle, []
        if self._sweeping is not None:
            self._sweeping.cancel()
        await asyncio.gather(*(say_goodbye(connection.client) for connection in idle), *self._closing)
        for connection in list(self._lent):
            connection.client.close()

    def _find_idle(self, lane: str) -> MailConnection | None:
        """Return the connection used last, which the server is least likely to have closed, or None."""
        while self._idle and self._may_take(lane):
            connection = self._idle.pop()
            if connection.client.is_connected:
                return connection
            connection.client.close()
        return None

    def _may_take(self, lane: str) -> bool:
        return self._used[lane] < compute_share(self._limit)

    def _has_room(self, lane: str) -> bool:
        if asyncio.get_running_loop().time() >= self._shrunk_until:
            self._limit = self._most
        return self._may_take(lane) and len(self._lent) + self._opening < self._limit

    def forget_limit(self) -> None:
        """Allow as many connections as configured again: a lack of connections was not the reason for the refusal."""
        self._limit, self._shrunk_until = self._most, 0.0

    async def _notify_waiting(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _sweep_later(self) -> None:
        if self._sweeping is None:
            self._sweeping = asyncio.get_running_loop().call_later(self._idle_seconds, self._sweep)

    def _sweep(self) -> None:
        self._sweeping = None
        before = asyncio.get_running_loop().time() - self._idle_seconds
        old = [connection for connection in self._idle if connection.since <= before]
        self._idle = [connection for connection in self._idle if connection.since > before]
        for connection in old:
            task = asyncio.create_task(say_goodbye(connection.client))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        if self._idle:
            self._sweep_later()


def compute_share(places: int) -> int:
    """Return how many places one organisation may take, so that some stay free if a server hangs at all its
    addresses.
    """
    return max(1, places - max(1, places // 4))


async def say_goodbye(client: "aiosmtplib.SMTP") -> None:
    """Send QUIT, and close the connection whatever the server answers."""
    from aiosmtplib import SMTPException

    try:
        with contextlib.suppress(SMTPException, OSError):
            await client.quit(timeout=GOODBYE)
    finally:
        client.close()
