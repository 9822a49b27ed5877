"""Content encoding: which answers are compressed, and how.

Text above 1 kB is compressed with gzip for clients that accept it. What is sent again and again is compressed once,
by its first request. There is no brotli: it would save a tenth of a page more and cost a dependency in C.
The rules against BREACH are in docs/dev/security.md, section 3.
"""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from starlette.responses import Response
from starlette.types import Scope

from esign.web.http.body import run_in_thread_if_large

LEAST = 1024  # bytes below which compressing saves no packet
# Levels of gzip. A list of 100 documents takes 1 ms at the first; what is kept is compressed once.
QUICK, PAGE, THOROUGH = 3, 6, 9
GZIP = re.compile(rb"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q\s*=\s*([0-9.]+)\s*)?(?=,|$)", re.IGNORECASE)
ENCODED = {"Content-Encoding": "gzip"}
VARY = {"Vary": "Accept-Encoding"}


def can_take_gzip(scope: Scope) -> bool:
    """Return whether the answer may be compressed: the client accepts gzip, and no other site has chosen its content.

    A query that another site made a browser send may come back beside secrets of the reader (BREACH).
    """
    accepted = elsewhere = False
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            accepted = accepted or accepts_gzip(value)
        elif name == b"sec-fetch-site":
            elsewhere = value in (b"cross-site", b"same-site")
    return accepted and not (elsewhere and scope.get("query_string"))


@lru_cache(64)
def accepts_gzip(header: bytes) -> bool:
    """Return whether a value of `Accept-Encoding` names gzip, or anything, with a weight above 0 (RFC 9110, 12.5.3)."""
    found = GZIP.search(header)
    return found is not None and (found[1] is None or found[1].strip(b"0.") != b"")


async def encode(scope: Scope, body: bytes, level: int = QUICK) -> tuple[bytes, Mapping[str, str]]:
    """Return a body as the client takes it, and the headers that say so. Other requests do not wait for a large one."""
    if len(body) <= LEAST:
        return body, {}
    if not can_take_gzip(scope):
        return body, VARY
    packed = await run_in_thread_if_large(body, gzip.compress, body, level, mtime=0)
    return packed, {**VARY, **ENCODED}


@dataclass(frozen=True)
class KeptBody:
    """A body that is sent again and again."""

    media: str
    plain: bytes

    @cached_property
    def packed(self) -> bytes | None:
        """Return the gzip form, or None where compressing saves less than a tenth. The first request makes it."""
        packed = gzip.compress(self.plain, THOROUGH, mtime=0)
        return packed if len(packed) < 0.9 * len(self.plain) else None

    def pack(self) -> bytes | None:
        """Return `packed`: as a method, it can run in a thread."""
        return self.packed

    async def respond(self, scope: Scope, headers: Mapping[str, str]) -> Response:
        """Return the response with this body, in the encoding that the client takes."""
        body, told = self.plain, {**headers, **VARY}
        if (
            can_take_gzip(scope)
            and (packed := await run_in_thread_if_large(self.plain, self.pack)) is not None
        ):
            body, told = packed, told | ENCODED
        return Response(body, headers=told, media_type=self.media)
