"""The address behind the sheet in which a signature is given: how a typed one will be sealed."""

import base64
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.actions.signing.signing import Visitor
from esign.actions.signing.typed_signature import Lettering
from esign.web.signing import body
from esign.web.signing.routes import runtime, told, visitor


class Port(Protocol):
    """What the sheet needs of `actions.signing.typed_signature`."""

    async def letters(self, runtime: Any, visitor: Visitor, text: object, hand: object) -> Lettering: ...


def routes(actions: Port) -> list[Route]:
    return [Route("/s/{token}/letters", Sheet(actions).letters, methods=["POST"])]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The handlers."""

    actions: Port

    async def letters(self, request: Request) -> Response:
        """A picture that changes nothing; a POST, so that the name stands in no log."""
        given = await body.read(request, "text", "hand")
        drawn = await self.actions.letters(
            runtime(request), visitor(request), given.get("text"), given.get("hand")
        )
        url = f"data:image/svg+xml;base64,{base64.b64encode(drawn.svg).decode()}" if drawn.svg else None
        return told({"picture": url, "widest": drawn.width, "missing": drawn.missing})
