"""A row of the table of endpoints, and the call that its handler receives.

A handler is `async def create(call: Call, body: CreateDocument, query: …) -> core object`. It names `body` and
`query` only if it takes them. Their annotations are the schemas: the same models validate requests and make the
description.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args, get_origin, get_type_hints

import orjson
from pydantic import BaseModel
from pydantic_core import to_json
from starlette.requests import Request
from starlette.types import Scope as AsgiScope

from esign.actions.base.caller import Caller
from esign.core.actor import Actor, Author, Origin, Owner
from esign.core.people.api_key import ApiKey, Scope
from esign.core.people.permission import Permission
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.web.http.answer import ApiAnswer, encode_headers
from esign.web.http.idempotency import IdempotencyTicket, Replays
from esign.web.rest import auth
from esign.web.rest.deprecation import Deprecation
from esign.web.values.schema import WrittenReply

Handler = Callable[..., Awaitable[Any]]
FindRevision = Callable[["ApiCall"], Awaitable[int]]
Method = Literal["GET", "POST", "PATCH", "DELETE"]
ARTICLES = frozenset(("a", "an", "the", "this"))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Everything that distinguishes one endpoint; the pipeline and the description read nothing else.

    `find_revision` returns the present revision of what a GET shows, at less cost than the handler. Answers of
    such an endpoint follow from the path, the owner and the revision alone, and are kept.

    `scope` is the scope that the key needs. None admits any valid key whose maker may do `act` today; if `act`
    is None too, every valid key, also that of a suspended member. `policy` names an additional rate policy.
    `errors` lists the codes besides those that every endpoint has. `location` is a template for the Location
    header, filled in from the answer (`/api/v1/documents/{id}`) and from the path of the request
    (`{path[id]}`). A live key does not see an endpoint that is `test_only`. `deprecation` announces its end.
    `media` names what the handler may return besides JSON, as a Response of its own. `called` is the operation
    id if the summary does not make a good one.
    """

    method: Method
    path: str
    handler: Handler
    present: Callable[[Any], BaseModel | WrittenReply[Any]] | None = None
    find_revision: FindRevision | None = None
    summary: str = ""
    tag: str = ""
    scope: Scope | None = None
    act: Permission | None = Permission.READ
    public: bool = False
    success: int = 200
    idempotent: bool = False
    if_match: bool = False
    policy: str | None = None
    errors: tuple[str, ...] = ()
    body_limit: Literal["file", "plain"] = "plain"
    location: str | None = None
    media: str | None = None
    test_only: bool = False
    called: str = ""
    deprecation: Deprecation | None = None

    @property
    def name(self) -> str:
        """Return the operation id: `called`, or the words of the summary without articles, in camelCase."""
        words = [word for word in self.summary.split() if word not in ARTICLES]
        joined = "".join(word[0].upper() + word[1:].lower() for word in words)
        return self.called or joined[:1].lower() + joined[1:] or self.handler.__name__


@dataclass(frozen=True)
class ApiRoute:
    """An endpoint with the models of its annotations, which are read once."""

    endpoint: Endpoint
    body: type[BaseModel] | None = field(init=False)
    query: type[BaseModel] | None = field(init=False)

    def __post_init__(self) -> None:
        hints = get_type_hints(self.endpoint.handler)
        taken = inspect.signature(self.endpoint.handler).parameters
        object.__setattr__(self, "body", hints["body"] if "body" in taken else None)
        object.__setattr__(self, "query", hints["query"] if "query" in taken else None)

    @cached_property
    def reply(self) -> type[BaseModel] | None:
        """Return the model of a successful answer, or None if the handler makes its own response."""
        present = self.endpoint.present
        if present is None:
            return None
        returned = get_type_hints(present)["return"]
        return get_args(returned)[0] if get_origin(returned) is WrittenReply else returned  # type: ignore[no-any-return]

    def answer(self, result: Any, path: Mapping[str, str]) -> ApiAnswer:
        """Return the answer for the result of the handler. The answer that is stored for a replay is the same."""
        present = self.endpoint.present
        if present is None:
            raise TypeError(f"{self.endpoint.path} has no way to present what its handler returned")
        model = present(result)
        if isinstance(model, WrittenReply):
            return ApiAnswer(self.endpoint.success, model.body)
        answer = ApiAnswer(self.endpoint.success, to_json(model, by_alias=True))
        return self.add_headers(answer, vars(model), path)

    def add_headers(
        self, answer: ApiAnswer, members: Mapping[str, Any], path: Mapping[str, str]
    ) -> ApiAnswer:
        """Add the Location and ETag headers that follow from the members of the answer, and return the answer."""
        headers = []
        if self.endpoint.location is not None:
            headers.append(("Location", self.endpoint.location.format_map({**members, "path": path})))
        if "revision" in members:
            headers.append(("ETag", f'"{members["revision"]}"'))
        answer.headers += encode_headers(headers)
        return answer


class ApiCall:
    """One authenticated request, as its handler sees it."""

    __slots__ = ("_asgi", "_key", "_replays", "_route", "if_match", "kept", "path", "runtime", "ticket")

    def __init__(
        self,
        runtime: Runtime,
        route: ApiRoute,
        key: ApiKey | None,
        path: Mapping[str, str],
        asgi: AsgiScope,
        replays: Replays,
    ) -> None:
        """Take the parts of the request. `path` holds the parameters in the path by name."""
        self.runtime = runtime
        self.path = path
        self.if_match: int | None = None
        self.kept: ApiAnswer | None = None
        self.ticket: IdempotencyTicket | None = None
        self._route = route
        self._key = key
        self._asgi = asgi
        self._replays = replays

    @property
    def key(self) -> ApiKey:
        """Return the API key. Raise TypeError on a public endpoint, which has none."""
        if self._key is None:
            raise TypeError("a public endpoint has no key")
        return self._key

    @key.setter
    def key(self, key: ApiKey) -> None:
        self._key = key

    @property
    def owner(self) -> Owner:
        """Return the organisation and the mode of the key."""
        return Owner(self.key.organisation_id, self.key.mode)

    @property
    def author(self) -> Author:
        """Return the key and the origin of the request, as audit entries name them."""
        return Author(Actor("api_key", self.key.id, self.key.name), self.origin)

    @property
    def caller(self) -> Caller:
        """Return who asks, and under which conditions: `If-Match` and Idempotency-Key."""
        return Caller(self.owner, self.author, self.if_match, self.keep)

    @property
    def origin(self) -> Origin:
        """Return the client's address and user agent, as the guard stored them."""
        found: Origin = self._asgi["esign.origin"]
        return found

    @property
    def request_id(self) -> str:
        return str(self._asgi["esign.request_id"])

    @property
    def request(self) -> Request:
        """Return the request, to read headers such as Accept. Its body has already been read."""
        return Request(self._asgi)

    def require_scope(self, scope: Scope) -> None:
        """Raise `insufficient_scope` unless the key has a scope that only this use of the endpoint needs."""
        auth.require_scope(self.key, scope)

    async def keep(self, tx: Transaction, result: Any) -> None:
        """Make the answer and store it for a replay, in the transaction of the effect.

        The action calls this once, so that the answer exists exactly when the effect does.
        """
        self.kept = self._route.answer(result, self.path)
        if self.ticket is not None:
            named = (self.path.get("id"), orjson.loads(self.kept.body).get("id"))
            about = next((id for id in named if id and id.startswith("doc_")), None)
            await self._replays.add(tx, self.ticket, self.kept, about)
