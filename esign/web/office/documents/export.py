"""Send the document list, as it is filtered, as a CSV file that is written while it is sent."""

import csv
import io
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from starlette.responses import Response

from esign.actions.document import document_list
from esign.core.document.document import RecipientStatus, Role
from esign.core.document.document_filters import DocumentFilters
from esign.core.document.summary import DocumentSummary, RecipientSummary
from esign.core.errors import Problem
from esign.core.instant import Instant, to_datetime
from esign.web.office.document.document_row import choose_badge, name_source
from esign.web.office.documents.filters import read_back_query
from esign.web.office.documents.selection import ArchiveResponse, find_way_back, take_archive_place
from esign.web.office.frame.office_call import OfficeCall
from esign.web.pages import make_download_headers

COLUMNS = (
    "Title",
    "Status",
    "Sender",
    "Recipients",
    "Completed by",
    "Created",
    "Sent",
    "Completed",
    "Closed",
    "Expires",
    "Last change",
    "Pages",
    "File",
    "Reference",
    "Template",
    "ID",
)
RECIPIENT_STATES: Mapping[RecipientStatus, str] = {
    RecipientStatus.CREATED: "not asked yet",
    RecipientStatus.SENT: "asked",
    RecipientStatus.VIEWED: "viewed",
    RecipientStatus.COMPLETED: "completed",
    RecipientStatus.DECLINED: "declined",
}
NOT_UNDERSTOOD = "A filter isn’t valid. Correct it, then export the list again."
BYTE_ORDER_MARK = "\ufeff"  # by which Excel recognises UTF-8
FORMULA = tuple("=+-@\t\r＝＋－＠")  # a spreadsheet would compute a cell that begins with one of these


async def send_csv(call: OfficeCall) -> Response:
    """Send the list that the form's `back` shows, from its first document to its last.

    Raise `invalid_request` where a filter is not understood.
    """
    organisation = call.signed_in.organisation
    asked = read_back_query(find_way_back(call), organisation.time_zone)
    if asked.wrong:
        raise Problem("invalid_request", NOT_UNDERSTOOD)
    zone = ZoneInfo(organisation.time_zone)
    today = to_datetime(call.runtime.clock.now()).astimezone(zone)
    async with await take_archive_place(call) as held:  # gives the place back if the log entry fails
        await document_list.log_export(call.runtime, call.caller, asked.given)
        place = held.pop_all()
    return ArchiveResponse(
        place,
        write_rows(call, asked.listing, zone),
        headers=make_download_headers(name_export(today)),
        media_type="text/csv; charset=utf-8",
    )


async def write_rows(call: OfficeCall, asked: DocumentFilters, zone: ZoneInfo) -> AsyncIterator[bytes]:
    """Yield the file: first the names of the columns, then a page of documents at a time."""
    yield (BYTE_ORDER_MARK + write_lines([COLUMNS])).encode()
    async for page in document_list.read_all(call.runtime, call.owner, asked):
        yield write_lines([make_cells(one, zone) for one in page]).encode()


def make_cells(document: DocumentSummary, zone: ZoneInfo) -> tuple[str, ...]:
    """Return the cells of one document. Times are those of the organisation's zone."""
    acting = [one for one in document.recipients if one.acting]
    done = sum(one.status is RecipientStatus.COMPLETED for one in acting)
    times = (
        document.created_at,
        document.sent_at,
        document.completed_at,
        document.closed_at,
        document.expires_at,
        document.updated_at,
    )
    return (
        document.title,
        choose_badge(document)[1],
        name_source(document.created_by),
        "; ".join(map(describe_recipient, document.recipients)),
        f"{done} of {len(acting)}",
        *(write_time(at, zone) for at in times),
        str(document.page_count),
        document.file.name,
        document.external_id or "",
        document.template_id or "",
        document.id,
    )


def describe_recipient(recipient: RecipientSummary) -> str:
    """Return name, address and state of a recipient."""
    state = "gets a copy" if recipient.role is Role.CC else RECIPIENT_STATES[recipient.status]
    return f"{recipient.name} <{recipient.email}> ({state})"


def write_time(at: Instant | None, zone: ZoneInfo) -> str:
    """Return a time as spreadsheets read it, or an empty text."""
    return "" if at is None else f"{to_datetime(at).astimezone(zone):%Y-%m-%d %H:%M}"


def write_lines(rows: list[tuple[str, ...]]) -> str:
    """Return rows as lines of CSV."""
    lines = io.StringIO()
    csv.writer(lines).writerows([disarm(cell) for cell in row] for row in rows)
    return lines.getvalue()


def disarm(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula (OWASP, CSV injection)."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def name_export(today: datetime) -> str:
    """Return the file name of an export, such as `documents 2026-11-22.csv`."""
    return f"documents {today:%Y-%m-%d}.csv"
