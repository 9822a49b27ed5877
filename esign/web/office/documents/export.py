"""Send the document list, as it is filtered, as a CSV file that is written while it is sent."""

import csv
import io
from collections.abc import AsyncIterator
from zoneinfo import ZoneInfo

from markupsafe import Markup
from starlette.responses import Response

from esign.actions.document import document_list
from esign.core.document.document import RecipientStatus, Role
from esign.core.document.document_filters import DocumentFilters
from esign.core.document.summary import DocumentSummary, RecipientSummary
from esign.core.errors import Problem
from esign.core.instant import Instant, to_datetime
from esign.web.office.document.document_row import choose_badge, name_sender
from esign.web.office.documents.filters import read_back_query
from esign.web.office.documents.selection import (
    ArchiveResponse,
    find_way_back,
    name_file,
    take_archive_place,
)
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.words import OfficeWords
from esign.web.pages import make_download_headers

COLUMNS = (
    "title",
    "status",
    "sender",
    "recipients",
    "finished",
    "created",
    "sent",
    "completed",
    "closed",
    "deadline",
    "changed",
    "pages",
    "file",
    "reference",
    "template",
    "id",
)
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
        headers=make_download_headers(name_file(today, "csv", call.words)),
        media_type="text/csv; charset=utf-8",
    )


async def write_rows(call: OfficeCall, asked: DocumentFilters, zone: ZoneInfo) -> AsyncIterator[bytes]:
    """Yield the file: first the names of the columns, then a page of documents at a time."""
    t = call.words
    head = tuple(to_text(t(f"documents.export.column.{name}")) for name in COLUMNS)
    yield (BYTE_ORDER_MARK + write_lines([head])).encode()
    async for page in document_list.read_all(call.runtime, call.owner, asked):
        yield write_lines([make_cells(one, zone, t) for one in page]).encode()


def make_cells(document: DocumentSummary, zone: ZoneInfo, t: OfficeWords) -> tuple[str, ...]:
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
        to_text(choose_badge(document, t)[1]),
        to_text(name_sender(document.created_by, t)),
        "; ".join(describe_recipient(one, t) for one in document.recipients),
        to_text(t.count("documents.export.finished_of", done, total=len(acting))),
        *(write_time(at, zone) for at in times),
        str(document.page_count),
        document.file.name,
        document.external_id or "",
        document.template_id or "",
        document.id,
    )


def to_text(said: str) -> str:
    """Return a sentence as plain text. What was escaped for a page is as it was."""
    return said.unescape() if isinstance(said, Markup) else said


def describe_recipient(recipient: RecipientSummary, t: OfficeWords) -> str:
    """Return name, address and state of a recipient."""
    state = to_text(t(f"documents.export.state.{'copy' if recipient.role is Role.CC else recipient.status}"))
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
