"""Uploads: each PDF becomes a draft of its own, as in the API (contract 3.2), or a template.

A file that is sent again, because the first response was lost, leads to what it became then (`create_once`).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.document import documents, edit_document
from esign.actions.document.documents import DocumentOrder
from esign.actions.document.edit_document import DocumentChanges
from esign.core.document.document import Document
from esign.core.errors import Problem
from esign.core.sentence import join
from esign.store.document.blobs import hash_contents
from esign.system.entropy import make_token
from esign.web.http.multipart import SentFile
from esign.web.http.validation import check
from esign.web.office.draft.explain_upload import FileRefusal, explain_refusal, say_refusal
from esign.web.office.draft.saving import find_draft
from esign.web.office.frame import create_once
from esign.web.office.frame.forms import FormError
from esign.web.office.frame.office_call import OfficeCall, answer_json
from esign.web.office.frame.words import OfficeWords
from esign.web.values.document_values import FileName
from esign.web.values.schema import Schema

NOTHING = FileRefusal("No file was chosen.", "Choose a PDF.")
UNNAMED = FileRefusal("The name of the file isn’t valid.", "Rename the file and choose it again.")
OUTSIDE = FileRefusal(
    "Some fields don’t fit on the pages of this file.", "Move or delete them first, then replace the file."
)
STATES = frozenset({"document_not_draft", "not_found"})
UNPROCESSABLE = 422


class UploadedName(Schema):
    file_name: FileName


@dataclass(frozen=True, slots=True)
class UploadResult:
    """The result for one file: the id of what it became, or why it was refused."""

    name: str
    id: str | None = None
    refused: FileRefusal | None = None


@dataclass(frozen=True, slots=True)
class UploadKind:
    """What files become.

    `page` is the template and `path` the address of the upload page, `on` the page that follows. `make` gets
    the name of a file and its bytes.
    """

    page: str
    path: str
    on: str
    make: Callable[[OfficeCall, str, bytes, Caller], Awaitable[create_once.CreatedObject]]


def render_page(call: OfficeCall, making: UploadKind, takings: list[UploadResult]) -> Response:
    limits = call.runtime.config.limits
    said = [replace(one, refused=one.refused and say_refusal(one.refused, call.words)) for one in takings]
    return call.page(making.page, making=making, takings=said, limits=limits, once=make_token())


async def take_all(call: OfficeCall, making: UploadKind) -> Response:
    """Take every file of the form.

    A single success leads to the next page; otherwise the page lists what became of each file. The script gets
    the result of the first file as JSON.
    """
    name = create_once.read_form_name(call.form)
    found = [await take_file(call, making, file, f"{name}:{n}") for n, file in enumerate(call.files)]
    if call.wants_json:
        return answer_script(making, found[0] if found else UploadResult("", refused=NOTHING), call.words)
    if len(found) == 1 and found[0].id:
        return call.redirect_to(making.on.format(found[0].id))
    answer = render_page(call, making, found or [UploadResult("", refused=NOTHING)])
    answer.status_code = 200 if found and all(one.id for one in found) else UNPROCESSABLE
    return answer


def answer_script(making: UploadKind, one: UploadResult, words: OfficeWords) -> Response:
    """Return the result for one file as JSON."""
    if one.refused is None:
        return answer_json({"to": making.on.format(one.id)})
    refused = {"title": words.tell(one.refused.title), "advice": words.tell(one.refused.advice)}
    return answer_json({"refused": refused}, UNPROCESSABLE)


async def take_file(call: OfficeCall, making: UploadKind, file: SentFile, name: str) -> UploadResult:
    """Make something of one file, or return what it became when it was sent before.

    `name` is the name that the form made up for this file; together with the content it recognises a
    repetition.
    """
    try:
        called = check(UploadedName, {"fileName": file.name}).file_name
    except Problem:
        return UploadResult(file.name, refused=UNNAMED)
    [sha256] = await asyncio.to_thread(hash_contents, (file.content,))
    make = partial(making.make, call, called, file.content)
    try:
        made = await create_once.create_once(
            call, name, making.path, {"name": called, "sha256": sha256}, make
        )
    except Problem as problem:
        return UploadResult(called, refused=explain_refusal(problem))
    return UploadResult(called, made)


# ---------- drafts ----------


async def create_draft(call: OfficeCall, name: str, content: bytes, caller: Caller) -> Document:
    order = DocumentOrder(name, partial(return_content, content))
    return await documents.create(call.runtime, caller, order)


DRAFTS = UploadKind("draft_new", "/documents/new", "/documents/{}/edit", create_draft)


async def show_upload(call: OfficeCall) -> Response:
    return render_page(call, DRAFTS, [])


async def take_drafts(call: OfficeCall) -> Response:
    return await take_all(call, DRAFTS)


async def replace_file(call: OfficeCall) -> Response:
    """Replace the file of a draft. Every field must lie on the pages of the new file (contract 3.2)."""
    found = await find_draft(call)
    if len(call.files) != 1:
        raise FormError({"file": NOTHING.advice})
    [file] = call.files
    try:
        name = check(UploadedName, {"fileName": file.name}).file_name
        changes = DocumentChanges({}, name, partial(return_content, file.content))
        await edit_document.edit(call.runtime, call.caller, found.id, changes)
    except Problem as problem:
        if problem.code in STATES:
            raise
        told = OUTSIDE if problem.code == "field_out_of_bounds" else explain_refusal(problem)
        raise FormError({"file": join([told.title, told.advice])}) from None
    return call.redirect_to(f"/documents/{found.id}/edit", "file-replaced")


async def return_content(content: bytes) -> bytes:
    """Return the bytes; the actions take a file as an awaitable."""
    return content
