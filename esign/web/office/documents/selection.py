"""Bulk actions on the documents ticked in the list: first a question, then the action on each, then a report."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from esign.actions.document import bulk_actions, document_list, files, zip_files
from esign.actions.document.bulk_actions import BulkAction, BulkRequest, BulkResult
from esign.actions.document.zip_files import ZipNote
from esign.core.document.filename import make_portable
from esign.core.errors import Problem
from esign.core.instant import to_datetime
from esign.web import downloads
from esign.web.office.document import possible_actions
from esign.web.office.document.document_actions import CancelForm, ReminderForm
from esign.web.office.document.forms import check_form, get_times
from esign.web.office.documents.filters import read_back_query
from esign.web.office.frame.office_call import OfficeCall, accept_local_path
from esign.web.office.frame.words import OfficeWords
from esign.web.office.sign_in.sign_in import HOME
from esign.web.pages import make_download_headers

MOST = 500  # documents at a time
NAMED = 60  # of them in the address of a report
NOTHING = "Select at least one document."
BUSY = "Other downloads are still running. Try again when one of them has finished."
LARGE = "These files are larger than 1 GB together. Select fewer documents."
NOT_THEN = "This didn’t work. Try again."
GONE = "This document no longer exists."


async def find_ids(call: OfficeCall) -> list[str]:
    """Return the ids of the chosen documents without repetition, the first `MOST` at most.

    With `all` in the address these are all of the list that the user came from.
    """
    if "all" not in call.request.query_params:
        return read_ids(call)
    asked = read_back_query(find_way_back(call), call.signed_in.organisation.time_zone)
    return [] if asked.wrong else await document_list.find_ids(call.runtime, call.owner, MOST, asked.listing)


def read_ids(call: OfficeCall) -> list[str]:
    """Return the ids of the ticked documents without repetition, the first `MOST` at most.

    They come from the form, which names them in one field, or else from the address.
    """
    query = call.request.query_params
    given = call.form.get("ids", "").split() or query.getlist("id")
    return list(dict.fromkeys(given))[:MOST]


def find_way_back(call: OfficeCall) -> str:
    """Return the page of the list that the user came from, or the start of the list."""
    given = call.form.get("back") or call.request.query_params.get("back", "")
    return accept_local_path(given) or HOME


def list_refusals(call: OfficeCall, results: Sequence[BulkResult]) -> list[tuple[str, str]]:
    """Return (title, reason) for each document on which the action was or would be refused."""
    organisation, times = call.signed_in.organisation, get_times(call)
    return [
        (
            one.document.title,
            call.words.say(possible_actions.explain_refusal(one.problem, times, one.document, organisation)),
        )
        if one.document
        else (call.words("documents.selection.nameless"), call.words.say(GONE))
        for one in results
        if one.problem is not None
    ]


# ---------- asking ----------


async def ask_bulk(call: OfficeCall, deed: BulkAction) -> Response:
    """Ask for confirmation: show the documents on which the action would work, and why it would not on the others."""
    ids = await find_ids(call)
    if not ids:
        return call.redirect_to(find_way_back(call))
    weighed = [await weigh_action(call, deed, id) for id in ids]
    return call.page(
        f"selection_{deed}",
        back=find_way_back(call),
        fit=[one.document for one in weighed if one.document and one.problem is None],
        unfit=list_refusals(call, weighed),
    )


async def weigh_action(call: OfficeCall, deed: BulkAction, id: str) -> BulkResult:
    """Return whether the action would work on a document now, without doing it."""
    found = await bulk_actions.find(call.runtime, call.owner, id)
    if found.document is None:
        return found
    organisation, now = call.signed_in.organisation, call.runtime.clock.now()
    return replace(found, problem=possible_actions.find_refusal(deed, found.document, organisation, now))


async def ask_remind(call: OfficeCall) -> Response:
    return await ask_bulk(call, BulkAction.REMIND)


async def ask_cancel(call: OfficeCall) -> Response:
    return await ask_bulk(call, BulkAction.CANCEL)


async def ask_delete(call: OfficeCall) -> Response:
    return await ask_bulk(call, BulkAction.DELETE)


async def ask_download(call: OfficeCall) -> Response:
    """Ask for confirmation of a download, with the number, kind and total size of the files."""
    ids = await find_ids(call)
    if not ids:
        return call.redirect_to(find_way_back(call))
    found = await zip_files.list_files(call.runtime, call.owner, ids)
    octets = sum(file.size for file in found)
    return call.page(
        "selection_download",
        back=find_way_back(call),
        fit=[file.document for file in found],
        unfit=[(call.words("documents.selection.nameless"), call.words.say(GONE))] * (len(ids) - len(found)),
        sealed=sum(file.variant == "sealed" for file in found),
        weight=call.words.size(octets),
        large=call.words.say(LARGE) if octets > zip_files.MOST_BYTES else None,
    )


# ---------- doing ----------


async def do_bulk(
    call: OfficeCall, deed: BulkAction, words: str | None = None, *, notify: bool = True
) -> Response:
    """Do the action on each ticked document.

    Lead back to the list if all of them succeeded, else to a page that says which did not and why. Raise
    `invalid_request` if no document was ticked.
    """
    ids = read_ids(call)
    if not ids:
        raise Problem("invalid_request", NOTHING)
    doing = BulkRequest(deed, words, notify)
    results = await bulk_actions.perform_all(call.runtime, call.caller, doing, ids)
    done = [one for one in results if one.document and one.problem is None]
    if len(done) == len(results):
        return call.redirect_to(find_way_back(call), f"documents-{deed}", len(done))
    told = [("deed", deed.value), ("of", str(len(results))), ("back", find_way_back(call))]
    told += [("number", str(len(done)))]
    told += [("done", one.id) for one in done[:NAMED] if deed is not BulkAction.DELETE]
    told += [("not", f"{one.id}.{one.problem.code}") for one in results if one.problem][:NAMED]
    return call.redirect_to(f"/selection/done?{urlencode(told)}")


async def show_done(call: OfficeCall) -> Response:
    """Show what was done and what was not.

    The reasons are worked out anew, because the page can be reloaded later.
    """
    query = call.request.query_params
    deed = {deed.value: deed for deed in BulkAction}.get(query.get("deed", ""))
    refused = [one.partition(".") for one in query.getlist("not")[:NAMED]]
    of = read_number(query.get("of", ""))
    number = read_number(query["number"]) if "number" in query else of - len(refused)
    if deed is None or not refused or not len(refused) <= of - number <= of <= MOST:
        return call.redirect_to(find_way_back(call))
    results = [await recall_refusal(call, deed, id, code) for id, _, code in refused]
    done = [await bulk_actions.find(call.runtime, call.owner, id) for id in query.getlist("done")[:NAMED]]
    return call.page(
        "selection_done",
        deed=deed.value,
        back=find_way_back(call),
        of=of,
        number=number,
        fit=[one.document for one in done if one.document],
        unfit=list_refusals(call, results),
    )


def read_number(text: str) -> int:
    """Return a number of the address, or -1 for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else -1


async def recall_refusal(call: OfficeCall, deed: BulkAction, id: str, code: str) -> BulkResult:
    """Return why the action was not done: the reason that holds now, or else the reason given then by `code`."""
    found = await weigh_action(call, deed, id)
    known = Problem(code) if code in possible_actions.SENTENCES else Problem("unavailable", NOT_THEN)
    return replace(found, problem=found.problem or known)


async def remind(call: OfficeCall) -> Response:
    message = check_form(ReminderForm, {"message": call.form.get("message", "")}).message
    return await do_bulk(call, BulkAction.REMIND, message or None)


async def cancel(call: OfficeCall) -> Response:
    reason = check_form(CancelForm, {"reason": call.form.get("reason", "")}).reason
    return await do_bulk(call, BulkAction.CANCEL, reason or None, notify="notify" in call.form)


async def delete(call: OfficeCall) -> Response:
    return await do_bulk(call, BulkAction.DELETE)


async def seal(call: OfficeCall) -> Response:
    return await do_bulk(call, BulkAction.SEAL)


async def download(call: OfficeCall) -> Response:
    """Send one file as it is, or several as a ZIP that is made while it is sent.

    Raise `invalid_request` if the files are larger together than an archive may be.
    """
    found = await zip_files.list_files(call.runtime, call.owner, read_ids(call))
    if not found:
        raise Problem("not_found", GONE)
    if sum(file.size for file in found) > zip_files.MOST_BYTES:
        raise Problem("invalid_request", LARGE)
    if len(found) == 1:
        content = await files.read(call.runtime, found[0], call.author)
        return downloads.make_file_response(found[0], content)
    zone = call.signed_in.organisation.time_zone
    today = to_datetime(call.runtime.clock.now()).astimezone(ZoneInfo(zone))
    async with await take_archive_place(call) as held:  # gives the place back if the log entry fails
        await zip_files.log_export(call.runtime, call.caller, found)
        place = held.pop_all()
    t = call.words
    note = ZipNote(
        f"{make_portable(t('documents.file.missing'))}.txt", t("documents.file.missing_text").unescape()
    )
    pieces = zip_files.pack(call.runtime, call.author, found, zone, note)
    return ArchiveResponse(
        place, pieces, headers=make_download_headers(name_file(today, "zip", t)), media_type="application/zip"
    )


async def take_archive_place(call: OfficeCall) -> AsyncExitStack:
    """Take a place among the archives being made.

    The caller closes the returned stack to give the place back. Raise `rate_limited` if no place becomes free
    in time.
    """
    async with AsyncExitStack() as stack:
        place = await stack.enter_async_context(call.packing.place(call.signed_in.user.id))
        try:
            await place.take()
        except Problem as problem:
            raise Problem(problem.code, BUSY, retry_after=problem.retry_after) from None
        return stack.pop_all()


class ArchiveResponse(StreamingResponse):
    """A ZIP response that gives its place back once it was sent or the client has disconnected."""

    def __init__(self, place: AsyncExitStack, pieces: AsyncIterator[bytes], **more: Any) -> None:
        super().__init__(pieces, **more)
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._place:
            await super().__call__(scope, receive, send)


def name_file(today: datetime, kind: str, t: OfficeWords) -> str:
    """Return the file name of an archive or an export, such as `documents 2026-11-22.zip`."""
    return f"{t('documents.file.name', day=f'{today:%Y-%m-%d}')}.{kind}"
