"""What a member can look at and download: pages with their values, files, the audit trail."""

import asyncio

from starlette.responses import Response

from esign.actions.document import files, page_views
from esign.core.document.audit import Entry
from esign.core.document.document import Document
from esign.core.errors import Problem
from esign.store.queue import events
from esign.web import downloads
from esign.web.api.audit_replies import present_trail
from esign.web.http.security import PAGE_HEADERS, PLAIN_POLICY
from esign.web.office.document import possible_actions
from esign.web.office.document.forms import find, times_of
from esign.web.office.document.page import about, sheets
from esign.web.office.document.timeline import told
from esign.web.office.frame.call import Call
from esign.web.pages import attachment
from esign.web.signing.reading import KEPT, size

PER_PAGE = 100
AT_ONCE = 100
JSON = "application/json"


# ---------- pages ----------


async def pages(call: Call) -> Response:
    """Show every page with the values that were filled in."""
    document = await find(call)
    return call.page("document_pages", **about(document), sheets=sheets(document))


async def filled(call: Call) -> Response:
    """Send the picture of a page with the values of the recipients who finished first, as many as `done` says."""
    document, number = await find_page(call)
    done = counted(call.path["done"])
    found = await page_views.filled_picture_of(
        call.runtime, document, call.signed.organisation, number, done, size(call.request)
    )
    if found is None:
        raise Problem("not_found")
    return image(found)


async def find_page(call: Call) -> tuple[Document, int]:
    """Return the document and page number of the address. Raise `not_found` if either is not there."""
    document = await find(call)
    number = counted(call.path["number"])
    if not 1 <= number <= document.page_count:
        raise Problem("not_found")
    return document, number


def counted(text: str) -> int:
    """Return a number of the address. Raise `not_found` for any other text, and for more than five digits."""
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise Problem("not_found")
    return int(text)


def image(content: bytes) -> Response:
    """Return the response for a picture. Browsers may keep it for a day, as it never changes."""
    headers = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY, **KEPT}
    return Response(content, media_type="image/webp", headers=headers)


# ---------- files ----------


async def file(call: Call) -> Response:
    """Send a file of the document and record the download in the audit trail. HEAD records nothing."""
    document = await find(call)
    try:
        found = await files.describe(call.runtime, call.owner, document.id, call.path["variant"])
    except Problem as problem:
        sentence = possible_actions.said(problem, times_of(call), document, call.signed.organisation)
        raise Problem(problem.code, sentence, current_status=problem.current_status) from None
    if call.request.method == "HEAD":
        return downloads.announcement(found)
    return downloads.answer(found, await files.read(call.runtime, found, call.actor, call.origin))


# ---------- the audit trail ----------


async def trail(call: Call) -> Response:
    """Show one page of the audit trail with everything it records, oldest first."""
    document, times = await find(call), times_of(call)
    after = counted(call.request.query_params.get("after", "0"))
    found = await events.trail(call.runtime.db, document.id, after, PER_PAGE + 1)
    shown = found[:PER_PAGE]
    return call.page(
        "document_trail",
        **about(document),
        entries=[(line, told(line, document, times)) for line in shown],
        after=shown[-1].seq if len(found) > PER_PAGE else None,
        before=max(0, after - PER_PAGE) if after else None,
    )


async def trail_as_json(call: Call) -> Response:
    """Send the whole audit trail as JSON, in the form of the API.

    A reader can recompute the hash chain from it.
    """
    document = await find(call)
    lines = list[Entry]()
    while more := await events.trail(call.runtime.db, document.id, lines[-1].seq if lines else 0, AT_ONCE):
        lines += more
    content = await asyncio.to_thread(written, lines)
    return attachment(f"{document.id}-audit.json", content, JSON)


def written(lines: list[Entry]) -> bytes:
    """Return the trail as JSON.

    The caller runs this in a thread: a trail of thousands of entries would hold up other requests.
    """
    return present_trail({"data": lines, "next": None}).model_dump_json(by_alias=True, indent=2).encode()
