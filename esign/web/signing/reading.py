"""The addresses of the pages to read: their pictures in three sizes, the values filled in, and their text."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.actions.signing.visits import Visitor
from esign.core.errors import Problem
from esign.web.http.security import PAGE_HEADERS, PLAIN_POLICY
from esign.web.signing.routes import get_runtime, read_visitor

SIZES = {"": 1, "size=2": 2, "size=3": 3}
# The content never changes while the document exists. It is private to the browser, and if the link asks for a
# code, to the session in the browser's cookie.
KEPT = {"Cache-Control": "private, max-age=86400, immutable", "Vary": "Cookie"}


class LinkPageActions(Protocol):
    """What these routes need of `actions.signing.link_pages`. They return None if the link shows no such page."""

    async def page_image(self, runtime: Any, visitor: Visitor, number: int, size: int) -> bytes | None: ...

    async def filled_image(
        self, runtime: Any, visitor: Visitor, number: int, done: int, size: int
    ) -> bytes | None: ...

    async def page_text(self, runtime: Any, visitor: Visitor, number: int) -> bytes | None: ...


def routes(actions: LinkPageActions) -> list[Route]:
    """Return the routes of pictures and text."""

    async def send_page(request: Request) -> Response:
        """Answer the picture of a page."""
        number = request.path_params["number"]
        return answer_picture(
            await actions.page_image(get_runtime(request), read_visitor(request), number, read_size(request))
        )

    async def send_filled_page(request: Request) -> Response:
        """Answer the picture of the values on a page. `done` is how many recipients have finished."""
        number, done = request.path_params["number"], request.path_params["done"]
        return answer_picture(
            await actions.filled_image(
                get_runtime(request), read_visitor(request), number, done, read_size(request)
            )
        )

    async def send_text(request: Request) -> Response:
        """Answer the paragraphs of a page, as JSON."""
        found = await actions.page_text(
            get_runtime(request), read_visitor(request), request.path_params["number"]
        )
        return answer_content(found, "application/json")

    below: dict[str, Callable[[Request], Awaitable[Response]]] = {
        "pages/{number:int}.webp": send_page,
        "pages/{number:int}/filled-{done:int}.webp": send_filled_page,
        "pages/{number:int}.json": send_text,
    }
    return [Route(f"/s/{{token}}/{path}", handler, methods=["GET"]) for path, handler in below.items()]


def read_size(request: Request) -> int:
    """Return the size of the picture. Raise `not_found` for an unknown one.

    Only three sizes exist; otherwise a visitor could have any number of pictures rendered.
    """
    found = SIZES.get(request.url.query)
    if found is None:
        raise Problem("not_found")
    return found


def answer_picture(content: bytes | None) -> Response:
    """Answer with a picture."""
    return answer_content(content, "image/webp")


def answer_content(content: bytes | None, media: str) -> Response:
    """Answer with content that the browser may keep for a day. Raise `not_found` if there is none."""
    if content is None:
        raise Problem("not_found")
    headers = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY, **KEPT}
    return Response(content, media_type=media, headers=headers)
