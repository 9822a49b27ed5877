"""Two probes: whether the process runs, and whether it can do its work. They tell no version and no secret."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from esign.actions.server import anchor_targets, health, scheduled_backups
from esign.web.http.answer import JSON, encode_headers
from esign.web.http.security import EVERYWHERE

LIVENESS = "/healthz"
READING = frozenset({"GET", "HEAD"})
ALIVE = b'{"status":"ok"}'
ALIVE_HEADERS = ((b"content-length", b"%d" % len(ALIVE)), JSON, *encode_headers(EVERYWHERE.items()))


class Liveness:
    """An ASGI application that answers 200 while the process runs."""

    def __init__(self) -> None:
        self.routes = [Route(LIVENESS, self, methods=sorted(READING))]

    def answers(self, scope: Scope) -> bool:
        """Return whether the request is one for this probe, so that no table of routes is searched for it."""
        return scope["path"] == LIVENESS and scope["method"] in READING

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": ALIVE_HEADERS})
        await send({"type": "http.response.body", "body": ALIVE})


async def report_readiness(request: Request) -> Response:
    """Answer 200, or 503 while a part that the program needs does not work.

    Warnings name what will need attention soon; they do not change the status.
    """
    runtime = request.app.state.runtime
    checks = await health.check_health(runtime)
    warnings = health.list_warnings(runtime)
    if checks["database"] == "ok":
        warnings += await health.list_set_aside(runtime) + await health.list_held(runtime)
        warnings += await anchor_targets.list_warnings(runtime)
        warnings += await scheduled_backups.list_warnings(runtime)
    fine = all(state == "ok" for state in checks.values())
    told = {"status": "ok" if fine else "failed", "checks": checks}
    return JSONResponse(
        told | {"warnings": warnings} if warnings else told,
        status_code=200 if fine else 503,
        headers=EVERYWHERE,
    )


routes = [Route("/readyz", report_readiness)]
