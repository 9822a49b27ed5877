"""Classify addresses by the part of the internet they belong to."""

from enum import Enum
from ipaddress import IPv4Address, IPv6Address, ip_network

Address = IPv4Address | IPv6Address


class Zone(Enum):
    PUBLIC = "public"
    PRIVATE = "private"
    LOOPBACK = "loopback"
    FORBIDDEN = "forbidden"


Reach = frozenset[Zone]

LOOPBACK = tuple(map(ip_network, ("127.0.0.0/8", "::1/128")))
PRIVATE = tuple(map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")))
FORBIDDEN = tuple(
    map(
        ip_network,
        (
            *(
                "0.0.0.0/8",
                "100.64.0.0/10",
                "169.254.0.0/16",
                "192.0.0.0/24",
                "192.0.2.0/24",
                "192.88.99.0/24",
            ),
            *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
            *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
            # addresses of services that clouds offer to their own machines
            *("168.63.129.16/32", "fd00:ec2::/32", "fd20:ce::/32"),
        ),
    )
)
# All that is allocated for the whole internet (RFC 4291 2.4). Outside it are embedded IPv4 addresses (mapped,
# compatible, translated: RFC 2765, RFC 6052), private ones, and what is reserved.
GIVEN_OUT = ip_network("2000::/3")


def find_zone(address: Address) -> Zone:
    """Return the zone of an address. One within an interface (zone id) is forbidden."""
    if getattr(address, "scope_id", None) is not None:
        return Zone.FORBIDDEN
    if any(address in network for network in LOOPBACK):
        return Zone.LOOPBACK
    if any(address in network for network in FORBIDDEN):
        return Zone.FORBIDDEN
    if any(address in network for network in PRIVATE):
        return Zone.PRIVATE
    given_out = address.version == 4 or address in GIVEN_OUT
    return Zone.PUBLIC if given_out and address.is_global else Zone.FORBIDDEN
