"""The origin of a request: the client's address behind trusted proxies, its user agent, and the site of the page."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network

from starlette.requests import Request

from esign.config import EffectiveSettings
from esign.core.errors import Problem
from esign.core.rate_network import read_address

USER_AGENT_LENGTH = 512
MOST_UNKNOWN = 4  # untrusted proxies that are remembered
SET_UP = re.compile("/(set-up|static)/")  # the page that sets up the first owner, and what it loads


class Proxies:
    """The networks of trusted proxies. With none, which is the default, `X-Forwarded-For` is ignored.

    `unknown` collects addresses of this network that send the header and are not trusted: most likely a proxy that
    the settings do not name.
    """

    def __init__(
        self, networks: Iterable[IPv4Network | IPv6Network] = (), unknown: set[str] | None = None
    ) -> None:
        self._networks = tuple(networks)
        self._unknown = set[str]() if unknown is None else unknown

    def is_trusted(self, address: str) -> bool:
        """Return whether the address belongs to a trusted proxy."""
        if not self._networks:
            return False
        found = read_address(address)
        return found is not None and any(found in network for network in self._networks)

    def find_client(self, peer: str, forwarded: Sequence[bytes]) -> str:
        """Return the client's address: the right-most one that is not a trusted proxy.

        `forwarded` are the values of the X-Forwarded-For headers, in order. An entry that is no address ends
        the search.
        """
        client = normalise_address(peer)
        hops = b",".join(forwarded).decode("latin-1").split(",") if forwarded else []
        if hops and not self.is_trusted(client):
            self._note_unknown(client)
        while hops and self.is_trusted(client):
            hop = read_address(strip_port(hops.pop().strip()))
            if hop is None:
                break
            client = str(hop)
        return client

    def _note_unknown(self, client: str) -> None:
        """Remember a proxy of this network that is not trusted. From anywhere else, anybody may send the header."""
        address = read_address(client)
        if address is not None and address.is_private and len(self._unknown) < MOST_UNKNOWN:
            self._unknown.add(client)


@lru_cache(maxsize=4096)
def normalise_address(text: str) -> str:
    """Return the address in one spelling, or the text itself if it is no address."""
    address = read_address(text)
    return text if address is None else str(address)


def strip_port(hop: str) -> str:
    """Return an entry of X-Forwarded-For without its port. Some proxies write `192.0.2.1:80` or `[2001:db8::1]:80`."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def require_same_origin(request: Request) -> None:
    """Raise `invalid_request` if a page of another site sent the request.

    A program that is not a browser sends neither header and is let through. The origin may also be the address of
    the server, or the one before it, because a proxy may replace the Host header.
    """
    settings: EffectiveSettings = request.app.state.runtime.settings
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    known = (settings.config.server.base_url, settings.chosen.earlier_url)
    own = {request.headers.get("host"), *(get_host(address) for address in known if address)}
    # Behind a proxy that replaces the Host header, nothing names the address before the first owner is set up.
    # There the word of the browser that the page is of the same site is enough, since the path holds a secret.
    is_first = site == "same-origin" and settings.is_address_unset and is_set_up_path(request.url.path)
    host = None if origin is None else get_host(origin)
    if site not in (None, "same-origin") or not (host is None or host in own or (is_first and host)):
        raise Problem("invalid_request", "This can only be sent from the page itself.")


def is_set_up_path(path: str) -> bool:
    """Return whether the path is that of the page that sets up the first owner, or of what it loads."""
    return SET_UP.match(path) is not None


def get_host(origin: str) -> str:
    """Return host and port of an origin such as `https://sign.example.com:8443`, or an empty text."""
    return origin.partition("://")[2]


@lru_cache(maxsize=1024)
def clean_user_agent(value: bytes | None) -> str | None:
    """Return the User-Agent header without control characters, at most 512 bytes of it, or None."""
    if value is None:
        return None
    text = value[:USER_AGENT_LENGTH].decode("utf-8", "replace")
    return "".join(c for c in text if c.isprintable()) or None
