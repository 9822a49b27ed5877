"""How often somebody may ask behind signing links, by link and by address (docs/dev/security.md 4)."""

import hashlib
import math
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from esign.config import Signing
from esign.core.errors import Problem, UnknownLink
from esign.core.network import networks_of
from esign.system.clock import Clock
from esign.web.http.ratelimit import REMEMBERED, Windows, too_many

LINKS = ("/s/", "/h/")
TYPING = ("/draft", "/letters")
MORE_PAGES = 10  # times as many as other reads
MORE_PEOPLE = 10  # at one address, times as many as behind one link
BLOCKED = 600.0  # seconds


class Throttle:
    """In front of the pages: counts what is below /s/ and /h/; who tries too many wrong links waits ten minutes."""

    def __init__(
        self, app: ASGIApp, clock: Clock, most: Signing, refuse: Callable[[Scope, Problem], Response]
    ) -> None:
        self._app = app
        self._clock = clock
        self._refuse = refuse
        reads, writes = most.reads_per_minute, most.writes_per_minute
        by_link = {"reads": reads, "writes": writes, "typing": reads, "pages": reads * MORE_PAGES}
        by_address = {f"{name} here": limit * MORE_PEOPLE for name, limit in by_link.items()}
        self._windows = Windows(clock, {**by_link, **by_address, "wrong links": most.wrong_links_per_minute})
        self._blocked: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].startswith(LINKS):
            await self._app(scope, receive, send)
            return
        address = scope["esign.origin"].ip or "local"
        refusal = self._still_blocked(address) or self._too_often(scope, address)
        if refusal is not None:
            await self._refuse(scope, refusal)(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            if isinstance(scope.get("esign.problem"), UnknownLink):
                self._note_wrong(address)

    def _too_often(self, scope: Scope, address: str) -> Problem | None:
        name, token = policy(scope), scope["path"].split("/")[2]
        link = hashlib.sha256(token.encode()).hexdigest()
        here = self._windows.count_address(f"{name} here", address)
        if here is not None and here.exceeded:  # links of whoever is refused fill no memory
            return too_many(here)
        standing = self._windows.count(name, link)
        return too_many(standing) if standing is not None and standing.exceeded else None

    def _still_blocked(self, address: str) -> Problem | None:
        for network, _ in networks_of(address):
            left = self._blocked.get(network, 0.0) - self._clock.monotonic()
            if left > 0:
                return Problem("rate_limited", "Too many wrong links.", retry_after=math.ceil(left))
            self._blocked.pop(network, None)
        return None

    def _note_wrong(self, address: str) -> None:
        for network, standing in self._windows.count_networks("wrong links", address):
            if standing.exceeded:
                if len(self._blocked) >= REMEMBERED:
                    self._blocked.clear()
                self._blocked[network] = self._clock.monotonic() + BLOCKED


def policy(scope: Scope) -> str:
    """What is sent while somebody types must not use up what finishing needs."""
    if scope["path"].endswith(TYPING):
        return "typing"
    if scope["method"] not in ("GET", "HEAD"):
        return "writes"
    return "pages" if scope["path"].split("/")[3:4] == ["pages"] else "reads"
