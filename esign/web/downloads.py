"""Responses that send a file: always whole, always as an attachment, never shown by the browser."""

import base64

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.actions.document import files
from esign.actions.document.files import DocumentFile
from esign.core.actor import SYSTEM, Author
from esign.web.pages import make_attachment


def make_file_response(file: DocumentFile, content: bytes) -> Response:
    """Return the response that sends a file, with its SHA-256 in `Repr-Digest` (RFC 9530)."""
    response = make_attachment(file.name, content)
    digest = base64.b64encode(bytes.fromhex(file.sha256)).decode()
    response.headers["Repr-Digest"] = f"sha-256=:{digest}:"
    return response


def make_head_response(file: DocumentFile) -> Response:
    """Return the response to HEAD: the headers of the file without its bytes.

    Nothing is handed out, so the audit trail gets no entry.
    """
    response = make_file_response(file, b"")
    response.headers["Content-Length"] = str(file.size)
    return response


async def send_file(request: Request) -> Response:
    """Send the file that a download ticket names. The ticket is the permission; no API key is needed."""
    runtime = request.app.state.runtime
    file = await files.redeem(runtime, request.path_params["ticket"])
    if request.method == "HEAD":
        return make_head_response(file)
    author = Author(SYSTEM, request.scope["esign.origin"])
    return make_file_response(file, await files.read(runtime, file, author))


routes = [Route("/download/{ticket}", send_file)]
