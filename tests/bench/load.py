"""A client process that asks as fast as it is answered: `python -m tests.bench.load URL KEY CONNECTIONS SECONDS`.

Raw sockets, so that the client is no slower than the servers it compares. Prints requests per second, and the
median and 99th percentile in milliseconds.
"""

import asyncio
import json
import statistics
import sys
import time
from typing import cast
from urllib.parse import urlsplit

import uvloop


class LoadClient(asyncio.Protocol):
    """One connection, one request at a time; an answer is counted when its body is complete."""

    def __init__(self, request: bytes, until: float) -> None:
        self.request = request
        self.until = until
        self.times: list[float] = []
        self.statuses: set[bytes] = set()
        self.buffer = b""
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.ask()

    def ask(self) -> None:
        self.began = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        low = head.lower()
        at = low.index(b"content-length:") + 15
        if len(body) < int(low[at:].split(b"\r\n", 1)[0]):
            return
        self.statuses.add(head[9:12])
        self.buffer = b""
        now = time.perf_counter()
        self.times.append(now - self.began)
        if now < self.until:
            self.ask()
        else:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set_result(None)


async def ask(request: bytes, host: str, port: int, until: float) -> LoadClient:
    """Keep asking until the time is over; servers end a connection after a number of requests."""
    loop = asyncio.get_running_loop()
    client = LoadClient(request, until)
    while time.perf_counter() < until:
        client.closed = loop.create_future()
        await loop.create_connection(lambda: client, host, port)
        await client.closed
    return client


async def main(url: str, key: str, connections: int, seconds: float) -> None:
    parts = urlsplit(url)
    request = (
        f"GET {parts.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n"
    ).encode()
    until = time.perf_counter() + seconds
    host, port = parts.hostname or "", parts.port or 80
    clients = await asyncio.gather(*(ask(request, host, port, until) for _ in range(connections)))
    times = sorted(t for client in clients for t in client.times)
    statuses = sorted({s.decode() for client in clients for s in client.statuses})
    print(
        json.dumps(
            {
                "rate": len(times) / seconds,
                "median_ms": 1000 * statistics.median(times),
                "p99_ms": 1000 * times[int(len(times) * 0.99)],
                "statuses": statuses,
            }
        )
    )


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
