"""Send requests to addresses that customers or certificates name, as far as the rules allow."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from esign.core.errors import Problem
from esign.core.sentence import mark, say
from esign.net.address_gate import AddressGate, Resolve
from esign.net.answer import EndpointAnswer, RequestFailed, TargetRefused
from esign.net.cares_resolver import NameResolver
from esign.net.target import TargetRules, WebhookTarget
from esign.net.time_limits import USUAL, TimeLimits
from esign.net.zones import Reach
from esign.system.clock import Clock

if TYPE_CHECKING:
    import ssl

    from esign.net.session import HttpSession

JUDGED = 1_000  # targets whose parsed spelling is cached between attempts


class OutboundClient:
    """The only way out for webhooks, and to the addresses in certificates; call `close` at the end.

    Connections to a host are reused for a moment. `find_rules` returns what is allowed now. `resolve` returns
    every address of a name (OSError if there is none); `tls` replaces the system's trust store.
    """

    def __init__(
        self,
        find_rules: Callable[[], TargetRules],
        clock: Clock,
        *,
        resolve: Resolve | None = None,
        tls: "ssl.SSLContext | None" = None,
    ) -> None:
        self._find_rules = find_rules
        self._rules = find_rules()
        self._judged = lru_cache(JUDGED)(self._rules.check_target)
        self._clock = clock
        self._resolver = NameResolver()
        self._resolve = resolve or self._resolver
        self._tls = tls
        self._sessions: dict[Reach, HttpSession] = {}

    def check(self, url: str, *, plain_allowed: bool) -> None:
        """Raise Problem `invalid_webhook_url` at registration for an address that no attempt would be allowed
        to reach.
        """
        self._find_rules().check_target(url, plain_allowed=plain_allowed)

    async def post(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        plain_allowed: bool = False,
        limits: TimeLimits = USUAL,
    ) -> EndpointAnswer:
        """Send one POST and return the answer.

        Redirects are not followed. Raises `TargetRefused` or `RequestFailed`.
        """
        target, reach = self._check_target(url, plain_allowed=plain_allowed)
        began = self._clock.monotonic()
        status, said, kept = await self._open_session(reach).ask(target.url, body, headers, limits)
        return EndpointAnswer(status, said, kept, round((self._clock.monotonic() - began) * 1_000))

    async def fetch(self, url: str, question: bytes | None, headers: Mapping[str, str], most: int) -> bytes:
        """Return the body of a GET, or of the answer to a question; plain http is allowed. Raises `TargetRefused`
        or `RequestFailed`.

        A body of more than `most` bytes is a failure. The content has to be signed, so that nothing depends on
        the transport.
        """
        target, reach = self._check_target(url, plain_allowed=True)
        status, _, kept = await self._open_session(reach).ask(target.url, question, headers, USUAL, most + 1)
        if status != 200:
            raise RequestFailed(say("status: the answer is {status}", status=status))
        if len(kept) > most:
            raise RequestFailed("too_long: there is too much text")
        return kept

    def _check_target(self, url: str, *, plain_allowed: bool) -> tuple[WebhookTarget, Reach]:
        if (rules := self._find_rules()) != self._rules:
            self._rules, self._judged = rules, lru_cache(JUDGED)(rules.check_target)
        try:
            return self._judged(url, plain_allowed=plain_allowed)
        except Problem as problem:
            raise TargetRefused(say("address_refused: {reason}", reason=mark(problem.message))) from problem

    async def close(self) -> None:
        sessions = list(self._sessions.values())
        self._sessions.clear()
        for session in sessions:
            await session.close()
        await self._resolver.close()

    def _open_session(self, reach: Reach) -> "HttpSession":
        from esign.net.session import HttpSession

        if reach not in self._sessions:
            self._sessions[reach] = HttpSession(AddressGate(reach, self._resolve), self._tls)
        return self._sessions[reach]
