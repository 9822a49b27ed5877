"""Public files beside the pages: the certificates of the authority that issues seal certificates."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.core.errors import Problem
from esign.runtime import Runtime
from esign.web.pages import make_attachment


def build_routes(runtime: Runtime) -> list[Route]:
    """Return the routes. They are built at start, because the certificates come from the open runtime."""

    async def authority(request: Request) -> Response:
        """Send the certificate (DER) that a reader of sealed PDFs may choose to trust."""
        return make_attachment("esign-authority.cer", runtime.roots[0], "application/pkix-cert")

    async def following(request: Request) -> Response:
        """Send the certificate of the authority that issues the next seal, so that readers can trust it in time.

        Raise `not_found` while no change of authority is planned.
        """
        found = runtime.keyring.authority.following
        if found is None:
            raise Problem("not_found", "No other authority is to follow yet.")
        return make_attachment("esign-authority-next.cer", found, "application/pkix-cert")

    return [Route("/authority.cer", authority), Route("/authority-next.cer", following)]
