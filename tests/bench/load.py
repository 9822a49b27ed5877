"""A client process that sends prepared requests: `python -m tests.bench.load PORT FILE CONNECTIONS SECONDS EVERY`.

Raw sockets that stay open, so that the client is no slower than the servers it measures. FILE holds the requests as
`drive.write_requests` writes them. Each is sent once, in order, over CONNECTIONS connections, each as soon as its last
request was answered, until all are sent or SECONDS are over. With EVERY above 0 they are sent again and again, one in
that many seconds over all connections, and a wait begins when a request is due, not when a late one was sent.
Prints JSON: the moment of the first request, the seconds until the last answer, the waits and the statuses.
"""

import asyncio
import json
import mmap
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import cast

import uvloop

LENGTH = struct.Struct(">Q")


class Connection(asyncio.Protocol):
    """One connection; `answer` is the status of the answer to the request that was sent last."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.answer: asyncio.Future[bytes] | None = None
        self.buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def ask(self, request: memoryview) -> asyncio.Future[bytes]:
        assert self.transport is not None
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self.answer

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self.buffer[:end]).lower()
        at = head.index(b"content-length:") + 15
        if len(self.buffer) < end + 4 + int(head[at:].split(b"\r\n", 1)[0]):
            return
        status = bytes(self.buffer[9:12])
        self.buffer.clear()
        if b"connection: close" in head:
            self.close()
        if self.answer and not self.answer.done():
            self.answer.set_result(status)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        if self.answer and not self.answer.done():
            self.answer.set_exception(exc or ConnectionResetError("closed without an answer"))

    def close(self) -> None:
        if self.transport:
            self.transport.close()
        self.transport = None


class LoadRun:
    """All connections take their next request from the same place."""

    def __init__(self, port: int, requests: list[memoryview], seconds: float, every: float) -> None:
        self.port = port
        self.every = every
        self.began = time.perf_counter()
        self.until = self.began + seconds
        self.next: Iterator[tuple[int, memoryview]] = enumerate(cycle(requests) if every else requests)
        self.waits: list[float] = []
        self.statuses: Counter[str] = Counter()
        self.last = self.began

    async def send_all(self) -> None:
        """Send requests over one connection until there are no more, or the time is over."""
        connection = Connection()
        for number, request in self.next:
            due = await self.wait_for_turn(number)
            if due > self.until:
                break
            if connection.transport is None:
                connection = await self.connect()
            status = await connection.ask(request)
            self.last = time.perf_counter()
            self.waits.append(self.last - due)
            self.statuses[status.decode()] += 1
        connection.close()

    async def wait_for_turn(self, number: int) -> float:
        """Return the moment when this request is due, once it has come."""
        due = self.began + number * self.every if self.every else time.perf_counter()
        if (left := due - time.perf_counter()) > 0:
            await asyncio.sleep(left)
        return due

    async def connect(self) -> Connection:
        _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", self.port)
        return connection


def read_requests(path: Path) -> list[memoryview]:
    """Return the requests of a file without copying them."""
    with path.open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    found, at = [], 0
    while at < len(whole):
        (length,) = LENGTH.unpack_from(whole, at)
        at += LENGTH.size
        found.append(whole[at : at + length])
        at += length
    return found


async def main(port: int, path: Path, connections: int, seconds: float, every: float) -> None:
    run = LoadRun(port, read_requests(path), seconds, every)
    await asyncio.gather(*(run.send_all() for _ in range(connections)))
    taken = {"began": run.began, "seconds": run.last - run.began}
    print(json.dumps({**taken, "waits": run.waits, "statuses": run.statuses}))


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), *map(float, sys.argv[4:6])))
