"""Look up names that customers chose (webhooks) with c-ares: no thread waits for a name that gets no answer."""

import asyncio
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from esign.system.system_lookup import NameUnanswered, is_literal

if TYPE_CHECKING:
    import aiodns

TRY_SECONDS = 2.0
TRIES = 2
ALL_OF_IT = 8.0


class NameResolver:
    """Looks up names when called; call `close` at the end, which abandons lookups under way.

    It reads the hosts file and `resolv.conf` of the system, and follows their changes. `servers` are asked
    instead, as `address:port`.
    """

    def __init__(self, servers: Sequence[str] | None = None) -> None:
        self._servers = servers
        self._channel: aiodns.DNSResolver | None = None

    async def __call__(self, host: str) -> Sequence[str]:
        """Return every address of a name. Raises OSError if there is none, and Unanswered if no server answers."""
        if is_literal(host):
            return [host]
        import aiodns

        try:
            async with asyncio.timeout(ALL_OF_IT):
                found = await self._open_channel().getaddrinfo(host, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError as error:
            is_told = error.args[0] in (aiodns.error.ARES_ENOTFOUND, aiodns.error.ARES_ENODATA)
            raise (OSError if is_told else NameUnanswered)(f"{host}: {error.args[-1]}") from error
        except TimeoutError:
            raise NameUnanswered(f"{host}: the name servers did not answer") from None
        return list(dict.fromkeys(write_address(*node.addr) for node in found.nodes))

    async def close(self) -> None:
        if self._channel is not None:
            await self._channel.close()
            self._channel = None

    def _open_channel(self) -> "aiodns.DNSResolver":
        """Return the channel to the name servers, opened at the first use."""
        import aiodns

        if self._channel is None:
            self._channel = aiodns.DNSResolver(self._servers, timeout=TRY_SECONDS, tries=TRIES)
        return self._channel


def write_address(address: bytes | str, _port: int, *more: int) -> str:
    """Return the address as text; one that is valid only within an interface keeps the number of the interface."""
    text = address.decode("ascii") if isinstance(address, bytes) else address
    scope = more[1] if len(more) > 1 else 0
    return f"{text}%{scope}" if scope else text
