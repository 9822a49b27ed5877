"""Answer the preview of a typed signature, while the recipient types it on the signing page.

It is drawn by the same code, in the same hand, as later in the sealed document.
"""

import base64

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.actions.signing import typed_signature
from esign.web.signing import body
from esign.web.signing.routes import answer_json, get_runtime, read_visitor


def make_routes() -> list[Route]:
    """Return the route of the sheet."""
    return [Route("/s/{token}/letters", draw_letters, methods=["POST"])]


async def draw_letters(request: Request) -> Response:
    """Answer the picture of a typed signature.

    It changes nothing. It is a POST so that the name does not stand in a log.
    """
    given = await body.read_members(request, "text", "hand")
    drawn = await typed_signature.draw_letters(
        get_runtime(request), read_visitor(request), given.get("text"), given.get("hand")
    )
    url = f"data:image/svg+xml;base64,{base64.b64encode(drawn.svg).decode()}" if drawn.svg else None
    return answer_json({"picture": url, "widest": drawn.width, "missing": drawn.missing})
