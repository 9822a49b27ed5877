"""HTTP/1.1 as bytes: what no well-behaved client would send can be sent, and what comes back is seen as it is."""

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Seen:
    """One answer; header names in small letters."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["error"]["code"])

    @property
    def places(self) -> set[tuple[str, str]]:
        """Path and rule of each detail."""
        return {(detail["path"], detail["rule"]) for detail in self.json["error"]["details"]}


class Wire:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int, host: str = "127.0.0.1", own: str | None = None) -> "Wire":
        """`own`: the address that it comes from."""
        return cls(*await asyncio.open_connection(host, port, local_addr=(own, 0) if own else None))

    async def write(self, raw: bytes) -> None:
        self._writer.write(raw)
        await self._writer.drain()

    async def read(self, *, bodiless: bool = False) -> Seen:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(split_header(line) for line in head[1:] if line)
        size = 0 if bodiless else int(headers.get("content-length", 0))
        return Seen(int(head[0].split()[1]), headers, await self._reader.readexactly(size))

    async def read_to_end(self) -> bytes:
        """What still comes before the server closes the connection."""
        try:
            return await self._reader.read()
        except ConnectionResetError:
            return b""

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


def split_header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.lower(), value.strip()


def request(
    method: str, path: str, body: bytes | None = None, *headers: str, host: str | None = "localhost"
) -> bytes:
    """The bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", *([f"Host: {host}"] if host else []), *headers]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


async def ask(
    port: int, method: str, path: str, body: bytes | None = None, *headers: str, host: str = "localhost"
) -> Seen:
    """One request on a connection of its own."""
    wire = await Wire.open(port)
    try:
        await wire.write(request(method, path, body, *headers, host=host))
        return await wire.read(bodiless=method == "HEAD")
    finally:
        await wire.close()
