"""Time stamps: what an authority says about when it saw a signature, and how such authorities answer."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from esign.core.instant import Instant

LARGEST = 12_288  # bytes of a token; with the certificates up to its root it may well have 9,000


@dataclass(frozen=True, slots=True)
class TimeStamp:
    """`token` is the authority's signed answer (RFC 3161, DER), `at` the time in it, `authority` who signed it."""

    token: bytes
    at: Instant
    authority: str


@dataclass(frozen=True, slots=True)
class Authority:
    """One address of the settings, and what came of asking it last: `error` is None where it gave a time stamp.

    `name` is that in its certificate, since it first answered.
    """

    url: str
    asked_at: Instant | None = None
    error: str | None = None
    name: str | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc
