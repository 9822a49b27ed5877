"""The filters of the document list, read from the address of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Annotated
from urllib.parse import parse_qsl, urlencode, urlsplit
from zoneinfo import ZoneInfo

from esign.core.document.document import Status
from esign.core.document.document_filters import DocumentFilters, Sort, Span
from esign.core.errors import Problem
from esign.core.instant import Instant, parse
from esign.web.http.validation import check
from esign.web.values.document_values import ObjectId, SearchText
from esign.web.values.schema import BoundedText, Email, QueryParameters, Timestamp

LIST = "/documents"


@dataclass(frozen=True, slots=True)
class ListTab:
    """A tab above the list: the documents of some statuses, or those that need attention."""

    statuses: tuple[Status, ...] = ()
    attention: bool = False


VIEWS: Mapping[str, ListTab] = {
    "": ListTab(),
    "attention": ListTab(attention=True),
    "draft": ListTab((Status.DRAFT,)),
    "waiting": ListTab((Status.SENT, Status.SEALING)),
    "completed": ListTab((Status.COMPLETED,)),
    "closed": ListTab((Status.DECLINED, Status.EXPIRED, Status.CANCELLED)),
}
SORTS: Mapping[str, str] = {  # with the names of their words
    Sort.NEWEST: "newest",
    Sort.LAST_CHANGED: "last_changed",
    Sort.OLDEST: "oldest",
    Sort.FIRST_CHANGED: "first_changed",
}
TEXTS = ("recipientEmail", "externalId", "templateId", "senderId")
DAYS = ("createdFrom", "createdTo", "completedFrom", "completedTo")
FILTERS = (*TEXTS, *DAYS)
NO_DAY = "Enter a date such as 2026-12-31."


class ListFilters(QueryParameters):
    """The filters in the address; a day is the start of it, or of the day after it."""

    q: SearchText | None = None
    recipient_email: Email | None = None
    external_id: Annotated[str, BoundedText(1, 200)] | None = None
    template_id: ObjectId | None = None
    sender_id: ObjectId | None = None
    created_from: Timestamp | None = None
    created_to: Timestamp | None = None
    completed_from: Timestamp | None = None
    completed_to: Timestamp | None = None
    sort: Sort = Sort.NEWEST


@dataclass(frozen=True, slots=True)
class DocumentListQuery:
    """The filters that an address asks for.

    `given` holds its parameters by name; `wrong` holds a sentence for each parameter that is not understood.
    `bound` identifies the filters, so that a cursor of another list is refused.
    """

    given: Mapping[str, str]
    listing: DocumentFilters
    bound: str
    wrong: Mapping[str, str]

    @property
    def view(self) -> str:
        """Return the name of the tab; "" is the tab of all documents."""
        return self.given.get("view", "")

    @property
    def filters(self) -> dict[str, str]:
        """Return the parameters that filter the list; tab, search and sort order are not among them."""
        return {name: self.given[name] for name in FILTERS if name in self.given}

    @property
    def is_narrowed(self) -> bool:
        """Return whether a filter or a search leaves out documents of the tab."""
        return bool(self.filters) or "q" in self.given

    def link(self, **changes: str | None) -> str:
        """Return the address of the list with some parameters changed. None and "" remove a parameter."""
        kept = {name: text for name, text in {**self.given, **changes}.items() if text}
        return f"{LIST}?{urlencode(kept)}" if kept else LIST


def read_query(query: Mapping[str, str], zone: str) -> DocumentListQuery:
    """Read the filters from an address. Days begin at midnight in the time zone `zone`.

    A value that is not understood does not filter; `wrong` has a sentence for it.
    """
    names = ("view", "q", *FILTERS, "sort")
    given = {name: query[name].strip() for name in names if query.get(name, "").strip()}
    given = {name: text for name, text in given.items() if is_known_value(name, text)}
    wrong: dict[str, str] = {}
    asked = {name: given[name] for name in ("q", "sort", *TEXTS) if name in given}
    for name in DAYS:
        if name in given:
            try:
                asked[name] = find_day_edge(given[name], zone, after=name.endswith("To"))
            except (ValueError, OverflowError):
                wrong[name] = NO_DAY
    view = VIEWS[given.get("view", "")]
    found, refused = check_filters(asked)
    wrong |= {name: NO_DAY if name in DAYS else sentence for name, sentence in refused.items()}
    listing = DocumentFilters(
        statuses=frozenset(view.statuses),
        q=found.q,
        recipient_email=found.recipient_email,
        external_id=found.external_id,
        template_id=found.template_id,
        sender_id=found.sender_id,
        created=Span(found.created_from, found.created_to),
        completed=Span(found.completed_from, found.completed_to),
        sort=found.sort,
        attention=view.attention,
    )
    return DocumentListQuery(given, listing, f"{given.get('view', '')}:{found!r}", wrong)


def read_back_query(back: str, zone: str) -> DocumentListQuery:
    """Read the filters from the address of the list that a form came from; another page has none."""
    there = urlsplit(back)
    return read_query(dict(parse_qsl(there.query)) if there.path == LIST else {}, zone)


def find_day_start(text: str, zone: str, *, descending: bool) -> Instant | None:
    """Return the time at which a list that begins with a day begins, or None for text that is not a date.

    A list with the latest first begins with the end of the day.
    """
    try:
        return parse(find_day_edge(text, zone, after=descending))
    except (ValueError, OverflowError):
        return None


def is_known_value(name: str, text: str) -> bool:
    """Return whether a value is one that the pages themselves link to.

    This concerns the tab and the sort order; every other parameter takes any text. Nobody types these two, so a
    wrong value is ignored without a message.
    """
    return text in {"view": VIEWS, "sort": SORTS}.get(name, (text,))


def check_filters(asked: Mapping[str, str]) -> tuple[ListFilters, dict[str, str]]:
    """Return the filters that are valid, and a sentence for each that is not."""
    try:
        return check(ListFilters, dict(asked)), {}
    except Problem as problem:
        refused = {detail.path[1:]: detail.message for detail in problem.details}
    return check(ListFilters, {name: text for name, text in asked.items() if name not in refused}), refused


def find_day_edge(text: str, zone: str, *, after: bool) -> str:
    """Return the start of a day in the time zone `zone` as text; with `after`, the start of the
    next day.

    Raise ValueError for text that is not a date, and OverflowError for the last day of the calendar.
    """
    day = date.fromisoformat(text) + timedelta(days=int(after))
    return datetime.combine(day, time(), ZoneInfo(zone)).isoformat()
