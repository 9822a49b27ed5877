"""An answer of the API before it is sent, and the one way to send it."""

from collections.abc import Iterable
from dataclasses import dataclass

from starlette.types import Send

from esign.web.http.security import API_HEADERS

JSON = (b"content-type", b"application/json")
CLOSE = (b"connection", b"close")


@dataclass(slots=True)
class Answer:
    """JSON bytes and their status; `headers` are its own, besides those that every answer has."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()

    async def send(self, send: Send, more: Iterable[tuple[bytes, bytes]] = (), *, last: bool = True) -> None:
        """With `last=False` the connection waits for one more, empty, piece of body."""
        length = (b"content-length", str(len(self.body)).encode())
        headers = [JSON, length, *API_HEADERS, *self.headers, *more]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": not last})


def pairs(headers: Iterable[tuple[str, str]]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers)
