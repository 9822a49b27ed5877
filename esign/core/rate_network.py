"""The network that a rate limit counts an address by, instead of the single address.

A subscriber of IPv6 has at least a /64 (RFC 6177, RFC 7934) and often a /56 or /48, so a limit by address would
have no effect. A /48 may also be a company with many people: it is counted as well, with a limit ten times as
high.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

NARROW, WIDE = 64, 48
LOOSELY = 10  # times as much for a /48 as for a /64


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an address; return an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) as IPv4, and None for other text."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=4096)
def find_network(text: str) -> str:
    """Return an IPv4 address unchanged, the /64 of an IPv6 address, and any other text unchanged."""
    address = read_address(text)
    if isinstance(address, IPv6Address):
        return _prefix(address, NARROW)
    return text if address is None else str(address)


@lru_cache(maxsize=4096)
def find_wide_network(text: str) -> str | None:
    """Return the /48 of an IPv6 address, and None for everything else."""
    address = read_address(text)
    return _prefix(address, WIDE) if isinstance(address, IPv6Address) else None


def list_networks(text: str) -> tuple[tuple[str, int], ...]:
    """Return the keys a limit counts this address by, each with the factor by which its limit is multiplied."""
    wide = find_wide_network(text)
    return ((find_network(text), 1),) if wide is None else ((find_network(text), 1), (wide, LOOSELY))


def _prefix(address: IPv6Address, length: int) -> str:
    return str(IPv6Network((int(address) >> (128 - length) << (128 - length), length)))
