"""What a member can look at and download: pages with their values, files, the audit trail."""

import asyncio
from typing import Literal

from starlette.responses import Response

from esign.actions.document import files, page_cache
from esign.actions.document.page_cache import FilledView
from esign.core.document.audit import AuditEntry
from esign.core.document.document import Document
from esign.core.errors import Problem
from esign.store.queue import audit_entries
from esign.web import downloads
from esign.web.http.security import PAGE_HEADERS, PLAIN_POLICY
from esign.web.office.document import possible_actions
from esign.web.office.document.forms import find_document, get_times
from esign.web.office.document.page import describe_document, list_pictures
from esign.web.office.document.timeline import describe_entry
from esign.web.office.frame.office_call import OfficeCall
from esign.web.pages import make_attachment
from esign.web.picture_type import find_picture_type
from esign.web.signing.reading import KEPT, read_size
from esign.web.values.audit_entries import AuditEntryReply, present_entry
from esign.web.values.schema import Reply

PER_PAGE = 100
AT_ONCE = 100
JSON = "application/json"


# ---------- pages ----------


async def show_pages(call: OfficeCall) -> Response:
    """Show every page with the values that were filled in."""
    document = await find_document(call)
    return call.page("document_pages", **describe_document(call, document), sheets=list_pictures(document))


async def send_filled_picture(call: OfficeCall) -> Response:
    """Send the picture of a page with the values of the recipients who finished first, as many as `done` says."""
    document, number = await find_page(call)
    view = FilledView(number, parse_number(call.path["done"]), read_size(call.request))
    organisation = call.signed_in.organisation
    found = await page_cache.read_filled_picture(call.runtime, document, organisation, view)
    if found is None:
        raise Problem("not_found")
    return make_image_response(found)


async def find_page(call: OfficeCall) -> tuple[Document, int]:
    """Return the document and page number of the address. Raise `not_found` if either is not there."""
    document = await find_document(call)
    number = parse_number(call.path["number"])
    if not 1 <= number <= document.page_count:
        raise Problem("not_found")
    return document, number


def parse_number(text: str) -> int:
    """Return a number of the address. Raise `not_found` for any other text, and for more than five digits."""
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise Problem("not_found")
    return int(text)


def make_image_response(content: bytes) -> Response:
    """Return the response for a picture. Browsers may keep it for a day, as it never changes."""
    headers = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY, **KEPT}
    return Response(content, media_type=find_picture_type(content), headers=headers)


# ---------- files ----------


async def send_file(call: OfficeCall) -> Response:
    """Send a file of the document and record the download in the audit trail. HEAD records nothing."""
    document = await find_document(call)
    try:
        found = await files.describe_file(call.runtime, call.owner, document.id, call.path["variant"])
    except Problem as problem:
        sentence = possible_actions.explain_refusal(
            problem, get_times(call), document, call.signed_in.organisation
        )
        raise Problem(problem.code, sentence, current_status=problem.current_status) from None
    if call.request.method == "HEAD":
        return downloads.make_head_response(found)
    return downloads.make_file_response(found, await files.read(call.runtime, found, call.author))


# ---------- the audit trail ----------


async def show_trail(call: OfficeCall) -> Response:
    """Show one page of the audit trail with everything it records, oldest first."""
    document, times = await find_document(call), get_times(call)
    after = parse_number(call.request.query_params.get("after", "0"))
    found = await audit_entries.find_entries(call.runtime.db, document.id, after, PER_PAGE + 1)
    shown = found[:PER_PAGE]
    return call.page(
        "document_trail",
        **describe_document(call, document),
        entries=[(line, describe_entry(line, document, times)) for line in shown],
        after=shown[-1].seq if len(found) > PER_PAGE else None,
        before=max(0, after - PER_PAGE) if after else None,
    )


async def send_trail(call: OfficeCall) -> Response:
    """Send the whole audit trail as JSON, in the form of the API.

    A reader can recompute the hash chain from it.
    """
    document = await find_document(call)
    lines = list[AuditEntry]()
    while more := await audit_entries.find_entries(
        call.runtime.db, document.id, lines[-1].seq if lines else 0, AT_ONCE
    ):
        lines += more
    content = await asyncio.to_thread(serialise_trail, lines)
    return make_attachment(f"{document.id}-audit.json", content, JSON)


class TrailFile(Reply):
    """A whole audit trail; the members besides `data` are those of a page of the API."""

    data: list[AuditEntryReply]
    has_more: Literal[False] = False
    next_cursor: None = None


def serialise_trail(lines: list[AuditEntry]) -> bytes:
    """Return the trail as JSON.

    The caller runs this in a thread: a trail of thousands of entries would hold up other requests.
    """
    entries = [present_entry(line) for line in lines]
    return TrailFile(data=entries).model_dump_json(by_alias=True, indent=2).encode()
