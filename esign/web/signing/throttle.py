"""The limits on requests behind signing links, by link and by address (contract 7)."""

import hashlib
import math
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from esign.config import SigningSettings
from esign.core.errors import Problem, UnknownLink
from esign.core.rate_network import list_networks
from esign.system.clock import Clock
from esign.web.http.ratelimit import REMEMBERED, RateWindows, make_rate_problem

LINKS = ("/s/", "/h/")
TYPING = ("/draft", "/letters")
MORE_PAGES = 10  # the limit on pictures of pages, as a multiple of other reads
MORE_PEOPLE = 10  # the limit of one address, as a multiple of that of one link
BLOCKED = 600.0  # seconds


class LinkThrottle:
    """Counts the requests below /s/ and /h/. An address that tries too many wrong links is blocked for ten minutes."""

    def __init__(
        self, app: ASGIApp, clock: Clock, most: SigningSettings, refuse: Callable[[Scope, Problem], Response]
    ) -> None:
        self._app = app
        self._clock = clock
        self._refuse = refuse
        reads, writes = most.reads_per_minute, most.writes_per_minute
        by_link = {"reads": reads, "writes": writes, "typing": reads, "pages": reads * MORE_PAGES}
        by_address = {f"{name} here": limit * MORE_PEOPLE for name, limit in by_link.items()}
        self._windows = RateWindows(
            clock, {**by_link, **by_address, "wrong links": most.wrong_links_per_minute}
        )
        self._blocked: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].startswith(LINKS):
            await self._app(scope, receive, send)
            return
        address = scope["esign.origin"].ip or "local"
        refusal = self._find_block(address) or self._count_request(scope, address)
        if refusal is not None:
            await self._refuse(scope, refusal)(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            if isinstance(scope.get("esign.problem"), UnknownLink):
                self._note_wrong(address)

    def _count_request(self, scope: Scope, address: str) -> Problem | None:
        """Count the request by address and by link. Return the problem if a limit is exceeded."""
        name, token = choose_policy(scope), scope["path"].split("/")[2]
        link = hashlib.sha256(token.encode()).hexdigest()
        here = self._windows.count_address(f"{name} here", address)
        if here is not None and here.is_exceeded:  # else the refused address would fill the memory with links
            return make_rate_problem(here)
        standing = self._windows.count(name, link)
        return make_rate_problem(standing) if standing is not None and standing.is_exceeded else None

    def _find_block(self, address: str) -> Problem | None:
        """Return the problem while a network of the address is blocked."""
        for network, _ in list_networks(address):
            left = self._blocked.get(network, 0.0) - self._clock.monotonic()
            if left > 0:
                return Problem("rate_limited", "Too many wrong links.", retry_after=math.ceil(left))
            self._blocked.pop(network, None)
        return None

    def _note_wrong(self, address: str) -> None:
        """Count a wrong link, and block the networks of the address that have tried too many."""
        for network, standing in self._windows.count_networks("wrong links", address):
            if standing.is_exceeded:
                if len(self._blocked) >= REMEMBERED:
                    self._blocked.clear()
                self._blocked[network] = self._clock.monotonic() + BLOCKED


def choose_policy(scope: Scope) -> str:
    """Return the policy that a request counts against.

    Requests that the script sends while the recipient types have a policy of their own, so that they do not use
    up what finishing needs.
    """
    if scope["path"].endswith(TYPING):
        return "typing"
    if scope["method"] not in ("GET", "HEAD"):
        return "writes"
    return "pages" if scope["path"].split("/")[3:4] == ["pages"] else "reads"
