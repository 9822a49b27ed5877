"""From PDFs to drafts: each file becomes a document of its own, as in the API (contract 3.2).

The browser sends with each form a name that it made up. A file that is sent again under it, because the answer to the
first time was lost on the way, is the draft that it became then.
"""

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import orjson
from pydantic import Field
from starlette.responses import JSONResponse, Response

from esign.actions import documents, editing, settings
from esign.actions.documents import Order
from esign.actions.editing import Asking, Changes
from esign.core.document import Document
from esign.core.editing import title_from
from esign.core.errors import Problem
from esign.entropy import new_token
from esign.store.database import Transaction
from esign.store.idempotency import Taken
from esign.web.answer import Answer
from esign.web.api.document_requests import FileName
from esign.web.idempotency import Replays, Ticket, fingerprint
from esign.web.multipart import SentFile
from esign.web.office.call import Call
from esign.web.office.draft.preflight import Refusal, refusal
from esign.web.office.draft.saving import draft
from esign.web.office.forms import Wrong
from esign.web.schema import Schema
from esign.web.security import EVERYWHERE
from esign.web.validation import check

NOTHING = Refusal("No file was chosen.", "Choose a PDF from this computer.")
UNNAMED = Refusal("The name of the file cannot be taken.", "Rename it and choose it again.")
OUTSIDE = Refusal(
    "Some fields would lie outside this file.", "Move or delete them first, then replace the file."
)
STATES = frozenset({"document_not_draft", "not_found"})
UNPROCESSABLE = 422


class Named(Schema):
    file_name: FileName


class Once(Schema):
    once: Annotated[str, Field(pattern=r"^[\x21-\x7e]{8,200}$")]


@dataclass(frozen=True, slots=True)
class Taking:
    """What became of one file: the id of a draft, or why there is none."""

    name: str
    id: str | None = None
    refused: Refusal | None = None


async def show(call: Call) -> Response:
    return page(call, [])


def page(call: Call, takings: list[Taking]) -> Response:
    limits = call.runtime.config.limits
    return call.page("draft_new", takings=takings, limits=limits, once=new_token())


async def take(call: Call) -> Response:
    """The next step of the one draft, or a page that tells what became of each file."""
    once = check(Once, {"once": call.form.get("once", "")}).once
    found = [await taken(call, file, f"{once}:{n}") for n, file in enumerate(call.files)]
    if call.wants_json:
        return told(found[0] if found else Taking("", refused=NOTHING))
    if len(found) == 1 and found[0].id:
        return call.go(f"/documents/{found[0].id}/edit")
    answer = page(call, found or [Taking("", refused=NOTHING)])
    answer.status_code = 200 if found and all(one.id for one in found) else UNPROCESSABLE
    return answer


def told(one: Taking) -> Response:
    """The same for the script."""
    if one.refused is None:
        return JSONResponse({"to": f"/documents/{one.id}/edit"}, 200, dict(EVERYWHERE))
    refused = {"title": one.refused.title, "advice": one.refused.advice}
    return JSONResponse({"refused": refused}, UNPROCESSABLE, dict(EVERYWHERE))


async def taken(call: Call, file: SentFile, once: str) -> Taking:
    try:
        name = check(Named, {"fileName": file.name}).file_name
    except Problem:
        return Taking(file.name, refused=UNNAMED)
    try:
        return Taking(name, await drafted(call, name, file.content, once))
    except Problem as problem:
        return Taking(name, refused=refusal(problem))


async def drafted(call: Call, name: str, content: bytes, once: str) -> str:
    """The id of the draft that this file is, now or since it was sent before."""
    limits = call.runtime.config.limits
    replays = Replays(call.runtime.db, call.runtime.vault, call.runtime.clock, limits.idempotency_hours)
    about = {"name": name, "sha256": hashlib.sha256(content).hexdigest()}
    who = f"{call.signed.member.id}:{call.owner.mode}"
    ticket = Ticket(who, once, fingerprint("POST", "/documents/new", about))

    async def keep(tx: Transaction, document: Document) -> None:
        answer = Answer(201, orjson.dumps({"id": document.id, "status": document.status}))
        await replays.add(tx, ticket, answer, document.id)

    if kept := await replays.find(ticket):
        return str(orjson.loads(kept.body)["id"])
    try:
        order = await order_of(call, name, content)
        return (await documents.create(call.runtime, call.owner, call.actor, call.origin, order, keep)).id
    except Taken:
        kept = await replays.find(ticket)
        assert kept is not None, "somebody was faster by a moment"
        return str(orjson.loads(kept.body)["id"])


async def replace_file(call: Call) -> Response:
    """Another file for a draft; every field must lie on its pages as well (contract 3.2)."""
    found = await draft(call)
    if len(call.files) != 1:
        raise Wrong({"file": NOTHING.advice})
    [file] = call.files
    try:
        name = check(Named, {"fileName": file.name}).file_name
        changes = Changes({}, name, partial(given, file.content))
        asking = Asking(call.owner, found.id, call.actor, call.origin)
        await editing.edit(call.runtime, asking, changes)
    except Problem as problem:
        if problem.code in STATES:
            raise
        told = OUTSIDE if problem.code == "field_out_of_bounds" else refusal(problem)
        raise Wrong({"file": f"{told.title} {told.advice}"}) from None
    return call.go(f"/documents/{found.id}/edit", "file-replaced")


async def order_of(call: Call, name: str, content: bytes) -> Order:
    defaults = await settings.read(call.runtime, call.owner)
    return Order(
        file_name=name,
        file=partial(given, content),
        title=title_from(name),
        recipients=(),
        expires_in_days=defaults.expires_in_days,
        reminders=defaults.reminders,
    )


async def given(content: bytes) -> bytes:
    return content
