"""A listener on loopback that counts who knocks, keeps what it was sent and answers as told."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class SocketReceiver:
    """`requests` are heads and bodies as they came; `connections` counts accepted ones."""

    reply: Reply
    port: int = 0
    connections: int = 0
    requests: list[tuple[bytes, bytes]] = field(default_factory=list)
    _open: dict[asyncio.StreamWriter, "asyncio.Task[None] | None"] = field(default_factory=dict)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open[writer] = asyncio.current_task()
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                )
                self.requests.append((head, await reader.readexactly(length)))
                await self.reply(writer)
        writer.close()

    async def hang_up(self) -> None:
        for writer in self._open:
            writer.transport.abort()
        await asyncio.gather(*(task for task in self._open.values() if task), return_exceptions=True)


def answering(answer: bytes) -> Reply:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return reply


async def silent(writer: asyncio.StreamWriter) -> None:
    """Never say anything."""


async def hanging_up(writer: asyncio.StreamWriter) -> None:
    writer.close()


@contextlib.asynccontextmanager
async def receiving(
    reply: Reply | None = None, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[SocketReceiver]:
    receiver = SocketReceiver(reply or answering(OK))
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        await server.wait_closed()
        await receiver.hang_up()
