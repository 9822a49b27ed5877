"""Requests to addresses that the administrator wrote into the settings."""

import asyncio
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from esign.core.instant import SECOND, Instant
from esign.net.address_gate import AddressGate
from esign.net.answer import TOO_LATE, RequestFailed, TargetRefused
from esign.net.time_limits import TimeLimits
from esign.net.zones import Zone
from esign.system.system_lookup import SystemLookup

if TYPE_CHECKING:
    import ssl

    from esign.net.session import HttpSession

REFUSED = "address_refused: the name leads to an address that nothing is sent to"
REACH = frozenset(Zone) - {Zone.FORBIDDEN}
KEEP_ALIVE = 15.0  # longer than for webhooks: a request can be repeated, so an idle connection may be tried


class DirectClient:
    """Sends requests to addresses of the settings; call `close` at the end.

    `tls` replaces the system's trust store.
    """

    def __init__(self, *, tls: "ssl.SSLContext | None" = None) -> None:
        self._resolve = SystemLookup()
        self._tls = tls
        self._session: HttpSession | None = None

    async def post(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        limits: TimeLimits,
        *,
        most: int,
    ) -> tuple[int, bytes]:
        """Return the status and the body, at most one byte more than `most`. Redirects are not followed. Raises
        `RequestFailed`.

        The request is repeated once if the connection ends without an answer, since it may have been an idle
        one. The limits hold for both tries together.
        """
        session = self._open_session()

        async def attempt() -> tuple[int, bytes]:
            status, _, kept = await session.ask(url, body, headers, limits, most + 1)
            return status, kept

        try:
            async with asyncio.timeout(limits.whole):
                try:
                    return await attempt()
                except RequestFailed as failure:
                    if not str(failure).startswith("disconnected:"):
                        raise
                    return await attempt()
        except TargetRefused as refused:
            raise RequestFailed(
                "address_refused: the name leads to an address that can’t be a time-stamping authority"
            ) from refused
        except TimeoutError as error:
            raise RequestFailed(TOO_LATE) from error

    async def send(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        limits: TimeLimits,
        *,
        most: int,
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send one request, and return status, headers in lower case, and at most `most` bytes of the body.

        Redirects are not followed, and nothing is repeated. Raises `RequestFailed`.
        """
        try:
            async with asyncio.timeout(limits.whole):
                return await self._open_session().ask(url, body, headers, limits, most, method)
        except TargetRefused as refused:
            raise RequestFailed(REFUSED) from refused
        except TimeoutError as error:
            raise RequestFailed(TOO_LATE) from error

    async def read_date(self, url: str, limits: TimeLimits) -> Instant | None:
        """Return the time that a server says in the `Date` of any answer, or None. Raises `RequestFailed`."""
        try:
            async with asyncio.timeout(limits.whole):
                _, headers, _ = await self._open_session().ask(url, None, {}, limits, 0)
            return int(parsedate_to_datetime(headers["date"]).timestamp()) * SECOND
        except (KeyError, ValueError):
            return None
        except TargetRefused as refused:
            raise RequestFailed(REFUSED) from refused
        except TimeoutError as error:
            raise RequestFailed(TOO_LATE) from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _open_session(self) -> "HttpSession":
        from esign.net.session import HttpSession

        if self._session is None:
            self._session = HttpSession(AddressGate(REACH, self._resolve), self._tls, KEEP_ALIVE)
        return self._session
