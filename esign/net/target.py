"""Parse the address of a webhook, and decide whether the rules of contract 5 allow it."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from urllib.parse import quote

import idna

from esign.core.errors import Problem
from esign.core.sentence import say
from esign.net.zones import Address, Reach, Zone, find_zone

CODE = "invalid_webhook_url"
LONGEST = 2_048
DEFAULT_PORTS = {"https": 443, "http": 80}
LOOPBACK_SPELLINGS = frozenset({"localhost", "127.0.0.1", "::1"})

NO_PLAIN = (
    "This address cannot receive webhooks: http is only for test keys and for hosts listed in [webhooks] allow_hosts;"
    " use https."
)
WAY_OUT = {
    Zone.PUBLIC: NO_PLAIN,
    Zone.PRIVATE: "This address cannot receive webhooks: it is private; [webhooks] allow_hosts or"
    " allow_private = true would allow it.",
    Zone.LOOPBACK: "This address cannot receive webhooks: it is this server; [webhooks] allow_hosts or"
    " allow_private = true would allow it.",
    Zone.FORBIDDEN: "This address cannot receive webhooks: it is not a public address; only listing it in [webhooks]"
    " allow_hosts would allow it.",
}
NOT_PLAIN = "This address cannot receive webhooks: its host is not written plainly."


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """A parsed address: `host` is a lower-case ASCII name or a plain literal, `rest` is path and query."""

    scheme: str
    host: str
    port: int
    rest: str

    @property
    def literal(self) -> Address | None:
        return _parse_literal(self.host)

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.rest}"


@dataclass(frozen=True, slots=True)
class TargetRules:
    """What an installation allows beyond public https (contract 5, Target).

    `allow_hosts` are names or addresses. `loopback_allowed` says that the installation's own base address is
    loopback.
    """

    allow_hosts: Collection[str] = ()
    allow_private: bool = False
    loopback_allowed: bool = False

    def check_target(self, url: str, *, plain_allowed: bool) -> tuple[WebhookTarget, Reach]:
        """Return the target and its zones. Raises Problem `invalid_webhook_url`. Names are not looked up."""
        target = parse_target(url)
        reach = self.find_reach(target, plain_allowed=plain_allowed)
        if not _is_port_allowed(target):
            raise Problem(
                CODE,
                "This address cannot receive webhooks: use port 443 or one from 1024 to 65535; with http also port 80.",
            )
        known = _find_known_zone(target)
        if known is None and not reach:
            raise Problem(CODE, NO_PLAIN)
        if known is not None and known not in reach:
            raise Problem(CODE, WAY_OUT[known])
        return target, reach

    def find_reach(self, target: WebhookTarget, *, plain_allowed: bool) -> Reach:
        """Return the zones whose addresses this target may lead to."""
        zones: set[Zone] = set()
        if target.scheme == "https" or plain_allowed:
            zones.add(Zone.PUBLIC)
        if self.allow_private:
            zones |= {Zone.PRIVATE, Zone.LOOPBACK}
        if self.loopback_allowed and target.host in LOOPBACK_SPELLINGS:
            zones.add(Zone.LOOPBACK)
        if target.host in map(_normalise_listed_host, self.allow_hosts):
            zones |= set(Zone) if target.literal else set(Zone) - {Zone.FORBIDDEN}
        return frozenset(zones)


def parse_target(url: str) -> WebhookTarget:
    """Parse an http(s) address in its plain spelling. Raises Problem `invalid_webhook_url` for any other."""
    if len(url) > LONGEST:
        raise Problem(
            CODE,
            say(
                "This address cannot receive webhooks: it is longer than {longest} characters.",
                longest=LONGEST,
            ),
        )
    match = _SHAPE.fullmatch(url)
    if match is None or _CONFUSING.search(url):
        raise Problem(CODE, "This address cannot receive webhooks: write it as https://host/path.")
    if "@" in match["authority"]:
        raise Problem(
            CODE, "This address cannot receive webhooks: it must not contain a user name or password."
        )
    place = _PLACE.fullmatch(match["authority"])
    if place is None:
        raise Problem(CODE, "This address cannot receive webhooks: its host or port is not written plainly.")
    scheme = match["scheme"].lower()
    port = int(place["port"] or DEFAULT_PORTS[scheme])
    rest = quote(match["rest"], safe="/?:@!$&'()*+,;=%[]")
    return WebhookTarget(
        scheme, _normalise_host(place["host"]), port, rest if rest.startswith("/") else "/" + rest
    )


_SHAPE = re.compile(r"(?P<scheme>(?i:https?))://(?P<authority>[^/?#]+)(?P<rest>[^#]*)(?:#.*)?")
_CONFUSING = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ud800-\udfff]")
_PLACE = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::(?P<port>[0-9]{1,5})?)?")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_OTHER_DOTS = re.compile("[\u3002\uff0e\uff61]")


def _normalise_host(spelt: str) -> str:
    """Return the one spelling of a host; unusual spellings are refused, since they serve to evade checks like
    these.
    """
    if spelt.startswith("["):
        return _normalise_ipv6(spelt[1:-1])
    if _OTHER_DOTS.search(spelt):
        raise Problem(CODE, NOT_PLAIN)
    host = _encode_host(spelt.lower())
    labels = host.split(".")
    if len(host) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise Problem(CODE, "This address cannot receive webhooks: its host is not a valid name.")
    if _NUMBER.fullmatch(labels[-1]) and _parse_literal(host) is None:
        raise Problem(
            CODE, "This address cannot receive webhooks: write an IPv4 address as four decimal numbers."
        )
    return host


def _normalise_ipv6(spelt: str) -> str:
    try:
        address = IPv6Address(spelt)
    except ValueError as error:
        raise Problem(
            CODE, "This address cannot receive webhooks: its host is not an IPv6 address."
        ) from error
    if address.is_loopback and spelt != "::1":
        raise Problem(CODE, NOT_PLAIN)
    return str(address)


def _encode_host(name: str) -> str:
    if name.isascii():
        return name
    try:
        return idna.encode(name).decode()
    except idna.IDNAError as error:
        raise Problem(
            CODE, "This address cannot receive webhooks: its host is not a valid internationalised name."
        ) from error


def _normalise_listed_host(listed: str) -> str:
    """Return a host of the settings in the spelling of `WebhookTarget.host`."""
    host = listed.strip("[] ").lower()
    return str(_parse_literal(host) or _encode_host(host))


def _parse_literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _find_known_zone(target: WebhookTarget) -> Zone | None:
    """Return the zone that follows from the spelling alone, or None."""
    if target.host == "localhost" or target.host.endswith(".localhost"):
        return Zone.LOOPBACK
    return find_zone(target.literal) if target.literal else None


def _is_port_allowed(target: WebhookTarget) -> bool:
    if target.port == DEFAULT_PORTS["http"]:
        return target.scheme == "http"
    return target.port == 443 or 1_024 <= target.port <= 65_535
