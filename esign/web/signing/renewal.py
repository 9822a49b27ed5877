"""The request for a new link, which the page of an expired document sends."""

from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.actions.signing.visits import Visit, Visitor
from esign.core.actor import Origin
from esign.web.signing import body
from esign.web.signing.routes import answer_state, get_origin, get_runtime, read_visitor


class RenewalActions(Protocol):
    """What this route needs of `actions.signing.link_renewal`."""

    async def ask(self, runtime: Any, visitor: Visitor, origin: Origin) -> Visit: ...


def routes(actions: RenewalActions) -> list[Route]:
    """Return the route of the request."""

    async def ask(request: Request) -> Response:
        """Ask the sender for a new link, and answer the state of the visit."""
        await body.read_members(request)
        return answer_state(
            await actions.ask(get_runtime(request), read_visitor(request), get_origin(request))
        )

    return [Route("/s/{token}/renewal", ask, methods=["POST"])]
