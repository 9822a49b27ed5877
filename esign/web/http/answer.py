"""The answer of an API endpoint before it is sent, and the function that sends it."""

from collections.abc import Iterable
from dataclasses import dataclass

from starlette.types import Send

from esign.web.http.security import API_HEADERS

JSON = (b"content-type", b"application/json")
CLOSE = (b"connection", b"close")
NOT_MODIFIED = 304


@dataclass(slots=True)
class ApiAnswer:
    """A status and a body of JSON, which a 304 does not have.

    `headers` are added to those that every answer of the API has.
    """

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def etag(self) -> bytes | None:
        """Return the value of the ETag header, or None without one."""
        return next((value for name, value in self.headers if name == b"etag"), None)

    async def send(self, send: Send, more: Iterable[tuple[bytes, bytes]] = (), *, last: bool = True) -> None:
        """Send the answer over ASGI.

        With `last=False` the message is left open: the caller sends one more, empty, piece of body.
        """
        headers = [*API_HEADERS, *self.headers, *more]
        if self.status != NOT_MODIFIED:
            headers += (JSON, (b"content-length", b"%d" % len(self.body)))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": not last})


def encode_headers(headers: Iterable[tuple[str, str]]) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers as ASGI takes them: lower-case names and values, both in Latin-1."""
    return tuple((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers)
