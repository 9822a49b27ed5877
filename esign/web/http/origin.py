"""Where a request comes from: whose address, through whatever proxies, and which site's page (security.md 2)."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network

from starlette.requests import Request

from esign.core.errors import Problem
from esign.core.network import read_address

USER_AGENT_LENGTH = 512


class Proxies:
    """The trusted proxies; the empty set, the default, makes `X-Forwarded-For` mean nothing."""

    def __init__(self, networks: Iterable[IPv4Network | IPv6Network] = ()) -> None:
        self._networks = tuple(networks)

    def trust(self, address: str) -> bool:
        if not self._networks:
            return False
        found = read_address(address)
        return found is not None and any(found in network for network in self._networks)

    def client(self, peer: str, forwarded: Sequence[bytes]) -> str:
        """The right-most address that no trusted proxy vouches for; `forwarded`: the headers in order."""
        client = plain(peer)
        hops = b",".join(forwarded).decode("latin-1").split(",") if forwarded else []
        while hops and self.trust(client):
            hop = read_address(without_port(hops.pop().strip()))
            if hop is None:
                break
            client = str(hop)
        return client


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """One spelling per address."""
    address = read_address(text)
    return text if address is None else str(address)


def without_port(hop: str) -> str:
    """Some proxies write `192.0.2.1:80` or `[2001:db8::1]:80`."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def same_origin(request: Request) -> None:
    """Refuse what another site's page sent; a program that is no browser names no origin.

    A proxy may have put the host that it asks in place of the one that the browser knows.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own = request.headers.get("host"), host_of(request.app.state.runtime.config.server.base_url)
    if site not in (None, "same-origin") or (origin is not None and host_of(origin) not in own):
        raise Problem("invalid_request", "This can only be sent from the page itself.")


def host_of(origin: str) -> str:
    """Host and port of `https://sign.example.com:8443`, whatever else the text may be."""
    return origin.partition("://")[2]


def user_agent(value: bytes | None) -> str | None:
    """As the browser wrote it, cut, without control characters."""
    if value is None:
        return None
    text = value[:USER_AGENT_LENGTH].decode("utf-8", "replace")
    return "".join(c for c in text if c.isprintable()) or None
