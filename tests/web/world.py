"""A small world for the HTTP door: endpoints about things, over a real database and a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Any, Literal, cast

from pydantic import Field
from starlette.responses import Response
from starlette.types import ASGIApp

from esign.config import Config
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.people import api_key
from esign.core.people.account import Organisation
from esign.core.people.api_key import ApiKey, Scope
from esign.core.people.usage import RequestTally
from esign.runtime import Runtime
from esign.store.engine.database import Database, Transaction
from esign.store.people import api_keys, organisations
from esign.system.entropy import make_id
from esign.system.vault import Vault
from esign.web.http.encoded_file import EncodedFile
from esign.web.http.request_guard import Guard
from esign.web.http.server import Front, run_server
from esign.web.rest.endpoint import ApiCall, Endpoint
from esign.web.rest.pipeline import Api
from esign.web.values.document_values import FileContent
from esign.web.values.schema import BoundedText, Email, Limit, Moment, QueryParameters, Reply, Schema
from tests.web.wire import Seen, ask

START: Instant = 1_795_219_200_000


class StoppedClock:
    """A clock that only moves when it is told to."""

    def __init__(self) -> None:
        self.at: float = 0

    def now(self) -> Instant:
        return START + int(self.at * 1000)

    def monotonic(self) -> float:
        return 1000 + self.at


class Tools:
    """The part of a Runtime that the door needs."""

    def __init__(self, db: Database, config: Config) -> None:
        self.config = config
        self.clock = StoppedClock()
        self.db = db
        self.vault = Vault(b"k" * 32)
        self.requests = RequestTally()
        self.made: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = asyncio.Event()


class Part(Schema):
    size: Annotated[int, Field(ge=1, le=100)] = 1
    exact: bool = False


class CreateThing(Schema):
    title: Annotated[str, BoundedText(1, 20)]
    owner: Email | None = None
    parts: Annotated[tuple[Part, ...], Field(max_length=50)] = ()
    kind: Literal["round", "square"] = "round"


class CreateFile(Schema):
    file: FileContent


class ThingQuery(QueryParameters):
    limit: Limit = 25
    cursor: str | None = None


class ThingReply(Reply):
    id: str
    title: str
    revision: int
    made_at: Moment


class FileReply(Reply):
    size: int


async def create(call: ApiCall, body: CreateThing) -> dict[str, Any]:
    tools = cast(Tools, call.runtime)
    tools.waiting.set()
    await tools.gate.wait()
    thing: dict[str, Any] = {
        "id": make_id("thg", START),
        "title": body.title,
        "revision": 1,
        "made_at": START,
    }

    async def write(tx: Transaction) -> None:
        await call.keep(tx, thing)

    await tools.db.write(write)
    tools.made.append(thing["id"])
    return thing


async def forgetful(call: ApiCall, body: CreateThing) -> dict[str, Any]:
    return {"id": "thg_1", "title": body.title, "revision": 1, "made_at": START}


async def upload(call: ApiCall, body: CreateFile) -> int:
    return body.file.length if isinstance(body.file, EncodedFile) else len(body.file)


async def read(call: ApiCall) -> dict[str, Any]:
    if call.path["id"] != "thg_1":
        raise Problem("not_found")
    return {"id": "thg_1", "title": f"of {call.author.actor.name}", "revision": 3, "made_at": START}


async def list_things(call: ApiCall, query: ThingQuery) -> dict[str, Any]:
    return {"id": "thg_1", "title": f"{query.limit} {query.cursor}", "revision": 1, "made_at": START}


async def send(call: ApiCall) -> dict[str, Any]:
    if call.if_match not in (None, 3):
        raise Problem("revision_mismatch")
    thing = {"id": call.path["id"], "title": "sent", "revision": 4, "made_at": START}

    async def write(tx: Transaction) -> None:
        await call.keep(tx, thing)

    await cast(Tools, call.runtime).db.write(write)
    return thing


async def content(call: ApiCall) -> Response:
    return Response(b"%PDF-", media_type="application/pdf", headers={"Content-Security-Policy": "sandbox"})


async def break_off(call: ApiCall) -> None:
    raise RuntimeError("nobody foresaw this")


async def public(call: ApiCall) -> Response:
    return Response(b"{}", media_type="application/json")


def present(thing: dict[str, Any]) -> ThingReply:
    return ThingReply(**thing)


def present_size(size: int) -> FileReply:
    return FileReply(size=size)


T = "/api/v1/things"
READ, WRITE, SEND = Scope.DOCUMENTS_READ, Scope.DOCUMENTS_WRITE, Scope.DOCUMENTS_SEND
ENDPOINTS = (
    Endpoint("GET", T, list_things, present, scope=READ, tag="Things", errors=("invalid_cursor",)),
    Endpoint(
        "POST",
        T,
        create,
        present,
        scope=WRITE,
        tag="Things",
        success=201,
        idempotent=True,
        policy="create",
        location=f"{T}/{{id}}",
    ),
    Endpoint("GET", f"{T}/{{id}}", read, present, scope=READ, tag="Things"),
    Endpoint(
        "POST", f"{T}/{{id}}/send", send, present, scope=SEND, tag="Things", idempotent=True, if_match=True
    ),
    Endpoint("GET", f"{T}/{{id}}/content", content, scope=READ, tag="Things", media="application/pdf"),
    Endpoint("POST", f"{T}/{{id}}/forget", forgetful, present, scope=WRITE, idempotent=True),
    Endpoint("GET", "/api/v1/broken", break_off, present),
    Endpoint("POST", "/api/v1/files", upload, present_size, scope=WRITE, body_limit="file"),
    Endpoint("GET", "/api/v1/openapi.json", public, public=True, media="application/json"),
)


def is_own_host(host: str, path: str) -> bool:
    return host == "sign.example.com"


class World:
    """Everything a test needs to ask and to look behind the door."""

    def __init__(self, db: Database, config: Config) -> None:
        self.tools = Tools(db, config)
        self.organisation = make_id("org", START)
        self.port = 0
        self.key = ""
        self.endpoints = ENDPOINTS
        self.serves(config)

    def serves(self, config: Config) -> None:
        """Build the application anew, with other settings; everything counted so far is forgotten."""
        self.tools.config = config
        self.api = Api(cast(Runtime, self.tools), self.endpoints)
        self.app: ASGIApp = Guard(self.api, clock=self.tools.clock, is_own_host=is_own_host)

    def renew(self, config: Config) -> None:
        """As at the beginning of a test."""
        self.tools.clock.at = 0
        self.tools.made.clear()
        self.tools.waiting.clear()
        self.tools.gate.set()
        self.serves(config)

    @classmethod
    async def prepare(cls, db: Database, config: Config | None = None) -> "World":
        world = cls(db, config or Config())
        organisation = Organisation(world.organisation, "Example", "en", "UTC", START)

        async def write(tx: Transaction) -> None:
            await organisations.add(tx, organisation)

        await db.write(write)
        world.key = await world.add_key()
        return world

    async def add_key(
        self, *, mode: Mode = Mode.LIVE, scopes: tuple[Scope, ...] = (Scope.ALL,), **given: Any
    ) -> str:
        """A new API key; `given` overrides members of ApiKey."""
        text = api_key.compose_key(mode, make_id("x", START)[2:] + "Zz9a")
        key = ApiKey(
            make_id("key", START),
            self.organisation,
            mode,
            "ci",
            api_key.make_hint(text),
            frozenset(scopes),
            START,
        )
        key = replace(key, **given)

        async def write(tx: Transaction) -> None:
            await api_keys.add(tx, key, api_key.hash_key(text))
            if key.revoked_at is not None:
                await api_keys.revoke(tx, key.id, key.revoked_at)

        await self.tools.db.write(write)
        return text

    @asynccontextmanager
    async def serve(self, front: Front | None = None) -> AsyncIterator[int]:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await self.app(scope, receive, send)

        async with run_server(app, "127.0.0.1", 0, front) as server:
            self.port = server.port
            yield server.port

    async def ask(
        self, method: str, path: str, body: Any = None, *headers: str, key: str | None = ""
    ) -> Seen:
        """A request with the key of this world, or another, or (None) without any; `body` is JSON or bytes."""
        lines = list(headers)
        if key is not None:
            lines.append(f"Authorization: Bearer {key or self.key}")
        raw = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if raw is not None and not any(line.lower().startswith("content-type") for line in lines):
            lines.append("Content-Type: application/json")
        return await ask(self.port, method, path, raw, *lines)
