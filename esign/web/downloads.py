"""Files handed out as bytes: always whole, always as an attachment, never shown by the browser (security.md 3)."""

import base64

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.actions.document import files
from esign.actions.document.files import FileOf
from esign.core.actor import SYSTEM
from esign.web.pages import attachment


def answer(file: FileOf, content: bytes) -> Response:
    """The response for a file; `Repr-Digest` is RFC 9530."""
    response = attachment(file.name, content)
    digest = base64.b64encode(bytes.fromhex(file.sha256)).decode()
    response.headers["Repr-Digest"] = f"sha-256=:{digest}:"
    return response


def announcement(file: FileOf) -> Response:
    """What HEAD gets: the headers of the file; nothing is handed out, so nothing is noted."""
    response = answer(file, b"")
    response.headers["Content-Length"] = str(file.size)
    return response


async def download(request: Request) -> Response:
    """The file of a ticket; needs no key."""
    runtime = request.app.state.runtime
    file = await files.redeem(runtime, request.path_params["ticket"])
    if request.method == "HEAD":
        return announcement(file)
    return answer(file, await files.read(runtime, file, SYSTEM, request.scope["esign.origin"]))


routes = [Route("/download/{ticket}", download)]
