"""Post to an address that the administrator wrote into the settings."""

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
KEEP_ALIVE = 15.0  # longer than for webhooks: a request can be repeated, so an idle connection may be tried


class Direct:
    """Posts to addresses of the settings; call `close` at the end.

    `resolve` returns every address of a name; `tls` replaces the system's trust store.
    """

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
        """Return the status and the body, at most one byte more than `most`. Redirects are not followed. Raises
        `Failed`.

        The request is repeated once if the connection ends without an answer, since it may have been an idle
        one. `timeout` is in seconds for both tries together.
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
