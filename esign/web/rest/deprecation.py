"""The deprecation of an endpoint: its headers, its note in the description, and its end (contract 9)."""

from dataclasses import dataclass
from email.utils import format_datetime

from esign.core.instant import DAY, SECOND, Instant, rfc3339, to_datetime
from esign.web.http.answer import encode_headers

NOTICE = 180 * DAY  # at least six months (contract 9)


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A deprecation notice.

    `link` leads to the documentation of the replacement. From `sunset` on the endpoint no longer exists.
    """

    since: Instant
    link: str
    sunset: Instant | None = None
    successor: str | None = None

    def __post_init__(self) -> None:
        if self.sunset is not None and self.sunset < self.since + NOTICE:
            raise ValueError("what is deprecated stays for six months or more")

    def is_over(self, now: Instant) -> bool:
        """Return whether the endpoint no longer exists at `now`."""
        return self.sunset is not None and now >= self.sunset

    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Return the headers `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link`."""
        said = [("Deprecation", f"@{self.since // SECOND}"), ("Link", f'<{self.link}>; rel="deprecation"')]
        if self.sunset is not None:
            said.append(("Sunset", format_datetime(to_datetime(self.sunset), usegmt=True)))
        if self.successor is not None:
            said.append(("Link", f'<{self.successor}>; rel="successor-version"'))
        return encode_headers(said)

    def words(self) -> str:
        """Return the sentence for the description of the endpoint."""
        end = "" if self.sunset is None else f", gone from {rfc3339(self.sunset)[:10]} on"
        return f"Deprecated since {rfc3339(self.since)[:10]}{end}: see {self.link}."
