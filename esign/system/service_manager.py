"""Speak with the service manager that started the program: sockets that it opened, and how the program is.

This is the protocol of systemd (sd_listen_fds(3), sd_notify(3)), which other service managers speak as well. Without
one, nothing here does anything.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager, suppress

FIRST = 3  # the file descriptor of the first socket
EXTEND_SECONDS = 60
LISTENING = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


def take_sockets(environ: MutableMapping[str, str] = os.environ) -> list[tuple[str, socket.socket]]:
    """Return the listening sockets that were passed to this process, each with its name, in their order.

    Their variables are removed, and no child process inherits a socket. A second call returns nothing.
    """
    process, count, names = (environ.pop(name, "") for name in LISTENING)
    if process != str(os.getpid()) or not count.isdecimal():
        return []
    found = []
    labels = names.split(":") if names else []
    for number in range(int(count)):
        os.set_inheritable(FIRST + number, False)
        label = labels[number] if number < len(labels) else ""
        found.append((label, socket.socket(fileno=FIRST + number)))
    return found


class ServiceManager:
    """The service manager, told by datagrams.

    Its variables are removed, so that no child process speaks for this one.
    """

    def __init__(self, environ: MutableMapping[str, str] = os.environ) -> None:
        self._address = environ.pop("NOTIFY_SOCKET", "")
        self._starting: asyncio.Task[None] | None = None
        process, period = environ.pop("WATCHDOG_PID", ""), environ.pop("WATCHDOG_USEC", "")
        mine = process in ("", str(os.getpid())) and period.isdecimal()
        self.watchdog_seconds = int(period) / 1_000_000 if mine else 0.0

    def tell(self, *lines: str) -> None:
        """Send lines such as `READY=1`. A service manager that does not take them changes nothing here."""
        if not self._address:
            return
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        with (
            suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender,
        ):
            sender.setblocking(False)
            sender.sendto("\n".join(lines).encode(), address)

    @asynccontextmanager
    async def extend_start(self, every: float = EXTEND_SECONDS / 3) -> AsyncIterator[None]:
        """Ask for another minute every 20 seconds until the program is ready, while its event loop turns.

        A large database takes minutes to be copied and migrated. `every` is in seconds.
        """
        self._starting = asyncio.create_task(self._ask_for_time(every), name="start")
        try:
            yield
        finally:
            self._starting.cancel()

    async def _ask_for_time(self, every: float) -> None:
        while self._address:
            self.tell(f"EXTEND_TIMEOUT_USEC={EXTEND_SECONDS * 1_000_000}")
            await asyncio.sleep(every)

    @asynccontextmanager
    async def announce(self, status: str) -> AsyncIterator[None]:
        """Tell that the program is ready and, while its event loop turns, alive; at the end, that it stops."""
        if self._starting is not None:
            self._starting.cancel()
        self.tell("READY=1", f"STATUS={status}")
        alive = asyncio.create_task(self._feed_watchdog(), name="watchdog")
        try:
            yield
        finally:
            alive.cancel()
            self.tell("STOPPING=1")

    async def _feed_watchdog(self) -> None:
        """Tell twice in each period of the watchdog that the event loop turns."""
        while self.watchdog_seconds:
            self.tell("WATCHDOG=1")
            await asyncio.sleep(self.watchdog_seconds / 2)
