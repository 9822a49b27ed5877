"""The addresses of what there is to read: pictures of pages in a few sizes, what is filled in, the text."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.actions.signing.signing import Visitor
from esign.core.errors import Problem
from esign.web.http.security import PAGE_HEADERS, PLAIN_POLICY
from esign.web.signing.routes import runtime, visitor

SIZES = {"": 1, "size=2": 2, "size=3": 3}
# Nothing of it changes as long as there is such a document; other readers of the same browser may not have it.
# For the browser that has shown its code, where one is asked for: the session is in its cookie.
KEPT = {"Cache-Control": "private, max-age=86400, immutable", "Vary": "Cookie"}


class Port(Protocol):
    """What these need of `actions.document.page_views`; None where a link shows no such page."""

    async def page_image(self, runtime: Any, visitor: Visitor, number: int, size: int) -> bytes | None: ...

    async def filled_image(
        self, runtime: Any, visitor: Visitor, number: int, done: int, size: int
    ) -> bytes | None: ...

    async def page_text(self, runtime: Any, visitor: Visitor, number: int) -> bytes | None: ...


def routes(actions: Port) -> list[Route]:
    async def page(request: Request) -> Response:
        number = request.path_params["number"]
        return picture(await actions.page_image(runtime(request), visitor(request), number, size(request)))

    async def filled(request: Request) -> Response:
        number, done = request.path_params["number"], request.path_params["done"]
        return picture(
            await actions.filled_image(runtime(request), visitor(request), number, done, size(request))
        )

    async def text(request: Request) -> Response:
        found = await actions.page_text(runtime(request), visitor(request), request.path_params["number"])
        return answer(found, "application/json")

    below: dict[str, Callable[[Request], Awaitable[Response]]] = {
        "pages/{number:int}.webp": page,
        "pages/{number:int}/filled-{done:int}.webp": filled,
        "pages/{number:int}.json": text,
    }
    return [Route(f"/s/{{token}}/{path}", handler, methods=["GET"]) for path, handler in below.items()]


def size(request: Request) -> int:
    """How fine: one of a few, or anybody could have any number of pictures made."""
    found = SIZES.get(request.url.query)
    if found is None:
        raise Problem("not_found")
    return found


def picture(content: bytes | None) -> Response:
    return answer(content, "image/webp")


def answer(content: bytes | None, media: str) -> Response:
    if content is None:
        raise Problem("not_found")
    headers = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY, **KEPT}
    return Response(content, media_type=media, headers=headers)
