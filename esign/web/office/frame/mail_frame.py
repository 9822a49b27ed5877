"""Show a mail as its reader sees it: its HTML in a frame of its own, without script and without this site's rights."""

import base64
from typing import TypeVar

from starlette.responses import HTMLResponse, Response

from esign.actions.base import logo_pictures
from esign.core.people.account import Organisation
from esign.runtime import Runtime
from esign.web.http.security import PAGE_HEADERS

R = TypeVar("R", bound=Response)

CONTENT = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
OPENABLE = f"sandbox allow-popups allow-popups-to-escape-sandbox; {CONTENT}"
CLOSED = f"sandbox; {CONTENT}"


async def make_letter_response(
    runtime: Runtime, organisation: Organisation, html: str, *, openable: bool
) -> Response:
    """Return the HTML of a mail for a frame. Its links open in a new window if `openable`, otherwise not at all."""
    logo = await logo_pictures.make_inline_logo(runtime.db, organisation)
    if logo is not None:
        picture = f"data:image/png;base64,{base64.b64encode(logo.png).decode()}"
        html = html.replace(f"cid:{logo.name}", picture)
    html = html.replace("<a ", '<a target="_blank" rel="noopener noreferrer" ')
    headers = {
        **PAGE_HEADERS,
        "X-Frame-Options": "SAMEORIGIN",
        "Origin-Agent-Cluster": "?0",  # its origin is of no site: browsers complain about the wish for a cluster
        "Content-Security-Policy": OPENABLE if openable else CLOSED,
    }
    return HTMLResponse(html, headers=headers)


def allow_frames(page: R) -> R:
    """Let a page show frames of this site, and return it."""
    page.headers["Content-Security-Policy"] += "; frame-src 'self'"
    return page
