"""The listener of a server with TLS: a client counts against the limits from its first packet on.

A server of asyncio tells of a connection once its handshake has ended. Until then anybody could hold any number of
them.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable

from esign.system.supervision import Heartbeat, describe_end
from esign.web.http.client_connection import ClientConnection, Connections
from esign.web.http.origin import normalise_address

log = logging.getLogger(__name__)

FAREWELL = 600.0  # seconds for the end of a connection; the sweep aborts one that makes no progress
PAUSE = 1.0  # seconds after an error of accept, which is for want of descriptors or memory as a rule


class Handshake:
    """A client whose handshake runs. It can be closed to make room, as a connection that waits for its client."""

    def __init__(self, address: str, is_of_proxy: bool) -> None:
        self.address = address
        self.is_of_proxy = is_of_proxy
        self.task: asyncio.Task[None] | None = None

    def is_waiting(self) -> bool:
        # One that was cancelled ends a moment later, and its place is given away once.
        return self.task is None or not self.task.cancelling()

    def is_in_body(self) -> bool:
        return False

    def abort(self) -> None:
        if self.task is not None:
            self.task.cancel()


class TlsListener:
    """Accepts connections on a listening socket from `start` to `close`."""

    def __init__(
        self,
        listener: socket.socket,
        tls: ssl.SSLContext,
        state: Connections,
        make_connection: Callable[[], ClientConnection],
        heartbeat: Heartbeat | None = None,
    ) -> None:
        self._heartbeat = heartbeat
        self._is_closed = False
        self._listener = listener
        self._tls = tls
        self._state = state
        self._make_connection = make_connection
        self._tasks = set[asyncio.Task[None]]()

    def start(self, backlog: int) -> None:
        """Begin to accept. `backlog` is the number of clients that the kernel lets wait."""
        self._listener.setblocking(False)
        self._listener.listen(backlog)
        self._start_accepting()

    def _start_accepting(self) -> None:
        task = asyncio.create_task(self._accept(), name="TLS listener")
        self._tasks.add(task)
        task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        """Accept again, unless the listener was closed."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if self._is_closed:
            return
        reason = describe_end(task.cancelled(), error, is_hung=False)
        log.error("the listener for TLS ended and is started again: %s", reason, exc_info=error)
        if self._heartbeat is not None:
            self._heartbeat.note_restart(reason)
        self._start_accepting()

    def close(self) -> None:
        """Accept no more, and end the handshakes that run."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()

    async def wait_closed(self) -> None:
        """Return when nothing runs any more."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, peer = await loop.sock_accept(self._listener)
            except ConnectionAbortedError:  # the client has left already
                continue
            except OSError as error:
                log.warning("no connection can be accepted: %s", error.strerror)
                await asyncio.sleep(PAUSE)
                continue
            self._begin(client, normalise_address(peer[0]))

    def _begin(self, client: socket.socket, address: str) -> None:
        """Let the client shake hands, if it may have one connection more."""
        state = self._state
        handshake = Handshake(address, state.front.proxies.is_trusted(address))
        state.handshakes.add(handshake)
        if not state.admit(address):
            state.handshakes.discard(handshake)
            client.close()
            return
        state.hold(address)
        handshake.task = asyncio.create_task(self._shake_hands(client))
        handshake.task.add_done_callback(lambda task: self._end(task, handshake))
        self._tasks.add(handshake.task)

    def _end(self, task: asyncio.Task[None], handshake: Handshake) -> None:
        """Forget a handshake. A connection that came of it counts by itself."""
        self._tasks.discard(task)
        self._state.handshakes.discard(handshake)
        self._state.release(handshake.address)

    async def _shake_hands(self, client: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._make_connection,
                client,
                ssl=self._tls,
                ssl_handshake_timeout=self._state.front.first_byte,
                ssl_shutdown_timeout=FAREWELL,
            )
        except OSError:  # no TLS, no end in time, or the client has left
            client.close()
        except asyncio.CancelledError:
            client.close()
            raise
