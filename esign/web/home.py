"""The one public file beside the pages: the certificate that a reader of sealed PDFs may be told to trust."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.runtime import Runtime
from esign.web.pages import attachment


def routes(runtime: Runtime) -> list[Route]:
    """Made over the open tools: the authority's certificate is handed out from here."""

    async def authority(request: Request) -> Response:
        """The certificate that whoever checks a seal may decide to trust (DER)."""
        return attachment("esign-authority.cer", runtime.roots[0], "application/pkix-cert")

    return [Route("/authority.cer", authority)]
