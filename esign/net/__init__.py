"""Outbound HTTP for webhooks (`zones`, `target`, `outbound`) and for addresses in the settings (`direct_client`).

`direct_client` reaches private addresses too, because the administrator of this machine chose them.

- The addresses to which a target may lead are a set of zones, derived from its spelling and the settings alone:
  once at registration and again at each attempt, because the settings may have changed.
- Names that customers chose are looked up by c-ares (`cares_resolver`), those of the settings by the system in
  separate threads (`esign.system.system_lookup`): a name server that hangs delays neither other work nor the
  end of the program.
- There is one connection pool for each set of zones. It looks up a name when it opens a connection, checks
  every address of the answer, and checks the one it dials once more at the socket, so that nothing happens
  between check and connect. A kept connection was checked when it was dialled.
- Connections are kept for only 2 s: servers drop idle ones after 5 s, and a POST lost in that race cannot be
  repeated blindly.
- There is a list of networks of our own besides `is_global`, which calls multicast, NAT64, 6to4 and more
  public.
- Link-local addresses (cloud metadata) stay forbidden when private ones are allowed: only listing the very
  address opens them. A public address of this machine counts as loopback.
- aiohttp is imported by the first delivery (`session`), not at the start.
"""

from esign.net.answer import EndpointAnswer, RequestFailed, TargetRefused
from esign.net.direct_client import DirectClient
from esign.net.outbound import OutboundClient
from esign.net.target import TargetRules
from esign.net.time_limits import TimeLimits

__all__ = [
    "DirectClient",
    "EndpointAnswer",
    "OutboundClient",
    "RequestFailed",
    "TargetRefused",
    "TargetRules",
    "TimeLimits",
]
