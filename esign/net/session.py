"""A pool of HTTP connections behind one gate. The only file that imports aiohttp."""

import socket
import ssl
from collections.abc import Mapping
from io import BytesIO

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from esign.net.address_gate import AddressBarred, AddressGate
from esign.net.answer import TOO_LATE, RequestFailed, TargetRefused
from esign.net.time_limits import TimeLimits
from esign.system.system_lookup import NameUnanswered

KEPT = 1_024
BUFFER = 32 * 1_024  # aiohttp stops reading from the socket at twice this
KEEP_ALIVE = 2.0
LARGE = 2**20  # bytes of a body from which aiohttp wants a stream, so as to send it in pieces
NO_ROUNDING = 3_600.0  # aiohttp rounds time-outs above this up to whole seconds

# The first kind that fits decides, because time-outs and TLS errors are connection errors too.
REASONS: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.ConnectionTimeoutError, "connect_timeout: no connection within the time allowed"),
    (TimeoutError, TOO_LATE),
    (aiohttp.ClientConnectorDNSError, "name_not_found: the host has no address"),
    (aiohttp.ClientSSLError, "tls_failed: the host has no certificate that can be trusted"),
    (aiohttp.ClientConnectorError, "connection_failed: the host refuses connections"),
    (aiohttp.ClientOSError, "disconnected: the connection ended without an answer"),
    (aiohttp.ServerDisconnectedError, "disconnected: the connection ended without an answer"),
    (aiohttp.ClientError, "bad_answer: the answer isn’t HTTP"),
)


class HttpSession:
    def __init__(self, gate: AddressGate, tls: ssl.SSLContext | None, keep_alive: float = KEEP_ALIVE) -> None:
        connector = aiohttp.TCPConnector(
            resolver=_GatedResolver(gate),
            socket_factory=gate.open_socket,
            use_dns_cache=False,
            keepalive_timeout=keep_alive,
            limit=0,
            ssl=tls or True,
        )
        self._client = aiohttp.ClientSession(
            connector=connector,
            trust_env=False,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("Accept-Encoding", "User-Agent"),
            read_bufsize=BUFFER,
        )

    async def ask(
        self,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        limits: TimeLimits,
        most: int = KEPT,
        method: str | None = None,
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and at most `most` bytes of the body.

        Without a method it is a GET if `body` is None, else a POST.
        """
        timeout = aiohttp.ClientTimeout(limits.whole, limits.connect, ceil_threshold=NO_ROUNDING)
        try:
            async with self._client.request(
                method or ("GET" if body is None else "POST"),
                URL(url, encoded=True),
                data=body if body is None or len(body) < LARGE else BytesIO(body),
                headers=headers,
                allow_redirects=False,
                timeout=timeout,
            ) as response:
                kept = await _read_beginning(response, most)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _classify_error(error) from error
        return response.status, {name.lower(): value for name, value in response.headers.items()}, kept

    async def close(self) -> None:
        await self._client.close()


class _GatedResolver(AbstractResolver):
    def __init__(self, gate: AddressGate) -> None:
        self._gate = gate

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in await self._gate.find_addresses(host)
        ]

    async def close(self) -> None:
        pass


async def _read_beginning(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Return the first bytes of the body. A connection with more to come is closed instead of read to its end."""
    kept = b""
    while len(kept) <= most:
        chunk = await response.content.read(most + 1 - len(kept))
        if not chunk:
            return kept
        kept += chunk
    response.close()
    return kept[:most]


def _classify_error(error: Exception) -> TargetRefused | RequestFailed:
    if isinstance(getattr(error, "os_error", None), AddressBarred):
        return TargetRefused("address_refused: the name leads to an address that webhooks can’t be sent to")
    if isinstance(getattr(error, "os_error", None), NameUnanswered):
        return RequestFailed("name_unanswered: the name servers don’t know the host’s address")
    return RequestFailed(next(reason for kind, reason in REASONS if isinstance(error, kind)))
