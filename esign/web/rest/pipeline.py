"""The way of every request below /api/v1 to its handler, in the order of checks of contract 3.1.

One ASGI callable without middleware: key 401, plan 401, rate 429, route 404, scope 401, narrower rate 429, body
and schema 400, replay or 409, handler.
"""

import asyncio
import re
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import Any

import orjson
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.people.api_key import ApiKey
from esign.pdf.worker.queue_turn import name_caller
from esign.runtime import Runtime
from esign.store.queue.idempotency import KeyTaken
from esign.web.http import encoded_file, encoding, errors, idempotency, ratelimit, security
from esign.web.http.answer import NOT_MODIFIED, ApiAnswer, encode_headers
from esign.web.http.body import IncomingBody, NoMembers, parse_query, run_in_thread_if_large
from esign.web.http.idempotency import IdempotencyTicket, Replays
from esign.web.http.ratelimit import LARGE, RateStanding, RateWindows, UploadPlace, Uploads
from esign.web.http.validation import check
from esign.web.rest import auth
from esign.web.rest.auth import Authentication
from esign.web.rest.endpoint import ApiCall, ApiRoute, Endpoint
from esign.web.rest.kept_answers import KeptAnswers
from esign.web.rest.routes import Routes, list_parameters

PLAIN = 2**20  # bytes of a body without a file
REPLAYED = (b"idempotent-replayed", b"true")
REVISION = re.compile(r'"(0|[1-9][0-9]{0,14})"')
ENTITY_TAG = re.compile(rb'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*+")')
ENTITY_TAGS = re.compile(rb"[ \t,]*+(?:%b[ \t]*+(?:,[ \t,]*+|\Z))++" % ENTITY_TAG.pattern)
NOTHING = NoMembers()
READING = ("GET", "HEAD")
AGAIN = 3  # look-ups of a stored answer before the request is refused
SETTLE_SECONDS = 5.0  # for which effects under way are waited for at the end of the program


class Api:
    """The application that answers /api/v1. It expects the scope that `Guard` prepares."""

    def __init__(
        self, runtime: Runtime, endpoints: Sequence[Endpoint], uploads: Uploads | None = None
    ) -> None:
        config, clock = runtime.config, runtime.clock
        self._runtime = runtime
        self._routes = Routes(endpoints)
        self._keys = Authentication(
            runtime.db,
            clock,
            failures=config.limits.auth_failures_per_minute,
            plan=config.organisation.plan,
            test_only=config.server.environment == "test",
        )
        self._windows = RateWindows(
            clock,
            {
                "default": config.limits.requests_per_minute,
                "create": config.limits.creates_per_minute,
                "send": config.limits.sends_per_minute,
                "verify": config.limits.verifies_per_minute,
            },
        )
        self._replays = Replays(runtime.db, runtime.vault, clock, config.limits.idempotency_hours)
        self._uploads = uploads or Uploads()
        self._parsing = asyncio.Semaphore()
        self._most = {"file": config.limits.body_mib * 2**20, "plain": PLAIN}
        self._kept = KeptAnswers()
        self._effects: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = IncomingBody(scope, receive)
        standings: list[RateStanding] = []
        answer: ApiAnswer | Response
        try:
            answer = await self._answer(scope, incoming, standings)
        except Problem as problem:
            answer = errors.build_answer(problem, scope["esign.request_id"])
        except ClientDisconnect:
            raise
        except Exception as error:
            answer = errors.answer_unexpected(error, scope["esign.request_id"])
        if isinstance(answer, ApiAnswer) and len(answer.body) > encoding.LEAST:
            answer = await compress_answer(scope, answer)
        rates = ratelimit.build_rate_headers(standings)
        if (deprecation := scope.get("esign.deprecation")) is not None:
            rates += deprecation.headers()
        if isinstance(answer, Response):
            await answer(scope, receive, add_response_headers(send, rates))
        elif incoming.unread:
            await answer.send(send, rates, last=False)
            await incoming.discard()
            await send({"type": "http.response.body", "body": b""})
        else:
            await answer.send(send, rates)

    async def settle(self, seconds: float = SETTLE_SECONDS) -> None:
        """Wait for every effect that has begun, even if its client has gone. Call this before the store closes.

        One that takes longer, as for a large file, is left behind: it fails once its tools are closed, and its client
        has gone.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._effects:
                    await asyncio.wait(self._effects)
                await self._keys.settle()

    async def _answer(
        self, scope: Scope, incoming: IncomingBody, standings: list[RateStanding]
    ) -> ApiAnswer | Response:
        """Return the answer to a request. Raise the problem of the first check that fails."""
        path = scope["raw_path"].decode("ascii")
        node, values = self._routes.find(path)
        key = None
        if node is None or not node.is_public:
            key = await self._keys.key(
                find_headers(scope, b"authorization"), scope["esign.origin"].ip or "local"
            )
            scope["esign.key_id"] = key.id
            name_caller(key.id)
            self._count("default", key, standings)
            self._runtime.requests.count(key.organisation_id, key.mode, self._runtime.clock.now())
        if node is None:
            raise Problem("not_found")
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        route = node.routes.get(method)
        if route is None:
            raise errors.make_method_problem(scope["method"], node.allow)
        endpoint = route.endpoint
        if endpoint.test_only and key is not None and key.mode is Mode.LIVE:
            raise Problem("not_found")
        if endpoint.deprecation is not None:
            if endpoint.deprecation.is_over(self._runtime.clock.now()):
                raise Problem("not_found")
            scope["esign.deprecation"] = endpoint.deprecation
        scope["esign.route"] = endpoint.path
        if key is not None:
            require_rights(endpoint, key)
        if key is not None and endpoint.policy is not None:
            self._count(endpoint.policy, key, standings)
        named = dict(zip(list_parameters(endpoint.path), values, strict=True))
        call = ApiCall(self._runtime, route, key, named, scope, self._replays)
        if method == "GET":
            return await self._read(call, route, scope)
        return await self._change(call, route, incoming, scope)

    def _count(self, policy: str, key: ApiKey, standings: list[RateStanding]) -> None:
        """Count the request against a policy of the key. Raise `rate_limited` when the limit is exceeded."""
        standing = self._windows.count(policy, key.id)
        if standing is not None:
            standings.append(standing)
            if standing.is_exceeded:
                raise ratelimit.make_rate_problem(standing)

    async def _read(self, call: ApiCall, route: ApiRoute, scope: Scope) -> ApiAnswer | Response:
        """Answer a GET: with 304 if the client has this revision, with the kept answer of it, or with a new one."""
        given = build_arguments(route, scope, NOTHING)
        known = find_headers(scope, b"if-none-match")
        if route.endpoint.find_revision is None:
            found = await self._run(call, route, given)
            if isinstance(found, ApiAnswer) and found.etag is not None and names_etag(known, found.etag):
                return ApiAnswer(NOT_MODIFIED, b"", found.headers)
            return found
        etag = b'"%d"' % await route.endpoint.find_revision(call)
        if names_etag(known, etag):
            return ApiAnswer(NOT_MODIFIED, b"", ((b"etag", etag),))
        place = call.key.organisation_id, call.key.mode, scope["raw_path"]
        if (kept := self._kept.find(place, etag)) is not None:
            return kept
        answer = await self._run(call, route, given)
        if isinstance(answer, ApiAnswer):
            self._kept.keep(place, answer)
        return answer

    async def _change(
        self, call: ApiCall, route: ApiRoute, incoming: IncomingBody, scope: Scope
    ) -> ApiAnswer | Response:
        """Answer a request that may have a body and an effect.

        The effect runs in a task of its own, so a client that disconnects does not interrupt it.
        """
        endpoint = route.endpoint
        async with self._uploads.place(call.key.id, call.key.organisation_id) as place:
            raw = await read_body(route, incoming, self._most[endpoint.body_limit], place)
            if incoming.is_present:  # a body may take minutes; the key may have been revoked meanwhile
                call.key = await self._keys.reload_key(find_headers(scope, b"authorization"))
                require_rights(endpoint, call.key)
            # One large body at a time: threads that parse side by side take memory each, and turns from the event loop.
            async with self._parsing if len(raw) > LARGE else nullcontext():
                value, body = await run_in_thread_if_large(raw, parse_body, route, raw)
            given = build_arguments(route, scope, body)
            if endpoint.if_match:
                call.if_match = parse_revision(find_headers(scope, b"if-match"))
            if endpoint.idempotent and (
                name := idempotency.read_key(find_headers(scope, b"idempotency-key"))
            ):
                path = scope["raw_path"].decode("ascii")
                print_ = await run_in_thread_if_large(
                    raw, idempotency.compute_fingerprint, endpoint.method, path, value
                )
                call.ticket = IdempotencyTicket(call.key.id, name, print_)
            del raw, value, body
            effect = asyncio.create_task(self._run_once(call, route, given))
            self._effects.add(effect)
            effect.add_done_callback(self._effects.discard)
            try:
                return await asyncio.shield(effect)
            finally:  # an error of the task refers to this call, and would keep the body until garbage is collected
                del effect, given

    async def _run_once(self, call: ApiCall, route: ApiRoute, given: dict[str, Any]) -> ApiAnswer | Response:
        """Return the stored answer of this Idempotency-Key, or run the handler.

        If the key was answered between the look-up and the effect, the effect is rolled back and the look-up is
        repeated.
        """
        if call.ticket is None:
            return await self._run(call, route, given)
        with self._replays.claim(call.ticket):
            for _ in range(AGAIN):
                if stored := await self._replays.find(call.ticket):
                    stored.headers = (REPLAYED,)
                    return route.add_headers(stored, orjson.loads(stored.body), call.path)
                try:
                    return await self._run(call, route, given)
                except KeyTaken:
                    continue
        raise Problem("idempotency_in_progress", retry_after=1)

    async def _run(self, call: ApiCall, route: ApiRoute, given: dict[str, Any]) -> ApiAnswer | Response:
        """Call the handler and return its answer.

        Raise TypeError if an idempotent endpoint stored no answer in the transaction of its effect.
        """
        result = await route.endpoint.handler(call, **given)
        if isinstance(result, Response):
            return result
        if route.endpoint.idempotent and call.kept is None:
            raise TypeError(f"{route.endpoint.path} kept no answer in the transaction of its effect")
        return call.kept or route.answer(result, call.path)


async def compress_answer(scope: Scope, answer: ApiAnswer) -> ApiAnswer:
    """Return the answer to a GET as the client takes it.

    An answer with an ETag stays as it is: `If-Match` takes its revision, and a compressed form would need a tag of
    its own (RFC 9110, 8.8.3.3). So does the answer to a change, which may show a secret this once.
    """
    if scope["method"] not in READING or answer.etag is not None:
        return answer
    body, headers = await encoding.encode(scope, answer.body)
    return ApiAnswer(answer.status, body, answer.headers + encode_headers(headers.items()))


def require_rights(endpoint: Endpoint, key: ApiKey) -> None:
    """Raise `insufficient_scope` unless the key has the scope of the endpoint and its maker has the right today."""
    if endpoint.scope is not None:
        auth.require_scope(key, endpoint.scope)
    if endpoint.act is not None:
        auth.require_act(key, endpoint.act)


async def read_body(route: ApiRoute, incoming: IncomingBody, limit: int, place: UploadPlace) -> bytearray:
    """Return the body as JSON text.

    An endpoint without members accepts an empty body and `{}`, whatever its media type. Otherwise raise
    `unsupported_media_type` unless the body is JSON.
    """
    nothing = bytearray(b"{}")
    if not incoming.is_present:
        return nothing
    if route.body is not None and route.body.model_fields:
        incoming.require_json()
        return await incoming.read(limit, place) or nothing
    raw = await incoming.read(limit, place)
    if b"".join(raw.split()) in (b"", b"{}"):
        return nothing
    incoming.require_json()
    return raw


def parse_body(route: ApiRoute, raw: bytearray) -> tuple[Any, BaseModel]:
    """Return the JSON value of a body, and the same value as the model of the route."""
    value = encoded_file.load(raw)
    return value, check(route.body or NoMembers, value)


def build_arguments(route: ApiRoute, scope: Scope, body: BaseModel) -> dict[str, Any]:
    """Return the arguments of the handler besides the call: `query` and `body`, if it takes them."""
    given: dict[str, Any] = {}
    parameters = parse_query(route.query, scope["query_string"])
    if route.query is not None:
        given["query"] = parameters
    if route.body is not None:
        given["body"] = body
    return given


def find_headers(scope: Scope, name: bytes) -> list[bytes]:
    """Return the values of all headers with this name, which is in lower case."""
    return [value for found, value in scope["headers"] if found == name]


def parse_revision(headers: list[bytes]) -> int | None:
    """Return the revision that `If-Match` names, or None without the header or with `*`.

    Raise `invalid_request` for anything else.
    """
    values = [header.strip() for header in headers]
    if not values or values == [b"*"]:
        return None
    found = REVISION.fullmatch(values[0].decode("latin-1"))
    if found is None or len(values) > 1:
        raise Problem("invalid_request", 'If-Match takes one revision in quotes, such as "3", or *.')
    return int(found[1])


def names_etag(given: list[bytes], etag: bytes) -> bool:
    """Return whether `If-None-Match` names the entity tag (RFC 9110, 13.1.2): in a list, weak or not, or with `*`.

    If anything in it is no entity tag, it names nothing.
    """
    if not given:
        return False
    tags = b",".join(given)
    if tags.strip() == b"*":
        return True
    return ENTITY_TAGS.fullmatch(tags) is not None and etag in ENTITY_TAG.findall(tags)


def add_response_headers(send: Send, more: list[tuple[bytes, bytes]]) -> Send:
    """Return `send` with the headers of the API, and `more`, added to a response that the handler made itself."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = security.add_api_headers(list(message["headers"])) + more
        await send(message)

    return send_with_headers
