"""The outermost layer: it checks the head of every request before any other code reads the request.

It gives every request an id (`X-Request-Id`), finds the address of its client, and writes one line about it to
the access log.
"""

import asyncio
import logging
import re
from collections.abc import Callable
from itertools import count

import orjson
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from esign.core.actor import Origin
from esign.core.errors import Problem
from esign.core.instant import Instant, rfc3339
from esign.pdf.worker.queue_turn import note_connection
from esign.system.clock import Clock
from esign.system.entropy import CROCKFORD, make_id
from esign.system.measures import RequestDurations
from esign.web.http import errors
from esign.web.http.answer import CLOSE
from esign.web.http.origin import Proxies, clean_user_agent

log = logging.getLogger("esign.access")

HEADERS = 64
HEADER_BYTES = 32 * 2**10
ONE_HEADER = 8 * 2**10
TARGET = 8 * 2**10
TOO_LARGE = "The head of the request is too large: 64 headers of 8 KiB, 32 KiB in all, an address of 8 KiB."
LOOPBACK = frozenset({b"localhost", b"127.0.0.1", b"[::1]"})
UNASKED = frozenset({"/healthz", "/readyz"})  # probes may ask under any host name
HOST = re.compile(rb"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", re.IGNORECASE)
TRICKS = re.compile(rb"//|/(\.|%2e){1,2}(/|$)|%00|[\x00-\x20\x7f-\xff\\]|%(?![0-9a-f]{2})", re.IGNORECASE)
PLAIN = re.compile(rb"(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")  # most paths; it takes a fifth of the time of TRICKS
LONG_SEGMENT = re.compile(r"/[^/]{16,}")
PAIRS = [first + second for first in CROCKFORD for second in CROCKFORD]
LINK = re.compile(r"^/(s|h|download|set-up|invitation|password)/[^/]+")


class Guard:
    """The ASGI application around the whole program.

    `is_own_host` says whether it answers to a host name, as written without brackets, for a path. It always answers
    to those of the loopback interface. `durations` counts how long requests take, where metrics are served.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        clock: Clock,
        is_own_host: Callable[[str, str], bool] = lambda host, path: False,
        proxies: Proxies | None = None,
        refuse: Callable[[Scope, Problem], Response] = errors.respond_as_json,
        durations: RequestDurations | None = None,
    ) -> None:
        self._app = app
        self._refuse = refuse
        self._is_own_host = is_own_host
        self._clock = clock
        self._proxies = proxies or Proxies()
        self._durations = durations
        self._names = RequestIds(clock.now())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: check its head, pass it on, turn what was raised into an answer, write the log line."""
        begun = self._clock.monotonic()
        now = self._clock.now()
        request_id = scope["esign.request_id"] = self._names.next(now)
        status, complete = 0, False

        async def send_with_id(message: Message) -> None:
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
            expecting = self._check_head(scope)
            note_connection(scope.get("esign.gone"))
            await self._app(scope, receive, send_with_id)
        except asyncio.CancelledError:  # the server is stopping and this request did not finish in time
            if not status:
                gone = Problem("unavailable", retry_after=1, headers={"Connection": "close"})
                await self._refuse(scope, gone)(scope, receive, send_with_id)
        except ClientDisconnect:
            log.debug("request %s: the client left", request_id)
        except Problem as problem:
            await self._refuse(scope, problem)(scope, receive, send_with_id)
        except Exception as error:
            errors.log_unexpected(error, request_id)
            if not status:
                await self._refuse(scope, Problem("internal_error"))(scope, receive, send_with_id)
            elif not complete:
                raise BrokenAnswer from None
        finally:
            seconds = self._clock.monotonic() - begun
            if self._durations is not None:
                self._durations.count(scope, status, seconds)
            if log.isEnabledFor(logging.INFO):
                text = format_log_line(scope, now, status, seconds)
                log.handle(logging.LogRecord(log.name, logging.INFO, "", 0, text, None, None))

    def _check_head(self, scope: Scope) -> bool:
        """Check the head and store the origin in the scope. Return whether the client sent `Expect`.

        Raise `invalid_request` for a head that is too large, ambiguous, or for another host.
        """
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
            scope["client"] = (self._proxies.find_client(scope["client"][0], forwarded), 0)
        scope["esign.origin"] = Origin(get_address(scope), clean_user_agent(agent))
        target = len(scope["raw_path"]) + len(scope["query_string"])
        if len(scope["headers"]) > HEADERS or size > HEADER_BYTES or target > TARGET:
            raise Problem("invalid_request", TOO_LARGE)
        if media > 1:  # two parsers could read the body as two different things
            raise Problem("invalid_request", "The header Content-Type is given more than once.")
        plain = PLAIN.fullmatch(scope["raw_path"]) or not TRICKS.search(scope["raw_path"])
        if not plain or b"%00" in scope["query_string"]:
            raise Problem("invalid_request", "The address is not in its plain form.")
        if not self._is_known_host(hosts, scope["path"]) and scope["path"] not in UNASKED:
            raise Problem("invalid_request", "This is not a host name of this installation.")
        return expecting

    def _is_known_host(self, hosts: list[bytes], path: str) -> bool:
        """Return whether the request has exactly one Host header and it names this installation."""
        found = HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if found is None:
            return False
        host = found[1].lower()
        return host in LOOPBACK or self._is_own_host(host.strip(b"[]").decode(), path)


class RequestIds:
    """Request ids, in the form of `make_id`.

    The random part is drawn once, and a counter makes each id unique. Request ids protect nothing, so they may
    be guessed; two system calls for random bits took a tenth of the time of a request.
    """

    def __init__(self, now: Instant) -> None:
        self._drawn = make_id("req", now)[14:26]
        self._counter = count()
        self._at = -1
        self._time = ""

    def next(self, now: Instant) -> str:
        """Return a new request id. `now` becomes its time part."""
        if now != self._at:
            self._at, self._time = now, encode_digits(now, 10)
        return f"req_{self._time}{self._drawn}{encode_digits(next(self._counter), 4)}"


def encode_digits(number: int, length: int) -> str:
    """Return the last `length` base-32 digits of a number, as ids write them. `length` is even."""
    return "".join(PAIRS[number >> shift & 1023] for shift in range(5 * length - 10, -1, -10))


class BrokenAnswer(Exception):
    """Raised when an answer fails half-way: the connection must end, or the client would take it for complete."""


def get_address(scope: Scope) -> str | None:
    """Return the client's address, or None on a socket without addresses."""
    return scope["client"][0] if scope["client"] else None


def format_log_line(scope: Scope, now: int, status: int, seconds: float) -> str:
    """Return the log line of one request, as JSON. Tokens and ids in the path are masked."""
    return orjson.dumps(
        {
            "at": rfc3339(now),
            "event": "request",
            "requestId": scope["esign.request_id"],
            "method": scope["method"],
            "path": scope.get("esign.route") or mask_path(scope["raw_path"].decode("latin-1")),
            "status": status,
            "ms": round(seconds * 1000, 1),
            "ip": get_address(scope),
            "keyId": scope.get("esign.key_id"),
        }
    ).decode()


def mask_path(path: str) -> str:
    """Return the path with every segment that may be a token, an id or a hash replaced: `/s/***`."""
    return LONG_SEGMENT.sub("/***", LINK.sub(r"/\1/***", path))[:200]
