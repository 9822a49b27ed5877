"""A webhook receiver on loopback: keeps what comes, byte for byte, and answers as it is told."""

import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web


@dataclass(frozen=True)
class Delivered:
    """One request as it arrived; header names in lower case."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> Any:
        return orjson.loads(self.body)

    @property
    def type(self) -> str:
        return str(self.event["type"])


@dataclass
class Receiver:
    """`answer` decides on the answer to each request; 204 unless told otherwise."""

    url: str = ""
    came: list[Delivered] = field(default_factory=list)
    answer: Callable[[Delivered], web.Response] = lambda _: web.Response(status=204)

    async def take(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        delivered = Delivered(headers, await request.read())
        self.came.append(delivered)
        return self.answer(delivered)

    def always(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Answer everything like this from now on; header names in snake case."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answer = lambda _: web.Response(status=status, headers=named, body=body or None)

    def types(self) -> list[str]:
        return [delivered.type for delivered in self.came]


@asynccontextmanager
async def receiving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    receiver = Receiver()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", receiver.take)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "localhost" if tls else "127.0.0.1", 0, ssl_context=tls).start()
        place = "https://localhost" if tls else "http://127.0.0.1"
        receiver.url = f"{place}:{runner.addresses[0][1]}/events"
        yield receiver
    finally:
        await runner.cleanup()
