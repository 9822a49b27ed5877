"""One client's connection, with the deadlines and caps that uvicorn has none of (docs/dev/security.md 2).

Deadlines are looked at by a sweep over all connections ten times a second instead of a timer each, so that a
request costs a few assignments. Past its deadline a connection is closed without an answer.
"""

import asyncio
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from esign.core.network import networks_of
from esign.web.http.guard import ONE_HEADER
from esign.web.http.origin import Proxies, plain

NEVER = math.inf
SWEEP = 0.1
ODD_METHOD = re.compile(rb"[A-Za-z-]{1,20}(?= /)")
SOME_METHOD = b"PROPFIND"  # one that the parser knows and nobody here answers to


@dataclass(frozen=True, slots=True)
class Front:
    """What one client may take: deadlines in seconds, sizes in bytes; trusted proxies may connect at will."""

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


class Connections(ServerState):
    """All open connections, and how many each network holds."""

    def __init__(self, front: Front) -> None:
        super().__init__()
        self.front = front
        self._held: Counter[str] = Counter()

    def admit(self, address: str) -> bool:
        """Return whether the newcomer may stay; where all are taken, a network that holds many gives one up for it."""
        fits = all(self._held[network] < self.front.per_address * n for network, n in networks_of(address))
        if not (fits or self.front.proxies.trust(address)):
            return False
        if len(self.connections) <= self.front.connections:
            return True
        greediest = self._find_greediest()
        if greediest is None or self._weigh(greediest.address) <= self._weigh(address) + 1:
            return False
        greediest.transport.abort()
        return True

    def _find_greediest(self) -> "Connection | None":
        """Return a connection that awaits its client, of the network that holds the most; of these one without a body.

        Those of trusted proxies stay: many share them.
        """
        waiting = [
            connection
            for connection in self.connections
            if isinstance(connection, Connection) and connection.is_waiting() and not connection.is_of_proxy
        ]
        return max(waiting, key=lambda each: (self._weigh(each.address), not each.is_in_body()), default=None)

    def _weigh(self, address: str | None) -> int:
        """Return how many connections the network around an address holds, of IPv6 the /48."""
        return self._held[networks_of(address)[-1][0]] if address else 0

    def hold(self, address: str) -> None:
        self._held.update(network for network, _ in networks_of(address))

    def release(self, address: str) -> None:
        for network, _ in networks_of(address):
            self._held[network] -= 1
            if not self._held[network]:
                del self._held[network]

    def sweep(self, now: float) -> None:
        for connection in tuple(self.connections):
            if isinstance(connection, Connection):
                connection.look(now)


class Connection(HttpToolsProtocol):
    """One client; `deadline` is when it must have sent what is awaited, NEVER while it owes nothing."""

    server_state: Connections

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: Connections,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.front = server_state.front
        self.deadline = NEVER
        self.gone: asyncio.Future[None] = self.loop.create_future()
        self.address: str | None = None
        self.is_of_proxy = False
        self.requests = 0
        self.in_head = False
        self.in_message = False
        self.received = 0
        self.overflown = False
        self.unsent = 0
        self.unsent_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.deadline = self.loop.time() + self.front.first_byte
        address = plain(self.client[0]) if self.client else "local"
        self.is_of_proxy = self.front.proxies.trust(address)
        if self.server_state.admit(address):
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
        self._unset_keepalive_if_required()
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
            self._measure(len(data))

    def _feed(self, data: bytes) -> None:
        fresh, before = not self.in_message, self.requests
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserInvalidMethodError:
            # The parser knows a list of methods; a request with another one still deserves its 404, but only where
            # it is all that has come: the end of a body must never be read again as the head of a request.
            odd = ODD_METHOD.match(data) if fresh and self.requests == before else None
            if odd is None:
                raise
            self.parser = httptools.HttpRequestParser(self)
            self.parser.feed_data(SOME_METHOD + data[odd.end() :])

    def _measure(self, size: int) -> None:
        self.received += size
        if self.in_head:
            if self.received > self.front.head_bytes:
                self._overflow()
        elif self.received > self.front.message_bytes:
            self.transport.close()
        else:
            # The time grows with what arrives, and nothing is saved up: a body that was quick so far may not stop
            # for longer than one that has just begun.
            latest = self.loop.time() + self.front.body
            self.deadline = min(self.deadline + size / self.front.body_rate, latest)

    def _overflow(self) -> None:
        """Hand an endless head on as one that the guard refuses, and read no more of it."""
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
        if self.in_head:  # a trailer must not change what the guard has seen
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.in_head = False
        self.received = 0
        self.requests += 1
        if not self.url.startswith(b"/"):
            self.url = b"//"  # an absolute target or a bare word: the guard refuses it like this one
        self.deadline = self.loop.time() + self.front.body
        super().on_headers_complete()
        if self.requests >= self.front.requests:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.in_message = False
        self.deadline = self.loop.time() + self.front.keep_alive if self.cycle.response_complete else NEVER

    def on_response_complete(self) -> None:
        super().on_response_complete()
        now = self.loop.time()
        if self.overflown:
            self.deadline = now + self.front.farewell
        elif self.in_message and not self.in_head:
            self.deadline = min(self.deadline, now + self.front.body)
        elif not self.in_message and self.cycle.response_complete:
            self.deadline = now + self.front.keep_alive

    def is_waiting(self) -> bool:
        """Return whether it is the client's turn."""
        return self.deadline != NEVER and not self.transport.is_closing()

    def is_in_body(self) -> bool:
        """Return whether the client has begun to send a body."""
        return self.in_message and not self.in_head

    def look(self, now: float) -> None:
        """Close the connection when its time is up, or when the client stops taking what it asked for."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent != self.unsent:
            self.unsent, self.unsent_since = unsent, now
        elif now - self.unsent_since > self.front.write_stall:
            self.transport.abort()
            return
        if self.flow.read_paused:
            self.deadline += SWEEP  # it is us who do not read
        elif now > self.deadline:
            self.transport.close()
