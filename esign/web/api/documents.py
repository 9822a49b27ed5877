"""The handlers of the document endpoints: they turn a checked request into the call of an action."""

import asyncio
import re
from functools import partial

import pybase64
from starlette.responses import Response

from esign.actions.document import cancel_delete, duplicate_document, edit_document, files, reminders
from esign.actions.document import documents as actions
from esign.actions.document.documents import DocumentOrder
from esign.actions.document.edit_document import DocumentChanges
from esign.actions.document.reminders import ReminderResult
from esign.core.document.audit import AuditEntry
from esign.core.document.document import Document
from esign.core.document.summary import DocumentSummary
from esign.core.errors import Problem
from esign.core.people.api_key import Scope
from esign.core.strict_base64 import require_canonical
from esign.store.engine.paging import PageStart
from esign.web import downloads
from esign.web.api.document_list_reply import write_ahead
from esign.web.api.document_replies import FileAddress
from esign.web.api.document_requests import (
    CancelDocument,
    CreateDocument,
    DuplicateDocument,
    Empty,
    RemindRecipients,
)
from esign.web.api.edit_requests import EditDocument
from esign.web.api.list_requests import DocumentList
from esign.web.api.paging import FoundPage, Paging
from esign.web.cursors import cursor_of, place_of
from esign.web.http.encoded_file import EncodedFile
from esign.web.rest.endpoint import ApiCall

DATA_URL = re.compile(r"^\s*data:application/pdf;base64,", re.IGNORECASE)
LARGE = 256 * 1024
MEMBERS = frozenset(EditDocument.model_fields) - {"file", "file_name", "recipients", "on_signed_file"}


async def create(call: ApiCall, body: CreateDocument) -> Document:
    """Create a draft from a PDF, its recipients and their fields; with `send` it goes out at once."""
    if body.send:
        call.require_scope(Scope.DOCUMENTS_SEND)
    order = DocumentOrder(
        file_name=body.file_name,
        file=partial(decode_file, body.file, call.runtime.config.limits.file_mib),
        title=body.title,
        recipients=tuple(given.to_entry() for given in body.recipients),
        subject=body.subject,
        message=body.message,
        locale=body.locale,
        expires_in_days=body.expires_in_days,
        reminders=body.reminders.list_given() if body.reminders else {},
        redirect_url=body.redirect_url,
        external_id=body.external_id,
        metadata=body.metadata,
        send=body.send,
    )
    return await actions.create(call.runtime, call.caller, order)


async def decode_file(text: str | EncodedFile, limit_mib: int) -> bytes:
    """Return the bytes of a base64 text, if they are not decoded yet. White space and a `data:` prefix are tolerated.

    Raise `file_too_large` or `invalid_file`. Large texts are decoded in a thread.
    """

    def strict(text: str) -> bytes:
        """Decode the text. Raise ValueError unless it is canonical."""
        bare = DATA_URL.sub("", text, count=1) if text.lstrip()[:5].lower() == "data:" else text
        bare = "".join(bare.split())
        require_canonical(bare)
        return pybase64.b64decode(bare, validate=True)

    length = text.length if isinstance(text, EncodedFile) else len(text)
    if length > limit_mib * 2**20 * 3 // 2:
        raise Problem("file_too_large", f"The file is larger than {limit_mib} MiB.")
    try:
        if isinstance(text, EncodedFile):
            return require_content(text)
        return await asyncio.to_thread(strict, text) if len(text) > LARGE else strict(text)
    except ValueError:
        raise Problem("invalid_file", "The member file is not base64 (RFC 4648, padded).") from None


def require_content(file: EncodedFile) -> bytes:
    """Return the content. Raise ValueError if the text was not canonical base64."""
    if file.content is None:
        raise ValueError("not canonical base64")
    return file.content


async def send(call: ApiCall, body: Empty) -> Document:
    """Send a draft to its recipients; the lowest order is invited first."""
    return await actions.send(call.runtime, call.caller, call.path["id"])


async def edit(call: ApiCall, body: EditDocument) -> Document:
    """Change a draft; of a document that is out only its expiry, reminders, externalId and metadata."""
    given = body.model_fields_set
    members = {name: getattr(body, name) for name in given & MEMBERS}
    if body.reminders is not None:
        members["reminders"] = body.reminders.list_given()
    changes = DocumentChanges(
        members=members,
        file_name=body.file_name or None,
        file=partial(decode_file, body.file, call.runtime.config.limits.file_mib)
        if "file" in given
        else None,
        recipients=tuple(entry.to_entry(entry.id) for entry in body.recipients)
        if "recipients" in given
        else None,
    )
    return await edit_document.edit(call.runtime, call.caller, call.path["id"], changes)


async def cancel(call: ApiCall, body: CancelDocument) -> Document:
    """Cancel a document that is out for signature. Everyone who was invited gets an email, unless `notify` is false."""
    return await cancel_delete.cancel(
        call.runtime, call.caller, call.path["id"], body.reason or None, body.notify
    )


async def delete(call: ApiCall) -> Document:
    """Delete a draft or a document that has ended; its audit trail stays, without anything personal."""
    return await cancel_delete.delete(call.runtime, call.caller, call.path["id"])


async def retry_seal(call: ApiCall, body: Empty) -> Document:
    """Try a seal that failed again at once."""
    return await cancel_delete.retry_seal(call.runtime, call.caller, call.path["id"])


async def remind(call: ApiCall, body: RemindRecipients) -> ReminderResult:
    """Remind those who were asked and have not finished; who was reminded within the hour is left in peace."""
    return await reminders.remind_by_hand(
        call.runtime, call.caller, call.path["id"], body.recipient_ids, body.message or None
    )


async def duplicate(call: ApiCall, body: DuplicateDocument) -> Document:
    """Return a new draft with the same file, recipients and fields."""
    return await duplicate_document.duplicate(call.runtime, call.caller, call.path["id"], body.title)


async def read_pages(call: ApiCall) -> Document:
    """Return the size of each page as displayed, to place fields on."""
    return await actions.get(call.runtime, call.owner, call.path["id"])


async def read(call: ApiCall) -> Document:
    """Return one document with its recipients and their fields."""
    return await actions.get(call.runtime, call.owner, call.path["id"])


async def find_revision(call: ApiCall) -> int:
    """Return the revision that `read` would answer."""
    return await actions.get_revision(call.runtime, call.owner, call.path["id"])


async def find(call: ApiCall, query: DocumentList) -> FoundPage[DocumentSummary]:
    """List the documents that all filters match, newest first unless the query says otherwise."""
    asked = query.to_listing()
    filters = f"documents:{call.owner}:{query.filters}"
    after = place_of(call.runtime.vault, query.cursor, filters)
    found, more = await actions.find_page(call.runtime, call.owner, query.limit, after, asked)
    await write_ahead(found)
    return FoundPage(found, cursor_of(call.runtime.vault, more, filters))


async def read_file(call: ApiCall) -> FileAddress | Response:
    """Return the address of one file of a document, or with `Accept: application/pdf` its bytes."""
    file = await files.describe_file(call.runtime, call.owner, call.path["id"], call.path["variant"])
    if wants_pdf(call.request.headers.get("accept", "")):
        if call.request.method == "HEAD":
            return downloads.make_head_response(file)
        return downloads.make_file_response(file, await files.read(call.runtime, file, call.author))
    token, expires_at = files.make_ticket(call.runtime, file)
    return FileAddress(file, f"{call.runtime.config.server.base_url}/download/{token}", expires_at)


def wants_pdf(accept: str) -> bool:
    """Return whether the Accept header names `application/pdf`."""
    return any(part.split(";")[0].strip().lower() == "application/pdf" for part in accept.split(","))


async def read_trail(call: ApiCall, query: Paging) -> FoundPage[AuditEntry]:
    """Return the audit trail of a document, oldest first."""
    filters = f"audit:{call.path['id']}"
    after = place_of(call.runtime.vault, query.cursor, filters)
    start = after.at if after else 0
    lines, more = await actions.read_trail(call.runtime, call.owner, call.path["id"], start, query.limit)
    place = PageStart(lines[-1].seq, "") if more else None
    return FoundPage(lines, cursor_of(call.runtime.vault, place, filters))
