"""The outermost door: what a request must look like before anything reads it (docs/dev/security.md 2).

It names every request (`X-Request-Id`), finds out whose it is, and writes one line about it into the log.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable
from itertools import count

import orjson
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from esign.core.actor import Origin
from esign.core.errors import Problem
from esign.core.instant import Instant, rfc3339
from esign.pdf.worker.queue_turn import calling
from esign.system.clock import Clock
from esign.system.entropy import CROCKFORD, new_id
from esign.web.http import errors
from esign.web.http.answer import CLOSE
from esign.web.http.origin import Proxies, user_agent

log = logging.getLogger("esign.access")

HEADERS = 64
HEADER_BYTES = 32 * 2**10
ONE_HEADER = 8 * 2**10
TARGET = 8 * 2**10
TOO_LARGE = "The head of the request is too large: 64 headers of 8 KiB, 32 KiB in all, an address of 8 KiB."
LOOPBACK = frozenset({b"localhost", b"127.0.0.1", b"[::1]"})
UNASKED = frozenset({"/healthz", "/readyz"})
HOST = re.compile(rb"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", re.IGNORECASE)
TRICKS = re.compile(rb"//|/(\.|%2e){1,2}(/|$)|%00|[\x00-\x20\x7f-\xff\\]|%(?![0-9a-f]{2})", re.IGNORECASE)
LONG_SEGMENT = re.compile(r"/[^/]{16,}")
PAIRS = [first + second for first in CROCKFORD for second in CROCKFORD]
LINK = re.compile(r"^/(s|h|download|set-up|invitation|password)/[^/]+")


class Guard:
    """Wraps the whole application; `hosts` are the names it answers to besides those of this machine."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Iterable[str],
        clock: Clock,
        proxies: Proxies | None = None,
        refuse: Callable[[Scope, Problem], Response] = errors.as_json,
    ) -> None:
        self._app = app
        self._refuse = refuse
        self._hosts = LOOPBACK | {bracketed(host).lower().encode() for host in hosts}
        self._clock = clock
        self._proxies = proxies or Proxies()
        self._names = Names(clock.now())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = self._clock.monotonic()
        now = self._clock.now()
        request_id = scope["esign.request_id"] = self._names.next(now)
        status, complete = 0, False

        async def named(message: Message) -> None:
            nonlocal status, complete
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
                if expecting:
                    message["headers"].append(CLOSE)
            else:
                complete = not message.get("more_body", False)
            await send(message)

        expecting = False
        try:
            expecting = self._read(scope)
            with calling(scope.get("esign.gone")):
                await self._app(scope, receive, named)
        except asyncio.CancelledError:  # the server stops, and this request has had its time
            if not status:
                gone = Problem("unavailable", retry_after=1, headers={"Connection": "close"})
                await self._refuse(scope, gone)(scope, receive, named)
        except ClientDisconnect:
            log.debug("request %s: the client left", request_id)
        except Problem as problem:
            await self._refuse(scope, problem)(scope, receive, named)
        except Exception as error:
            errors.log_unexpected(error, request_id)
            if not status:
                await self._refuse(scope, Problem("internal_error"))(scope, receive, named)
            elif not complete:
                raise Broken from None
        finally:
            if log.isEnabledFor(logging.INFO):
                text = line(scope, now, status, self._clock.monotonic() - begun)
                log.handle(log.makeRecord(log.name, logging.INFO, __name__, 0, text, (), None))

    def _read(self, scope: Scope) -> bool:
        """Check the head and put down the origin; whether the client waits to be asked for the body."""
        hosts: list[bytes] = []
        forwarded: list[bytes] = []
        size = 0
        agent = None
        expecting = False
        media = 0
        for name, value in scope["headers"]:
            size += len(name) + len(value)
            if len(value) > ONE_HEADER and name != b"authorization":
                raise Problem("invalid_request", TOO_LARGE)
            if name == b"host":
                hosts.append(value)
            elif name == b"content-type":
                media += 1
            elif name == b"x-forwarded-for":
                forwarded.append(value)
            elif name == b"user-agent":
                agent = value
            elif name == b"expect":
                expecting = True
        if scope["client"]:
            scope["client"] = (self._proxies.client(scope["client"][0], forwarded), 0)
        scope["esign.origin"] = Origin(address(scope), user_agent(agent))
        target = len(scope["raw_path"]) + len(scope["query_string"])
        if len(scope["headers"]) > HEADERS or size > HEADER_BYTES or target > TARGET:
            raise Problem("invalid_request", TOO_LARGE)
        if media > 1:  # two readers would take the body for two different things
            raise Problem("invalid_request", "The header Content-Type is given more than once.")
        if TRICKS.search(scope["raw_path"]) or b"%00" in scope["query_string"]:
            raise Problem("invalid_request", "The address is not in its plain form.")
        if not self._known(hosts) and scope["path"] not in UNASKED:
            raise Problem("invalid_request", "This is not a host name of this installation.")
        return expecting

    def _known(self, hosts: list[bytes]) -> bool:
        found = HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        return found is not None and found[1].lower() in self._hosts


class Names:
    """Request ids: as `new_id` writes them, but drawn once and then counted, since they name and guard nothing.

    Two system calls for random bits with each request took a tenth of its time.
    """

    def __init__(self, now: Instant) -> None:
        self._drawn = new_id("req", now)[14:26]
        self._counter = count()
        self._at = -1
        self._time = ""

    def next(self, now: Instant) -> str:
        if now != self._at:
            self._at, self._time = now, digits(now, 10)
        return f"req_{self._time}{self._drawn}{digits(next(self._counter), 4)}"


def digits(number: int, length: int) -> str:
    """The last `length` digits of a number, as ids write them; `length` is even."""
    return "".join(PAIRS[number >> shift & 1023] for shift in range(5 * length - 10, -1, -10))


class Broken(Exception):
    """An answer failed half-way: the connection must end, so that nobody takes it for a whole one."""


def bracketed(host: str) -> str:
    """A literal IPv6 address stands in brackets in a Host header."""
    return f"[{host}]" if ":" in host else host


def address(scope: Scope) -> str | None:
    """Whose request it is; None on a socket that has no addresses."""
    return scope["client"][0] if scope["client"] else None


def line(scope: Scope, now: int, status: int, seconds: float) -> str:
    """One request as JSON; tokens and ids in a path are masked."""
    return orjson.dumps(
        {
            "at": rfc3339(now),
            "event": "request",
            "requestId": scope["esign.request_id"],
            "method": scope["method"],
            "path": scope.get("esign.route") or masked(scope["raw_path"].decode("latin-1")),
            "status": status,
            "ms": round(seconds * 1000, 1),
            "ip": address(scope),
            "keyId": scope.get("esign.key_id"),
        }
    ).decode()


def masked(path: str) -> str:
    """`/s/***`: whatever may be a token, an id or a hash is left out."""
    return LONG_SEGMENT.sub("/***", LINK.sub(r"/\1/***", path))[:200]
