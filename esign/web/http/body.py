"""Reading what a request carries: its size before anything else, its media type, its query."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import ParamSpec, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from esign.core.errors import Detail, Problem
from esign.web.http.ratelimit import LARGE, Place
from esign.web.http.validation import check

MEDIA = re.compile(rb'application/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?', re.IGNORECASE)
AFTERWARDS = 64 * 2**10
LINGER = 2.0
OFF_THE_LOOP = 256 * 2**10

P = ParamSpec("P")
T = TypeVar("T")


class Incoming:
    """The body of one request, not read yet."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._announced: int | None = None
        self._chunked = False
        self.media = b""
        self.unread = False  # refused before its client has sent all of it
        for name, value in scope["headers"]:
            if name == b"content-length":
                self._announced = int(value)
            elif name == b"transfer-encoding":
                self._chunked = True
            elif name == b"content-type":
                self.media = value
        self._room = 0

    @property
    def present(self) -> bool:
        return self._chunked or bool(self._announced)

    def require_json(self) -> None:
        if not MEDIA.fullmatch(self.media.strip()):
            raise Problem("unsupported_media_type")

    async def read(self, limit: int, place: Place | None = None) -> bytearray:
        """Return the whole body; more than 1 MiB of it is held only in a place.

        The place is taken when so much has arrived: whoever announces much and sends nothing holds none.
        """
        self._room = limit + AFTERWARDS
        if (self._announced or 0) > limit:
            raise self._refusal(limit)
        body = bytearray()
        pieces = self._pieces()
        async for piece in pieces:
            body += piece
            if len(body) > limit:
                raise self._refusal(limit)
            if place is not None and len(body) > LARGE:
                await self._read_rest(pieces, body, limit, place)
        return body

    async def _read_rest(
        self, pieces: AsyncIterator[bytes], body: bytearray, limit: int, place: Place
    ) -> None:
        try:
            await place.take()
            async with place.cut_if_slow():
                async for piece in pieces:
                    place.note(len(piece))
                    body += piece
                    if len(body) > limit:
                        raise self._refusal(limit)
        except Problem as problem:
            self.unread = True
            problem.headers.setdefault("Connection", "close")
            raise

    def _refusal(self, limit: int) -> Problem:
        self.unread = True
        message = f"The body is larger than {limit} bytes."
        return Problem("request_too_large", message, headers={"Connection": "close"})

    async def _pieces(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            piece = message.get("body", b"")
            self._room -= len(piece)
            more = message.get("more_body", False)
            yield piece

    async def discard(self, seconds: float = LINGER) -> None:
        """Let a client that is still sending read its answer; no more is read than the limit and a little."""
        try:
            async with asyncio.timeout(seconds):
                async for _ in self._pieces():
                    if self._room <= 0:
                        await asyncio.sleep(seconds / 2)
                        return
        except (TimeoutError, ClientDisconnect):
            return


async def apart(
    raw: bytes | bytearray | memoryview, work: Callable[P, T], *given: P.args, **named: P.kwargs
) -> T:
    """Work on a body in a thread when it is so large that others would wait for it."""
    if len(raw) > OFF_THE_LOOP:
        return await asyncio.to_thread(work, *given, **named)
    return work(*given, **named)


def query(model: type[BaseModel] | None, text: bytes) -> BaseModel | None:
    """The query parameters as the model; each one may be given once, and unknown ones are refused."""
    if not text and model is None:
        return None
    try:
        given = parse_qsl(text.decode("ascii"), keep_blank_values=True, max_num_fields=100, errors="strict")
    except ValueError:
        raise Problem("invalid_request", "The query is not text in UTF-8, or too long.") from None
    values: dict[str, str] = {}
    for name, value in given:
        if name in values:
            raise Problem(
                "invalid_request", details=[Detail(f"?{name}", "Given more than once.", "duplicate")]
            )
        values[name] = value
    try:
        return check(model or Nothing, values)
    except Problem as problem:
        details = [
            Detail("?" + d.path.removeprefix("/"), d.message.replace(" member", " parameter"), d.rule)
            for d in problem.details
        ]
        raise Problem(problem.code, details=details) from None


class Nothing(BaseModel, extra="forbid"):
    """Where no member and no parameter is known."""
