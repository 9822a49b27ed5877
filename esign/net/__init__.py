"""Outbound HTTP: for webhooks, where it may go (`zones`, `target`) and going there (`outbound`); for the addresses of
the settings `direct`, which reaches private ones too, because whoever wrote them runs this machine.

- Which addresses a target may lead to is a set of zones, worked out from its spelling and the settings alone:
  once at registration and again at each attempt, because the settings may have changed.
- Names that strangers chose are looked up by c-ares (`resolver`), those of the settings by the system in threads of its
  own (`esign.lookup`): a name server that hangs holds up neither other work nor the end of the program.
- There is one connection pool per set of zones. It looks up a name when it opens a connection, checks every
  address of the answer and the one it dials once more at the socket: nothing lies between check and connect.
  A connection that is kept was checked when it was dialled.
- Connections are kept for 2 s only: servers drop idle ones after 5 s, and a POST lost in that race cannot be
  repeated blindly.
- An own list of networks beside `is_global`, which calls multicast, NAT64, 6to4 and more public.
- Link-local addresses (cloud metadata) stay forbidden when private ones are allowed: only listing the very
  address opens them. A public address of this machine counts as loopback.
- aiohttp is imported by the first delivery (`session`), not by the start.
"""

from esign.net.answer import Answer, Failed, Refused
from esign.net.direct import Direct
from esign.net.outbound import Outbound
from esign.net.target import Rules

__all__ = ["Answer", "Direct", "Failed", "Outbound", "Refused", "Rules"]
