"""Looking up names that strangers chose (webhooks), with c-ares: no thread is held by a name that gets no answer."""

import asyncio
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from esign.system.resolve_names import Unanswered, is_literal

if TYPE_CHECKING:
    import aiodns

TRY_SECONDS = 2.0
TRIES = 2
ALL_OF_IT = 8.0


class Resolver:
    """Call it with a name; `close` it at the end, which gives up what is under way.

    It reads the hosts file and `resolv.conf` of the system, and follows changes of them. `servers` are those to ask
    instead, as `address:port`.
    """

    def __init__(self, servers: Sequence[str] | None = None) -> None:
        self._servers = servers
        self._channel: aiodns.DNSResolver | None = None

    async def __call__(self, host: str) -> Sequence[str]:
        """Return every address of a name; raise OSError where there is none, Unanswered where nobody says."""
        if is_literal(host):
            return [host]
        import aiodns

        try:
            async with asyncio.timeout(ALL_OF_IT):
                found = await self._open_channel().getaddrinfo(host, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError as error:
            is_told = error.args[0] in (aiodns.error.ARES_ENOTFOUND, aiodns.error.ARES_ENODATA)
            raise (OSError if is_told else Unanswered)(f"{host}: {error.args[-1]}") from error
        except TimeoutError:
            raise Unanswered(f"{host}: the name servers did not answer") from None
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
    """Return it as text; one that counts only within an interface keeps the number of that."""
    text = address.decode("ascii") if isinstance(address, bytes) else address
    scope = more[1] if len(more) > 1 else 0
    return f"{text}%{scope}" if scope else text
