"""The HTTP server: uvicorn with the connections of `client_connection`, in this process. The caller stops it."""

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

from esign.web.http.client_connection import ClientConnection, Connections
from esign.web.http.client_connection import Front as Front  # exported for callers that start a server


class Uvicorn(uvicorn.Server):
    """A uvicorn server that leaves signals to its caller, sweeps its connections, and signals when it listens."""

    server_state: Connections

    def __init__(self, config: uvicorn.Config, front: Front) -> None:
        super().__init__(config)
        self.server_state = Connections(front)
        self.listening = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signal handlers of the process as they are."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    async def on_tick(self, counter: int) -> bool:
        self.server_state.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that listens.

    `ended` finishes when it stops serving, with an error if it failed.
    """

    host: str
    port: int
    ended: asyncio.Task[None]


@asynccontextmanager
async def run_server(
    app: ASGIApp, host: str, port: int, front: Front | None = None
) -> AsyncIterator[RunningServer]:
    """Serve the application inside the context. Port 0 selects a free port.

    At the end, open requests get 10 seconds to finish. Raise OSError if the address cannot be bound.
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
    listener = bind_socket(host, port)
    server = Uvicorn(config, front)
    ended = asyncio.create_task(server.serve(sockets=[listener]), name="http server")
    listening = asyncio.create_task(server.listening.wait())
    await asyncio.wait((ended, listening), return_when=asyncio.FIRST_COMPLETED)
    try:
        yield RunningServer(host, listener.getsockname()[1], ended)
    finally:
        listening.cancel()
        server.should_exit = True
        await asyncio.wait((ended,))
        for connection in tuple(server.server_state.connections):
            connection.transport.abort()
    ended.result()


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raise OSError with a message that names the address."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family)
        # Accepted sockets inherit this option. The head and the body of an answer are two writes, and the second must
        # not wait for the acknowledgement of the first. asyncio sets it only on a socket whose `proto` is IPPROTO_TCP,
        # which is 0 here.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except socket.gaierror as error:
        raise OSError(errno.EADDRNOTAVAIL, f"{host}: {error.strerror}") from error
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, f"{host}, port {port}: {os.strerror(number)}") from error


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
