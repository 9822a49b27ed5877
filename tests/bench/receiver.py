"""A webhook receiver that costs little: `python -m tests.bench.receiver` prints its port.

What it answers is in the path: `/healthy…`, `/500`, `/429`, `/reset`, `/silent`; `/count` tells what came to the
healthy ones: how many different deliveries, and the seconds from the first to the last.
"""

import asyncio
import json
import time
from typing import cast

import uvloop


class Counter:
    """Deliveries to healthy places, each once."""

    def __init__(self) -> None:
        self.came: set[tuple[bytes, bytes]] = set()
        self.first = self.last = 0.0

    def take(self, place: bytes, delivery: bytes) -> None:
        self.came.add((place, delivery))
        self.last = time.perf_counter()
        self.first = self.first or self.last

    def read_head(self) -> bytes:
        return json.dumps({"healthy": len(self.came), "seconds": self.last - self.first}).encode()


class Connection(asyncio.Protocol):
    """One request after the other, each answered when its body is complete."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields.get(b"content-length", b"0"))
        if len(body) >= length:
            self.buffer = body[length:]
            self.answer(head.split(b" ")[1], fields)

    def answer(self, place: bytes, fields: dict[bytes, bytes]) -> None:
        if place.startswith(b"/healthy"):
            self.counter.take(place, fields[b"webhook-id"])
            self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        elif place == b"/count":
            said = self.counter.read_head()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n"
            self.transport.write(head.encode() + said)
        elif place == b"/500":
            self.transport.write(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        elif place == b"/429":
            self.transport.write(b"HTTP/1.1 429 Later\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n")
        elif place == b"/reset":
            self.transport.abort()


async def main() -> None:
    counter = Counter()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(counter), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
