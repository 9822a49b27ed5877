"""The server: uvicorn over `connection`, in this process, stopped by its caller."""

import asyncio
import errno
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from esign.web.http.connection import Connection, Connections
from esign.web.http.connection import Front as Front  # whoever runs a server sets its front


class Uvicorn(uvicorn.Server):
    """Leaves signals to its caller, sweeps, and says when it listens."""

    server_state: Connections

    def __init__(self, config: uvicorn.Config, front: Front) -> None:
        super().__init__(config)
        self.server_state = Connections(front)
        self.listening = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    async def on_tick(self, counter: int) -> bool:
        self.server_state.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)


@dataclass(frozen=True, slots=True)
class Running:
    """A server that listens; `ended` finishes, by itself or with an error, when it no longer serves."""

    host: str
    port: int
    ended: asyncio.Task[None]


@asynccontextmanager
async def running(app: ASGIApp, host: str, port: int, front: Front | None = None) -> AsyncIterator[Running]:
    """Serve inside; port 0 finds a free one. At the end requests get 10 seconds to finish. Raises OSError."""
    front = front or Front()
    config = uvicorn.Config(
        app,
        http=Connection,
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
    listener = bind(host, port)
    server = Uvicorn(config, front)
    ended = asyncio.create_task(server.serve(sockets=[listener]), name="http server")
    listening = asyncio.create_task(server.listening.wait())
    await asyncio.wait((ended, listening), return_when=asyncio.FIRST_COMPLETED)
    try:
        yield Running(host, listener.getsockname()[1], ended)
    finally:
        listening.cancel()
        server.should_exit = True
        await asyncio.wait((ended,))
        for connection in tuple(server.server_state.connections):
            connection.transport.abort()
    ended.result()


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; raises OSError that names the address."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family)
        # Inherited by what it accepts: head and body are two writes, and the second must not wait for an answer to the
        # first. asyncio sets it only where the socket knows that it is TCP, and this one does not say so.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except socket.gaierror as error:
        raise OSError(errno.EADDRNOTAVAIL, f"{host}: {error.strerror}") from error
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, f"{host}, port {port}: {os.strerror(number)}") from error


@contextmanager
def until_signal() -> Iterator[asyncio.Event]:
    """An event that SIGTERM and SIGINT (Ctrl-C) set instead of ending the program at once."""
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
