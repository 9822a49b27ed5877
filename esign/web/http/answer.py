"""The answer of an API endpoint before it is sent, and the function that sends it."""

from collections.abc import Iterable
from dataclasses import dataclass

from starlette.types import Send

from esign.web.http.security import API_HEADERS

JSON = (b"content-type", b"application/json")
CLOSE = (b"connection", b"close")


@dataclass(slots=True)
class ApiAnswer:
    """A status and a body of JSON. `headers` are added to those that every answer of the API has."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()

    async def send(self, send: Send, more: Iterable[tuple[bytes, bytes]] = (), *, last: bool = True) -> None:
        """Send the answer over ASGI.

        With `last=False` the message is left open: the caller sends one more, empty, piece of body.
        """
        length = (b"content-length", str(len(self.body)).encode())
        headers = [JSON, length, *API_HEADERS, *self.headers, *more]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": not last})


def encode_headers(headers: Iterable[tuple[str, str]]) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers as ASGI takes them: lower-case names and values, both in Latin-1."""
    return tuple((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers)
