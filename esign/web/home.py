"""The few public pages around the signing pages: what the certificate page's code leads to."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.runtime import Runtime
from esign.web.pages import Pages, attachment


def routes(runtime: Runtime, pages: Pages) -> list[Route]:
    """Made over the open tools: the authority's certificate is handed out from here."""

    async def verify(request: Request) -> Response:
        return pages.page("home/verify.html", {})

    async def authority(request: Request) -> Response:
        """The certificate that whoever checks a seal may decide to trust (DER)."""
        return attachment("esign-authority.cer", runtime.roots[0], "application/pkix-cert")

    return [
        Route("/verify", verify),
        Route("/verify/{document_id}", verify),
        Route("/authority.cer", authority),
    ]
