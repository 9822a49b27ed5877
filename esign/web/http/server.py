"""The HTTP server: uvicorn with the connections of `client_connection`, in this process. The caller stops it."""

import asyncio
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from esign.system.supervision import Heartbeat
from esign.web.http.client_connection import ClientConnection, Connections
from esign.web.http.client_connection import Front as Front  # exported for callers that start a server
from esign.web.http.listeners import bind_socket
from esign.web.http.tls_listener import TlsListener


class Uvicorn(uvicorn.Server):
    """A uvicorn server that leaves signals to its caller, sweeps its connections, and signals when it listens."""

    server_state: Connections
    servers: list[asyncio.Server | TlsListener]  # type: ignore[assignment]

    def __init__(self, config: uvicorn.Config, front: Front, tls: ssl.SSLContext | None) -> None:
        super().__init__(config)
        self._tls = tls
        self.server_state = Connections(front)
        self.servers = []
        self.listening = asyncio.Event()
        self.heartbeat = Heartbeat("http server")

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signal handlers of the process as they are."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen on the sockets. uvicorn makes contexts of its own, and counts no handshakes."""
        await self.lifespan.startup()
        loop, config = asyncio.get_running_loop(), self.config

        def make_connection() -> ClientConnection:
            return ClientConnection(
                config, self.server_state, self.lifespan.state, is_admitted=self._tls is not None
            )

        for listener in sockets or ():
            if self._tls is None:
                self.servers.append(
                    await loop.create_server(make_connection, sock=listener, backlog=config.backlog)
                )
            else:
                secure = TlsListener(listener, self._tls, self.server_state, make_connection, self.heartbeat)
                secure.start(config.backlog)
                self.servers.append(secure)
        self.started = True
        self.listening.set()

    async def on_tick(self, counter: int) -> bool:
        self.heartbeat.beat()
        self.server_state.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that listens.

    `ended` finishes when it stops serving, with an error if it failed. `any_ended` finishes when this one or another of
    the program does. `heartbeat` tells that it tends its connections.
    """

    host: str
    port: int
    ended: asyncio.Task[None]
    any_ended: asyncio.Future[None] | None = None
    heartbeat: Heartbeat | None = None


@asynccontextmanager
async def run_server(
    app: ASGIApp, host: str, port: int, front: Front | None = None
) -> AsyncIterator[RunningServer]:
    """Serve the application inside the context, by plain http. Port 0 selects a free port.

    At the end, open requests get the seconds of `Front.shutdown` to finish. Raise OSError if the
    address cannot be bound.
    """
    async with run_server_on(bind_socket(host, port), app, front) as server:
        yield server


@asynccontextmanager
async def run_server_on(
    listener: socket.socket, app: ASGIApp, front: Front | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RunningServer]:
    """Serve the application on a listening socket inside the context; with `tls`, by https alone.

    At the end, open requests get the seconds of `Front.shutdown` to finish.
    """
    front = front or Front()
    config = uvicorn.Config(
        app,
        http=ClientConnection,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=3600,
        timeout_graceful_shutdown=front.shutdown,
    )
    host, port = listener.getsockname()[:2]
    server = Uvicorn(config, front, tls)
    server.heartbeat.name = f"http server {port}"
    ended = asyncio.create_task(server.serve(sockets=[listener]), name="http server")
    listening = asyncio.create_task(server.listening.wait())
    await asyncio.wait((ended, listening), return_when=asyncio.FIRST_COMPLETED)
    try:
        yield RunningServer(host, port, ended, heartbeat=server.heartbeat)
    finally:
        listening.cancel()
        server.should_exit = True
        await asyncio.wait((ended,))
        for connection in tuple(server.server_state.connections):
            connection.transport.abort()
    ended.result()


@contextmanager
def catch_signals() -> Iterator[asyncio.Event]:
    """Provide an event that SIGTERM and SIGINT (Ctrl-C) set, instead of ending the program at once."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, asked.set)
    try:
        yield asked
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
