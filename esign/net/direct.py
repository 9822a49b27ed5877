"""Posting to an address that the administrator wrote into the settings."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from esign.net.answer import TOO_LATE, Failed, Refused
from esign.net.gate import Gate, Resolve
from esign.net.zones import Zone
from esign.system.resolve_names import SystemLookup

if TYPE_CHECKING:
    import ssl

    from esign.net.session import Session

REACH = frozenset(Zone) - {Zone.FORBIDDEN}
KEEP_ALIVE = 15.0  # nothing is lost by asking again, so that an idle connection may be tried


class Direct:
    """`close` it at the end. `resolve` gives every address of a name; `tls` replaces the system's trust store."""

    def __init__(self, *, resolve: Resolve | None = None, tls: "ssl.SSLContext | None" = None) -> None:
        self._resolve = resolve or SystemLookup()
        self._tls = tls
        self._session: Session | None = None

    async def post(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        most: int,
        timeout: float,
        connect_timeout: float,
    ) -> tuple[int, bytes]:
        """Status and body, at most one byte more than `most`; redirects are not followed. Raises `Failed`.

        Asked once more where a connection ends without an answer, as it may have been an old one; `timeout` is the
        seconds of both tries together.
        """
        session = self._opened()

        async def attempt() -> tuple[int, bytes]:
            status, _, kept = await session.ask(url, body, headers, timeout, connect_timeout, most + 1)
            return status, kept

        try:
            async with asyncio.timeout(timeout):
                try:
                    return await attempt()
                except Failed as failure:
                    if not str(failure).startswith("disconnected:"):
                        raise
                    return await attempt()
        except Refused as refused:
            raise Failed("address_refused: the name leads to an address that no authority has") from refused
        except TimeoutError as error:
            raise Failed(TOO_LATE) from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> "Session":
        from esign.net.session import Session

        if self._session is None:
            self._session = Session(Gate(REACH, self._resolve), self._tls, KEEP_ALIVE)
        return self._session
