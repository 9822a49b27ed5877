"""What is done to the documents that were ticked in the list: asked first, then done to each, and told."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse

from esign.actions import files, packing, several
from esign.actions.several import Deed, Doing, Result
from esign.core.errors import Problem
from esign.core.instant import to_datetime
from esign.web import downloads
from esign.web.api.document_requests import CancelDocument, RemindRecipients
from esign.web.office.call import Call, local
from esign.web.office.document import possible
from esign.web.office.entrance import HOME
from esign.web.office.forms import Wrong
from esign.web.office.words import Times, size
from esign.web.pages import saved
from esign.web.validation import check

MOST = 100
NOTHING = "No document was ticked."
LARGE = "These files are more than 1 GB together. Please choose fewer."
NAMELESS, GONE = "A document", "It is not there any more."


def ids_of(call: Call) -> list[str]:
    """The documents that were ticked, each once: from the address, or from the form that names them all."""
    query = call.request.query_params
    given = call.form.get("ids", "").split() or query.getlist("id")
    return list(dict.fromkeys(given))[:MOST]


def back_of(call: Call) -> str:
    """The page of the list that one came from."""
    given = call.form.get("back") or call.request.query_params.get("back", "")
    return local(given) or HOME


def refusals(call: Call, results: Sequence[Result]) -> list[tuple[str, str]]:
    """(title, why) of what was not or would not be done."""
    organisation = call.signed.organisation
    times = Times(organisation.time_zone, call.runtime.clock.now())
    return [
        (one.document.title, possible.said(one.problem, times, one.document, organisation))
        if one.document
        else (NAMELESS, GONE)
        for one in results
        if one.problem is not None
    ]


# ---------- asking ----------


async def ask(call: Call, deed: Deed) -> Response:
    """The question, for how many of them, and why not for the rest."""
    ids = ids_of(call)
    if not ids:
        return call.go(back_of(call))
    weighed = [await weigh(call, deed, id) for id in ids]
    return call.page(
        f"selection_{deed}",
        back=back_of(call),
        fit=[one.document for one in weighed if one.document and one.problem is None],
        unfit=refusals(call, weighed),
    )


async def weigh(call: Call, deed: Deed, id: str) -> Result:
    """What would come of it now."""
    found = await several.find(call.runtime, call.owner, id)
    if found.document is None:
        return found
    organisation, now = call.signed.organisation, call.runtime.clock.now()
    return replace(found, problem=possible.refused(deed, found.document, organisation, now))


async def ask_remind(call: Call) -> Response:
    return await ask(call, Deed.REMIND)


async def ask_cancel(call: Call) -> Response:
    return await ask(call, Deed.CANCEL)


async def ask_delete(call: Call) -> Response:
    return await ask(call, Deed.DELETE)


async def ask_download(call: Call) -> Response:
    """How many files there are, of which kind and of what size."""
    ids = ids_of(call)
    if not ids:
        return call.go(back_of(call))
    found = await packing.describe(call.runtime, call.owner, ids)
    octets = sum(file.size for file in found)
    return call.page(
        "selection_download",
        back=back_of(call),
        fit=[file.document for file in found],
        unfit=[(NAMELESS, GONE)] * (len(ids) - len(found)),
        sealed=sum(file.variant == "sealed" for file in found),
        weight=size(octets),
        large=LARGE if octets > packing.MOST_BYTES else None,
    )


# ---------- doing ----------


async def do(call: Call, deed: Deed, words: str | None = None, *, notify: bool = True) -> Response:
    """Back to the list when all of it is done, else a page that says what was not and why."""
    ids = ids_of(call)
    if not ids:
        raise Problem("invalid_request", NOTHING)
    doing = Doing(deed, call.owner, call.actor, call.origin, words, notify)
    results = await several.do(call.runtime, doing, ids)
    done = [one.document for one in results if one.document and one.problem is None]
    if len(done) == len(results):
        return call.go(back_of(call), f"documents-{deed}", len(done))
    return call.page(
        "selection_done", deed=deed.value, back=back_of(call), fit=done, unfit=refusals(call, results)
    )


M = TypeVar("M", bound=BaseModel)


def taken(model: type[M], given: Mapping[str, object]) -> M:
    """What was written beside the question, as the API takes it."""
    try:
        return check(model, given)
    except Problem as problem:
        raise Wrong({detail.path[1:]: detail.message for detail in problem.details}) from None


async def remind(call: Call) -> Response:
    given = taken(RemindRecipients, {"message": call.form.get("message", "")})
    return await do(call, Deed.REMIND, given.message or None)


async def cancel(call: Call) -> Response:
    notify = "notify" in call.form
    given = taken(CancelDocument, {"reason": call.form.get("reason", ""), "notify": notify})
    return await do(call, Deed.CANCEL, given.reason or None, notify=given.notify)


async def delete(call: Call) -> Response:
    return await do(call, Deed.DELETE)


async def seal(call: Call) -> Response:
    return await do(call, Deed.SEAL)


async def download(call: Call) -> Response:
    """One file as it is, several as a ZIP that is made while it is sent."""
    found = await packing.describe(call.runtime, call.owner, ids_of(call))
    if not found:
        raise Problem("not_found", GONE)
    if sum(file.size for file in found) > packing.MOST_BYTES:
        raise Problem("invalid_request", LARGE)
    if len(found) == 1:
        content = await files.read(call.runtime, found[0], call.actor, call.origin)
        return downloads.answer(found[0], content)
    zone = call.signed.organisation.time_zone
    today = to_datetime(call.runtime.clock.now()).astimezone(ZoneInfo(zone))
    pieces = packing.pack(call.runtime, found, zone, call.actor, call.origin)
    return StreamingResponse(pieces, headers=saved(name(today)), media_type="application/zip")


def name(today: datetime) -> str:
    """`documents 2026-11-22.zip`."""
    return f"documents {today:%Y-%m-%d}.zip"
