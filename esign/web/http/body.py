"""The body and the query of a request: the limit on its size, its media type, its query parameters."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import ParamSpec, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from esign.core.errors import Detail, Problem
from esign.core.sentence import say
from esign.web.http.ratelimit import LARGE, UploadPlace
from esign.web.http.validation import check

MEDIA = re.compile(rb'application/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?', re.IGNORECASE)
AFTERWARDS = 64 * 2**10  # bytes read beyond the limit, so that the client reads its answer
LINGER = 2.0  # seconds
OFF_THE_LOOP = 256 * 2**10  # bytes from which on a body is parsed in a thread

P = ParamSpec("P")
T = TypeVar("T")


class IncomingBody:
    """The body of one request, which has not been read yet."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._announced: int | None = None
        self._chunked = False
        self.media = b""
        self.unread = False  # True if it was refused before the client had sent all of it
        for name, value in scope["headers"]:
            if name == b"content-length":
                self._announced = int(value)
            elif name == b"transfer-encoding":
                self._chunked = True
            elif name == b"content-type":
                self.media = value
        self._room = 0

    @property
    def is_present(self) -> bool:
        """Return whether the request announces a body that is not empty, or a body of unknown length."""
        return self._chunked or bool(self._announced)

    def require_json(self) -> None:
        """Raise `unsupported_media_type` unless the media type is `application/json`, in UTF-8."""
        if not MEDIA.fullmatch(self.media.strip()):
            raise Problem("unsupported_media_type")

    async def read(self, limit: int, place: UploadPlace | None = None) -> bytearray:
        """Return the whole body. Raise `request_too_large` beyond `limit` bytes.

        More than 1 MiB is held in memory only under a `place`, which is taken when that much has arrived. A
        client that announces a large body and sends nothing therefore holds no place. Raise `rate_limited` if
        no place becomes free in time, or if the body is too slow while other uploads wait.
        """
        self._room = limit + AFTERWARDS
        if (self._announced or 0) > limit:
            raise self._refuse(limit)
        body = bytearray()
        pieces = self._iterate_pieces()
        async for piece in pieces:
            body += piece
            if len(body) > limit:
                raise self._refuse(limit)
            if place is not None and len(body) > LARGE:
                await self._read_rest(pieces, body, limit, place)
        return body

    async def _read_rest(
        self, pieces: AsyncIterator[bytes], body: bytearray, limit: int, place: UploadPlace
    ) -> None:
        """Read the rest of a large body under its place. A refusal closes the connection."""
        try:
            await place.take()
            async with place.cut_if_slow():
                async for piece in pieces:
                    place.note(len(piece))
                    body += piece
                    if len(body) > limit:
                        raise self._refuse(limit)
        except Problem as problem:
            self.unread = True
            problem.headers.setdefault("Connection", "close")
            raise

    def _refuse(self, limit: int) -> Problem:
        """Return the problem for a body that is too large, and mark the body as unread."""
        self.unread = True
        message = say("The body is larger than {limit} bytes.", limit=limit)
        return Problem("request_too_large", message, headers={"Connection": "close"})

    async def _iterate_pieces(self) -> AsyncIterator[bytes]:
        """Yield the pieces of the body as they arrive. Raise ClientDisconnect when the client leaves."""
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
        """Read and drop what the client still sends, so that it gets to read its answer.

        It stops after `seconds`, or when the limit and 64 KiB more have arrived.
        """
        try:
            async with asyncio.timeout(seconds):
                async for _ in self._iterate_pieces():
                    if self._room <= 0:
                        await asyncio.sleep(seconds / 2)
                        return
        except (TimeoutError, ClientDisconnect):
            return


async def run_in_thread_if_large(
    raw: bytes | bytearray | memoryview, work: Callable[P, T], *given: P.args, **named: P.kwargs
) -> T:
    """Call `work` and return its result, in a thread if `raw` is larger than 256 KiB.

    Parsing a large body on the event loop would hold up every other request.
    """
    if len(raw) > OFF_THE_LOOP:
        return await asyncio.to_thread(work, *given, **named)
    return work(*given, **named)


def parse_query(model: type[BaseModel] | None, text: bytes) -> BaseModel | None:
    """Return the query parameters as an instance of `model`; without a model, none are allowed.

    Raise `invalid_request` for an unknown parameter and for one that is given more than once.
    """
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
        return check(model or NoMembers, values)
    except Problem as problem:
        details = [
            Detail("?" + d.path.removeprefix("/"), d.message.replace(" member", " parameter"), d.rule)
            for d in problem.details
        ]
        raise Problem(problem.code, details=details) from None


class NoMembers(BaseModel, extra="forbid"):
    """The model of a body or a query that has no members."""
