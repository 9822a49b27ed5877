"""Check the address that is dialled, and not only the name: webhooks must not reach the network of this machine.

The owner of a name can answer one look-up with a public address and the next with a private one (DNS rebinding, a way
of server-side request forgery). So each look-up for a connection is checked, and the address once more at its socket.
"""

import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from esign.net.zones import Address, Reach, Zone, find_zone

Resolve = Callable[[str], Awaitable[Sequence[str]]]


class AddressBarred(OSError):
    """An address is out of reach. An OSError, because aiohttp's connector expects one from its parts."""


@dataclass(frozen=True, slots=True)
class AddressGate:
    """Lets through the addresses of certain zones; `resolve` returns every address of a name."""

    reach: Reach
    resolve: Resolve

    async def find_addresses(self, host: str) -> Sequence[str]:
        """Return every address of a name. Raises `AddressBarred` if one of them is out of reach."""
        found = await self.resolve(host)
        if not found:
            raise OSError("the name has no address")
        for address in found:
            self.check_address(address)
        return found

    def open_socket(self, dialled: tuple[Any, Any, int, str, Any]) -> socket.socket:
        """Return a socket for one entry of getaddrinfo, just before it is connected."""
        family, kind, protocol, _, address = dialled
        self.check_address(address[0])
        return socket.socket(family, kind, protocol)

    def check_address(self, address: str) -> None:
        """Raise `AddressBarred` for an address out of reach."""
        parsed = ip_address(address)
        where = find_zone(parsed)
        if where is Zone.PUBLIC and belongs_to_this_machine(parsed):
            where = Zone.LOOPBACK
        if where not in self.reach:
            raise AddressBarred(where.value)


def belongs_to_this_machine(address: Address) -> bool:
    """Return whether the kernel would send from this very address. Finding out sends nothing."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(address), 9))
        except OSError:
            return False
        return ip_address(probe.getsockname()[0]) == address
