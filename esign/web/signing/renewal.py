"""The request for a new link, which the page of an expired document sends."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.actions.signing import link_renewal
from esign.web.signing import body
from esign.web.signing.routes import answer_state, get_origin, get_runtime, read_visitor


def make_routes() -> list[Route]:
    """Return the route of the request."""
    return [Route("/s/{token}/renewal", ask, methods=["POST"])]


async def ask(request: Request) -> Response:
    """Ask the sender for a new link, and answer the state of the visit."""
    await body.read_members(request)
    runtime, visitor, origin = get_runtime(request), read_visitor(request), get_origin(request)
    return answer_state(await link_renewal.ask(runtime, visitor, origin))
