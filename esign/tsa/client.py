"""Ask the configured authorities for time stamps, in their order, until one gives a usable one."""

import asyncio
import base64
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from esign.config import RemoteAddress
from esign.core.sentence import say
from esign.core.timestamp import TimeStamp, TimeStampAuthority
from esign.net import DirectClient, RequestFailed
from esign.net.time_limits import TimeLimits
from esign.system.clock import Clock
from esign.system.entropy import make_nonce

ALL_OF_IT = 10.0  # seconds
CONNECT = 5.0
LARGEST = 16 * 1024  # bytes of an answer: a token and a little around it
LAST_FOR = 60.0  # seconds for which an authority that failed is asked after the others
QUIET = 10.0  # seconds for which no authority is asked again after all have failed
HEADERS = {"Content-Type": "application/timestamp-query", "Accept": "application/timestamp-reply"}
REFUSED = "it rejects the user name and password of its address in seal.tsa_urls"
ASKED = "it asks for a user name and password. Add them to its address in seal.tsa_urls"


class NoTimeStamp(Exception):
    """No authority issued a time stamp; `reason` is a sentence that tells the operator what to do."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TimeStampClient:
    """The client of all configured authorities. The caller closes `http`."""

    def __init__(
        self, remotes: Sequence[RemoteAddress], http: DirectClient, clock: Clock, timeout: float = ALL_OF_IT
    ) -> None:
        self._known = {remote.url: TimeStampAuthority(remote.url) for remote in remotes}
        self._logins = {remote.url: remote.login for remote in remotes}
        self._failed: dict[str, float] = {}
        self._quiet: tuple[float, str] | None = None
        self._is_probing = False
        self._http = http
        self._clock = clock
        self._timeout = timeout

    @property
    def authorities(self) -> tuple[TimeStampAuthority, ...]:
        """Return how each authority answered last, in the order of the settings."""
        return tuple(self._known.values())

    def remember_states(self, known: Sequence[TimeStampAuthority]) -> None:
        """Take over the states from before this start; authorities that are no longer in the settings are ignored."""
        self._known |= {each.url: each for each in known if each.url in self._known}

    @property
    def breaker(self) -> Literal["closed", "open", "half_open"]:
        """Return whether requests go out, all fail at once, or one may try whether an authority answers again."""
        if self._quiet is None:
            return "closed"
        is_resting = self._clock.monotonic() - self._quiet[0] < QUIET
        return "open" if is_resting else "half_open"

    def require_answering(self) -> None:
        """Raise `NoTimeStamp` if all authorities failed within the last seconds, or one is being tried again."""
        if self._quiet is not None and (self.breaker == "open" or self._is_probing):
            raise NoTimeStamp(self._quiet[1])

    async def stamp_signatures(self, signatures: Sequence[bytes]) -> tuple[TimeStamp, ...]:
        """Return one time stamp for each signature, all from the same authority. Raises `NoTimeStamp`.

        After all authorities failed, one call asks them again while the others fail at once.
        """
        self.require_answering()
        if self._quiet is None:
            return await self._ask_all(signatures)
        self._is_probing = True
        try:
            return await self._ask_all(signatures)
        finally:
            self._is_probing = False

    async def _ask_all(self, signatures: Sequence[bytes]) -> tuple[TimeStamp, ...]:
        errors: dict[str, str] = {}
        for url in self._order_addresses():
            outcome = await self._ask_authority(url, signatures)
            if not isinstance(outcome, str):
                return outcome
            errors[url] = outcome
        said = "; ".join(f"{self._known[url].host}: {errors[url]}" for url in self._known)
        reason = say("No authority issued a time stamp. {answers}.", answers=said)
        self._quiet = (self._clock.monotonic(), reason)
        raise NoTimeStamp(reason)

    def _order_addresses(self) -> list[str]:
        """Return the addresses in the order of the settings, with those that failed recently last."""
        now = self._clock.monotonic()
        return sorted(self._known, key=lambda url: now - self._failed.get(url, -LAST_FOR) < LAST_FOR)

    async def _ask_authority(self, url: str, signatures: Sequence[bytes]) -> tuple[TimeStamp, ...] | str:
        """Return the time stamps of one authority, or the reason why there are none."""
        found = await asyncio.gather(*(self._ask_once(url, signature) for signature in signatures))
        errors = [each for each in found if isinstance(each, str)]
        known = replace(self._known[url], asked_at=self._clock.now(), error=errors[0] if errors else None)
        if errors:
            self._failed[url] = self._clock.monotonic()
        stamps = tuple(each for each in found if not isinstance(each, str))
        self._known[url] = replace(known, name=stamps[0].authority) if stamps else known
        if not errors:
            self._failed.pop(url, None)
            self._quiet = None
        return errors[0] if errors else stamps

    def _build_headers(self, url: str) -> dict[str, str]:
        """Return the request headers, with user name and password as in RFC 7617 if the address has any."""
        login = self._logins[url]
        if login is None:
            return HEADERS
        encoded = base64.b64encode(login.get_secret_value().encode()).decode()
        return {**HEADERS, "Authorization": f"Basic {encoded}"}

    async def _ask_once(self, url: str, signature: bytes) -> TimeStamp | str:
        from esign.tsa import token  # imported late, because only this needs its ASN.1 library

        digest, nonce = hashlib.sha256(signature).digest(), make_nonce()
        body = token.write_request(digest, nonce)
        try:
            status, answer = await self._http.post(
                url,
                body,
                self._build_headers(url),
                TimeLimits(self._timeout, CONNECT),
                most=LARGEST,
            )
            if status == 401:
                return REFUSED if self._logins[url] else ASKED
            if status != 200:
                return say("it answered with HTTP status {status}", status=status)
            if len(answer) > LARGEST:
                return say("its answer has more than {most:,} bytes", most=LARGEST)
            return token.check_answer(answer, digest, nonce, self._clock.now())
        except RequestFailed as failure:
            return str(failure).partition(": ")[2]
        except token.UnusableToken as unusable:
            return str(unusable)
