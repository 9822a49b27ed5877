"""Time stamps, and how the time-stamp authorities of the settings last answered."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from esign.core.instant import Instant

LARGEST = 12_288  # bytes of a token; with the certificates up to its root it may well have 9,000


@dataclass(frozen=True, slots=True)
class TimeStamp:
    """A time stamp: `token` is the signed answer (RFC 3161, DER), `at` its time, `authority` the name of its
    signer.
    """

    token: bytes
    at: Instant
    authority: str


@dataclass(frozen=True, slots=True)
class TimeStampAuthority:
    """A time-stamp authority of the settings, and the result of the last request to it.

    `error` is None when that request returned a time stamp. `name` is the name in its certificate, known after
    its first answer.
    """

    url: str
    asked_at: Instant | None = None
    error: str | None = None
    name: str | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc
