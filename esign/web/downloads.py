"""Responses that send a file: always whole, always as an attachment, never shown by the browser."""

import base64

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from esign.actions.document import files
from esign.actions.document.files import DocumentFile
from esign.core.actor import SYSTEM, Author
from esign.store.document.blobs import StoredContent
from esign.web.pages import make_attachment, make_download_headers


def make_content_response(name: str, content: StoredContent) -> Response:
    """Return the response that sends a PDF piece by piece, as fast as its reader takes it."""
    headers = {**make_download_headers(name), "Content-Length": str(content.size)}
    return StreamingResponse(content.pieces, media_type="application/pdf", headers=headers)


def make_file_response(file: DocumentFile, content: StoredContent) -> Response:
    """Return the response that sends a file, with its SHA-256 in `Repr-Digest` (RFC 9530)."""
    return add_digest(make_content_response(file.name, content), file)


def make_head_response(file: DocumentFile) -> Response:
    """Return the response to HEAD: the headers of the file without its bytes.

    Nothing is handed out, so the audit trail gets no entry.
    """
    response = make_attachment(file.name, b"")
    response.headers["Content-Length"] = str(file.size)
    return add_digest(response, file)


def add_digest(response: Response, file: DocumentFile) -> Response:
    """Add the SHA-256 of the file to a response, and return it."""
    digest = base64.b64encode(bytes.fromhex(file.sha256)).decode()
    response.headers["Repr-Digest"] = f"sha-256=:{digest}:"
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
