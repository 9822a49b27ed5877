"""Whose address a limit counts: the network that one subscriber is given, and not the single address.

A subscriber of IPv6 has at least a /64 (RFC 6177, RFC 7934) and often a /56 or /48, so that a limit by address would
limit nobody. A /48 may also be a company with many people: it is counted as well, but loosely.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

NARROW, WIDE = 64, 48
LOOSELY = 10  # times as much for a /48 as for a /64


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address, an IPv4 one written as IPv6 (`::ffff:192.0.2.1`) as what it is; None for other text."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=4096)
def network_of(text: str) -> str:
    """Return an IPv4 address itself, the /64 of an IPv6 address, and any other text as it is."""
    address = read_address(text)
    if isinstance(address, IPv6Address):
        return _prefix(address, NARROW)
    return text if address is None else str(address)


@lru_cache(maxsize=4096)
def wide_network_of(text: str) -> str | None:
    """Return the /48 of an IPv6 address, None for all else."""
    address = read_address(text)
    return _prefix(address, WIDE) if isinstance(address, IPv6Address) else None


def networks_of(text: str) -> tuple[tuple[str, int], ...]:
    """Return what a limit counts this address by, each with the number of times the limit that it may take."""
    wide = wide_network_of(text)
    return ((network_of(text), 1),) if wide is None else ((network_of(text), 1), (wide, LOOSELY))


def _prefix(address: IPv6Address, length: int) -> str:
    return str(IPv6Network((int(address) >> (128 - length) << (128 - length), length)))
