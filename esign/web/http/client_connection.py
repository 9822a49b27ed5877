"""The connection of one client, with the deadlines and limits that uvicorn does not have.

One sweep looks at the deadlines of all connections ten times a second. A timer for each connection would cost
every request more than the few assignments it costs now. A connection past its deadline is closed without an
answer.
"""

import asyncio
import fcntl
import math
import re
import socket
import struct
import termios
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from esign.core.rate_network import list_networks
from esign.web.http.origin import Proxies, normalise_address
from esign.web.http.request_guard import ONE_HEADER

NEVER = math.inf
SWEEP = 0.1
ODD_METHOD = re.compile(rb"[A-Za-z-]{1,20}(?= /)")
INT = struct.Struct("i")
# Where the answer to TCP_INFO has the bytes that the peer has acknowledged (tcp(7), linux/tcp.h).
ACKNOWLEDGED = struct.Struct("Q")
ACKNOWLEDGED_AT = 120
SOME_METHOD = b"PROPFIND"  # known to the parser, and no route has it


@dataclass(frozen=True, slots=True)
class Front:
    """What one client may use: deadlines in seconds, sizes in bytes. `proxies` may open any number of connections."""

    first_byte: float = 10
    head: float = 10
    body: float = 30  # without progress
    body_rate: int = 16 * 2**10  # bytes a second that a body must bring on average
    write_stall: float = 30
    keep_alive: float = 15
    farewell: float = 1
    shutdown: int = 10
    head_bytes: int = 64 * 2**10
    message_bytes: int = 72 * 2**20
    requests: int = 1000
    connections: int = 1000
    per_address: int = 50
    proxies: Proxies = field(default_factory=Proxies)


class Guest(Protocol):
    """What holds a place: a connection, or a handshake that may lead to one."""

    @property
    def address(self) -> str | None:
        """Return the address of the client once it is counted."""

    @property
    def is_of_proxy(self) -> bool:
        """Return whether the client is a trusted proxy."""

    def is_waiting(self) -> bool:
        """Return whether the client has to send something next."""

    def is_in_body(self) -> bool:
        """Return whether the client has begun to send a body."""

    def abort(self) -> None:
        """Close it at once."""


class Connections(ServerState):
    """All open connections, the TLS handshakes that run, and how many places each network holds."""

    def __init__(self, front: Front) -> None:
        super().__init__()
        self.front = front
        self.handshakes: set[Guest] = set()
        self._held: Counter[str] = Counter()

    def admit(self, address: str) -> bool:
        """Return whether a new connection or handshake from `address`, which is among them already, may stay.

        Its networks must be below their limits, unless it is a trusted proxy. When all connections are taken,
        one of the network that holds the most is closed to make room, if that network holds at least two more
        than the network of the new one.
        """
        fits = all(self._held[network] < self.front.per_address * n for network, n in list_networks(address))
        if not (fits or self.front.proxies.is_trusted(address)):
            return False
        if len(self.connections) + len(self.handshakes) <= self.front.connections:
            return True
        greediest = self._find_greediest()
        if greediest is None or self._count_held(greediest.address) <= self._count_held(address) + 1:
            return False
        greediest.abort()
        return True

    def _find_greediest(self) -> Guest | None:
        """Return a connection or handshake that waits for its client, of the network that holds the most, or None.

        Of connections that hold equally many, one that is not in the middle of a body comes first. Connections
        of trusted proxies are never returned, because many clients share them.
        """
        connections = (one for one in self.connections if isinstance(one, ClientConnection))
        waiting = [
            one for one in (*connections, *self.handshakes) if one.is_waiting() and not one.is_of_proxy
        ]
        return max(
            waiting, key=lambda each: (self._count_held(each.address), not each.is_in_body()), default=None
        )

    def _count_held(self, address: str | None) -> int:
        """Return how many connections the network around `address` holds. For IPv6 the network is the /48."""
        return self._held[list_networks(address)[-1][0]] if address else 0

    def hold(self, address: str) -> None:
        """Count one connection more for the networks around `address`."""
        self._held.update(network for network, _ in list_networks(address))

    def release(self, address: str) -> None:
        """Count one connection less for the networks around `address`."""
        for network, _ in list_networks(address):
            self._held[network] -= 1
            if not self._held[network]:
                del self._held[network]

    def sweep(self, now: float) -> None:
        """Close every connection that is past its deadline. `now` is the time of the event loop, in seconds."""
        for connection in tuple(self.connections):
            if isinstance(connection, ClientConnection):
                connection.check_deadline(now)


class ClientConnection(HttpToolsProtocol):
    """The connection of one client.

    `deadline` is the loop time by which the client must have sent what is awaited. It is NEVER while the client
    owes nothing. `is_admitted` says that its handshake has been admitted.
    """

    server_state: Connections

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: Connections,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        is_admitted: bool = False,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.front = server_state.front
        self.is_admitted = is_admitted
        self.deadline = NEVER
        self.gone: asyncio.Future[None] = self.loop.create_future()
        self.address: str | None = None
        self.is_of_proxy = False
        self.requests = 0
        self.in_head = False
        self.in_message = False
        self.received = 0
        self.overflown = False
        self.taken = 0
        self.unsent_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.deadline = self.loop.time() + self.front.first_byte
        address = normalise_address(self.client[0]) if self.client else "local"
        self.is_of_proxy = self.front.proxies.is_trusted(address)
        if self.is_admitted or self.server_state.admit(address):
            self.address = address
            self.server_state.hold(address)
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.address is not None:
            self.server_state.release(self.address)
            self.address = None
        if not self.gone.done():
            self.gone.set_result(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.overflown or self.transport.is_closing():
            return
        try:
            self._feed(data)
        except httptools.HttpParserUpgrade:
            self.cycle.keep_alive = False
        except httptools.HttpParserError:
            self.transport.close()
            return
        if self.in_message:
            self._count_bytes(len(data))

    def _feed(self, data: bytes) -> None:
        """Parse the data. A request with an unknown method is parsed as a PROPFIND, so that it is answered with 404."""
        fresh, before = not self.in_message, self.requests
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserInvalidMethodError:
            # llhttp parses a fixed list of methods only. A request with another one is answered with 404, but only
            # if the data begins with it: the end of a body must never be parsed as the head of another request.
            odd = ODD_METHOD.match(data) if fresh and self.requests == before else None
            if odd is None:
                raise
            self.parser = httptools.HttpRequestParser(self)
            self.parser.feed_data(SOME_METHOD + data[odd.end() :])

    def _count_bytes(self, size: int) -> None:
        """Count the bytes of the message, enforce the limits on its size, and extend the deadline of a body."""
        self.received += size
        if self.in_head:
            if self.received > self.front.head_bytes:
                self._overflow()
        elif self.received > self.front.message_bytes:
            self.transport.close()
        else:
            # Each piece of the body extends the deadline, but never beyond the time for a body without progress: a
            # fast body may not pause for longer than one that has just begun.
            latest = self.loop.time() + self.front.body
            self.deadline = min(self.deadline + size / self.front.body_rate, latest)

    def _overflow(self) -> None:
        """Pass on a head that is too large as a request that the guard refuses, and read no more of it."""
        self.overflown = True
        self.url = b"/"
        self.headers.append((b"overflow", b"." * (ONE_HEADER + 1)))
        self.on_headers_complete()
        self.on_message_complete()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["esign.gone"] = self.gone  # type: ignore[typeddict-unknown-key]
        self.in_message = self.in_head = True
        self.received = 0
        self.deadline = self.loop.time() + self.front.head

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.in_head:  # a trailer must not change the headers that the guard checked
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.in_head = False
        self.received = 0
        self.requests += 1
        if not self.url.startswith(b"/"):
            self.url = b"//"  # an absolute target or a bare word: the guard refuses this path instead
        self.deadline = self.loop.time() + self.front.body
        super().on_headers_complete()
        if self.requests >= self.front.requests:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.in_message = False
        self.deadline = self.loop.time() + self.front.keep_alive if self.cycle.response_complete else NEVER

    def on_response_complete(self) -> None:
        """Begin the next request that waits, as uvicorn does, but without its timer for each answer: the sweep has
        the deadline of the connection.
        """
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())
        now = self.loop.time()
        if self.overflown:
            self.deadline = now + self.front.farewell
        elif self.in_message and not self.in_head:
            self.deadline = min(self.deadline, now + self.front.body)
        elif not self.in_message and self.cycle.response_complete:
            self.deadline = now + self.front.keep_alive

    def abort(self) -> None:
        """Close it at once."""
        self.transport.abort()

    def is_waiting(self) -> bool:
        """Return whether the client has to send something next."""
        return self.deadline != NEVER and not self.transport.is_closing()

    def is_in_body(self) -> bool:
        """Return whether the client has begun to send a body."""
        return self.in_message and not self.in_head

    def _measure_plain(self) -> tuple[int, int]:
        """Return how many bytes of answers wait, and a number that changes when the client takes some."""
        unsent = self.transport.get_write_buffer_size()
        return unsent, unsent

    def _measure_secure(self, parting: bool) -> tuple[int, int]:
        """Return the same for a connection with TLS, whose own buffer changes only once a whole piece has left.

        The kernel says how much waits there and how many bytes the client has acknowledged. (The second question
        takes uvloop 0.3 ms, so it is asked only while something waits.)
        """
        connection = self.transport.get_extra_info("socket")
        try:
            (waiting,) = INT.unpack(fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(INT.size)))
            if not waiting:
                return 0 if parting else self.transport.get_write_buffer_size(), 0
            state = connection.getsockopt(
                socket.IPPROTO_TCP, socket.TCP_INFO, ACKNOWLEDGED_AT + ACKNOWLEDGED.size
            )
        except (OSError, ValueError, AttributeError):  # it has ended
            return 0, 0
        return waiting, ACKNOWLEDGED.unpack_from(state, ACKNOWLEDGED_AT)[0]

    def check_deadline(self, now: float) -> None:
        """Close the connection when its deadline has passed, or when the client no longer reads its answer.

        A connection with TLS that closes waits for the farewell of its client, which counts as an answer to be read.
        A second `close` would leave its transport without a way to abort.
        """
        secure = self.scheme == "https"
        parting = secure and self.transport.is_closing()
        unsent, taken = self._measure_secure(parting) if secure else self._measure_plain()
        if not (unsent or parting) or taken != self.taken:
            self.taken, self.unsent_since = taken, now
        elif now - self.unsent_since > self.front.write_stall:
            self.transport.abort()
            return
        if parting:
            return
        if secure and unsent and not self.in_message and self.deadline != NEVER:
            self.deadline = max(
                self.deadline, now + self.front.keep_alive
            )  # it still reads the answer before
        if self.flow.read_paused:
            self.deadline += SWEEP  # the server has stopped reading, so the client is not late
        elif now > self.deadline:
            self.transport.close()
