"""The addresses of the pages to read: their pictures in three sizes, the values filled in, and their text."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.actions.signing import link_pages
from esign.core.errors import Problem
from esign.web.http.encoding import encode
from esign.web.http.security import PAGE_HEADERS, PLAIN_POLICY
from esign.web.picture_type import find_picture_type
from esign.web.signing.routes import get_runtime, read_visitor

SIZES = {"": 1, "size=2": 2, "size=3": 3}
# The content never changes while the document exists. It is private to the browser, and if the link asks for a
# code, to the session in the browser's cookie.
KEPT = {"Cache-Control": "private, max-age=86400, immutable", "Vary": "Cookie"}


def make_routes() -> list[Route]:
    """Return the routes of pictures and text."""
    pages = "/s/{token}/pages/{number:int}"
    return [
        Route(f"{pages}.webp", send_page, methods=["GET"]),
        Route(f"{pages}/filled-{{done:int}}.webp", send_filled_page, methods=["GET"]),
        Route(f"{pages}.json", send_text, methods=["GET"]),
    ]


async def send_page(request: Request) -> Response:
    """Answer the picture of a page."""
    runtime, visitor, number = get_runtime(request), read_visitor(request), request.path_params["number"]
    return answer_picture(await link_pages.page_image(runtime, visitor, number, read_size(request)))


async def send_filled_page(request: Request) -> Response:
    """Answer the picture of the values on a page. `done` is how many recipients have finished."""
    runtime, visitor, number = get_runtime(request), read_visitor(request), request.path_params["number"]
    done, size = request.path_params["done"], read_size(request)
    return answer_picture(await link_pages.filled_image(runtime, visitor, number, done, size))


async def send_text(request: Request) -> Response:
    """Answer the paragraphs of a page, as JSON."""
    runtime, visitor, number = get_runtime(request), read_visitor(request), request.path_params["number"]
    text = answer_content(await link_pages.page_text(runtime, visitor, number), "application/json")
    text.body, headers = await encode(request.scope, bytes(text.body))
    text.headers.update({**headers, "Content-Length": str(len(text.body)), "Vary": "Cookie, Accept-Encoding"})
    return text


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
    return answer_content(content, find_picture_type(content) if content else "")


def answer_content(content: bytes | None, media: str) -> Response:
    """Answer with content that the browser may keep for a day. Raise `not_found` if there is none."""
    if content is None:
        raise Problem("not_found")
    headers = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY, **KEPT}
    return Response(content, media_type=media, headers=headers)
