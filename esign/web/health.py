"""Two probes: whether the process runs, and whether it can do its work. They tell no version and no secret."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from esign.actions.server import health
from esign.web.http.security import EVERYWHERE


async def report_liveness(request: Request) -> Response:
    """Answer 200 while the process runs."""
    return JSONResponse({"status": "ok"}, headers=EVERYWHERE)


async def report_readiness(request: Request) -> Response:
    """Answer 200, or 503 while a part that the program needs does not work.

    Warnings name what will need attention soon; they do not change the status.
    """
    runtime = request.app.state.runtime
    checks, warnings = await health.check_health(runtime), health.list_warnings(runtime)
    fine = all(state == "ok" for state in checks.values())
    told = {"status": "ok" if fine else "failed", "checks": checks}
    return JSONResponse(
        told | {"warnings": warnings} if warnings else told,
        status_code=200 if fine else 503,
        headers=EVERYWHERE,
    )


routes = [Route("/healthz", report_liveness), Route("/readyz", report_readiness)]
