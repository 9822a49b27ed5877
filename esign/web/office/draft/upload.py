"""Uploads: each PDF becomes a draft of its own, as in the API (contract 3.2), or a template.

A file that is sent again, because the first response was lost, leads to what it became then (`resubmit`).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from starlette.responses import JSONResponse, Response

from esign.actions.document import documents, edit_document
from esign.actions.document.documents import Order
from esign.actions.document.edit_document import Asking, Changes
from esign.actions.people import settings
from esign.core.document.document import Document
from esign.core.document.state.edit import title_from
from esign.core.errors import Problem
from esign.store.document.blobs import sha256_of
from esign.system.entropy import new_token
from esign.web.api.document_requests import FileName
from esign.web.http.multipart import SentFile
from esign.web.http.security import EVERYWHERE
from esign.web.http.validation import check
from esign.web.office.draft.preflight import Refusal, refusal
from esign.web.office.draft.saving import draft
from esign.web.office.frame import resubmit
from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import Wrong
from esign.web.rest.schema import Schema

NOTHING = Refusal("No file was chosen.", "Choose a PDF from this computer.")
UNNAMED = Refusal("The name of the file cannot be taken.", "Rename it and choose it again.")
OUTSIDE = Refusal(
    "Some fields would lie outside this file.", "Move or delete them first, then replace the file."
)
STATES = frozenset({"document_not_draft", "not_found"})
UNPROCESSABLE = 422


class Named(Schema):
    file_name: FileName


@dataclass(frozen=True, slots=True)
class Taking:
    """The result for one file: the id of what it became, or why it was refused."""

    name: str
    id: str | None = None
    refused: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Making:
    """What files become.

    `page` is the template and `path` the address of the upload page, `on` the page that follows. `make` gets
    the name of a file and its bytes.
    """

    page: str
    path: str
    on: str
    make: Callable[[Call, str, bytes, resubmit.Keep], Awaitable[resubmit.Made]]


def page(call: Call, making: Making, takings: list[Taking]) -> Response:
    limits = call.runtime.config.limits
    return call.page(making.page, making=making, takings=takings, limits=limits, once=new_token())


async def take_all(call: Call, making: Making) -> Response:
    """Take every file of the form.

    A single success leads to the next page; otherwise the page lists what became of each file. The script gets
    the result of the first file as JSON.
    """
    name = resubmit.name_of(call.form)
    found = [await taken(call, making, file, f"{name}:{n}") for n, file in enumerate(call.files)]
    if call.wants_json:
        return told(making, found[0] if found else Taking("", refused=NOTHING))
    if len(found) == 1 and found[0].id:
        return call.go(making.on.format(found[0].id))
    answer = page(call, making, found or [Taking("", refused=NOTHING)])
    answer.status_code = 200 if found and all(one.id for one in found) else UNPROCESSABLE
    return answer


def told(making: Making, one: Taking) -> Response:
    """Return the result for one file as JSON."""
    if one.refused is None:
        return JSONResponse({"to": making.on.format(one.id)}, 200, dict(EVERYWHERE))
    refused = {"title": one.refused.title, "advice": one.refused.advice}
    return JSONResponse({"refused": refused}, UNPROCESSABLE, dict(EVERYWHERE))


async def taken(call: Call, making: Making, file: SentFile, name: str) -> Taking:
    """Make something of one file, or return what it became when it was sent before.

    `name` is the name that the form made up for this file; together with the content it recognises a
    repetition.
    """
    try:
        called = check(Named, {"fileName": file.name}).file_name
    except Problem:
        return Taking(file.name, refused=UNNAMED)
    [sha256] = await asyncio.to_thread(sha256_of, (file.content,))
    make = partial(making.make, call, called, file.content)
    try:
        made = await resubmit.make(call, name, making.path, {"name": called, "sha256": sha256}, make)
    except Problem as problem:
        return Taking(called, refused=refusal(problem))
    return Taking(called, made)


# ---------- drafts ----------


async def drafted(call: Call, name: str, content: bytes, keep: resubmit.Keep) -> Document:
    defaults = await settings.read(call.runtime, call.owner)
    order = Order(
        file_name=name,
        file=partial(given, content),
        title=title_from(name),
        recipients=(),
        expires_in_days=defaults.expires_in_days,
        reminders=defaults.reminders,
    )
    return await documents.create(call.runtime, call.owner, call.actor, call.origin, order, keep)


DRAFTS = Making("draft_new", "/documents/new", "/documents/{}/edit", drafted)


async def show(call: Call) -> Response:
    return page(call, DRAFTS, [])


async def take(call: Call) -> Response:
    return await take_all(call, DRAFTS)


async def replace_file(call: Call) -> Response:
    """Replace the file of a draft. Every field must lie on the pages of the new file (contract 3.2)."""
    found = await draft(call)
    if len(call.files) != 1:
        raise Wrong({"file": NOTHING.advice})
    [file] = call.files
    try:
        name = check(Named, {"fileName": file.name}).file_name
        changes = Changes({}, name, partial(given, file.content))
        asking = Asking(call.owner, found.id, call.actor, call.origin)
        await edit_document.edit(call.runtime, asking, changes)
    except Problem as problem:
        if problem.code in STATES:
            raise
        told = OUTSIDE if problem.code == "field_out_of_bounds" else refusal(problem)
        raise Wrong({"file": f"{told.title} {told.advice}"}) from None
    return call.go(f"/documents/{found.id}/edit", "file-replaced")


async def given(content: bytes) -> bytes:
    """Return the bytes; the actions take a file as an awaitable."""
    return content
