"""The logos of organisations. The address holds the hash of the picture, so browsers may keep it for ever."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.core.people.account import Logo
from esign.store.people import logos
from esign.web.http.security import FILE_POLICY
from esign.web.pages import FOR_EVER


def get_logo_path(logo: Logo) -> str:
    """Return the path at which a logo is served."""
    return f"/logo/{logo.sha256}.png"


async def send_logo(request: Request) -> Response:
    """Send the PNG with this hash, or answer 404."""
    png = await logos.get(request.app.state.runtime.db, request.path_params["sha256"])
    if png is None:
        raise HTTPException(404)
    headers = {
        "Cache-Control": FOR_EVER,
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Content-Security-Policy": FILE_POLICY,
    }
    return Response(png, headers=headers, media_type="image/png")


routes = [Route("/logo/{sha256}.png", send_logo, methods=["GET"])]
