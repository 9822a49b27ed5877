"""The public files beside the pages: the certificates that a reader of sealed PDFs may be told to trust."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.core.errors import Problem
from esign.runtime import Runtime
from esign.web.pages import attachment


def routes(runtime: Runtime) -> list[Route]:
    """Made over the open tools: the authority's certificate is handed out from here."""

    async def authority(request: Request) -> Response:
        """The certificate that whoever checks a seal may decide to trust (DER)."""
        return attachment("esign-authority.cer", runtime.roots[0], "application/pkix-cert")

    async def following(request: Request) -> Response:
        """The same of the authority that will issue the seal later, so that it can be trusted in time."""
        found = runtime.keyring.authority.following
        if found is None:
            raise Problem("not_found", "No other authority is to follow yet.")
        return attachment("esign-authority-next.cer", found, "application/pkix-cert")

    return [Route("/authority.cer", authority), Route("/authority-next.cer", following)]
