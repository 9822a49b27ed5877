"""`/metrics`, for Prometheus: at an address of its own, or at that of the program behind a token."""

import hmac
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from esign.actions.server import metrics
from esign.core.errors import Problem
from esign.runtime import Runtime
from esign.store.engine.failures import DatabaseError
from esign.web.http.security import EVERYWHERE

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

PATH = "/metrics"


class MetricsApp:
    """An ASGI application that answers `GET /metrics`, with the token of the settings if there is one.

    `list_routes` returns the routes of the pages, once these are built.
    """

    def __init__(self, runtime: Runtime, list_routes: Callable[[], Iterable[BaseRoute]]) -> None:
        self._runtime = runtime
        self._list_routes = list_routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["esign.route"] = PATH
            response = await self._answer(Request(scope))
            await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.url.path != PATH:
            return PlainTextResponse("not found\n", 404, EVERYWHERE)
        if request.method not in ("GET", "HEAD"):
            return PlainTextResponse("only GET\n", 405, {**EVERYWHERE, "Allow": "GET, HEAD"})
        if not self._may_read(request.headers.get("authorization", "")):
            return PlainTextResponse("wrong token\n", 401, {**EVERYWHERE, "WWW-Authenticate": "Bearer"})
        try:
            found = await metrics.observe(self._runtime)
        except (DatabaseError, Problem):
            return PlainTextResponse("the database does not answer\n", 503, EVERYWHERE)
        body, media = write_exposition(
            metrics.describe_metrics(self._runtime.measures, found, name_endpoints(self._list_routes())),
            request.headers.get("accept", ""),
        )
        return Response(body, headers={**EVERYWHERE, "Content-Type": media, "Cache-Control": "no-store"})

    def _may_read(self, authorization: str) -> bool:
        token = self._runtime.config.metrics.token
        if token is None:
            return True
        scheme, _, given = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(
            given.strip().encode(), token.get_secret_value().encode()
        )


def name_endpoints(routes: Iterable[BaseRoute], before: str = "") -> Mapping[int, str]:
    """Return the path of each endpoint, with the names of its parameters, by the identity of the endpoint.

    A mounted application is one path.
    """
    names: dict[int, str] = {}
    for route in routes:
        if isinstance(route, Mount):
            names |= {
                id(route.app): f"{before}{route.path}/",
                **name_endpoints(route.routes, before + route.path),
            }
        elif isinstance(route, Route):
            names[id(route.endpoint)] = before + route.path
    return names


def write_exposition(families: Iterable["Metric"], accept: str) -> tuple[bytes, str]:
    """Return the metrics as OpenMetrics, or in the older text format for a client that asks for nothing else."""
    from prometheus_client import CollectorRegistry, ProcessCollector
    from prometheus_client.exposition import choose_encoder
    from prometheus_client.registry import Collector

    kept = list(families)

    class Kept(Collector):
        """Returns what was gathered already."""

        def collect(self) -> Iterable["Metric"]:
            return kept

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Kept())
    ProcessCollector(registry=registry)
    encode, media = choose_encoder(accept)
    return encode(registry), media
