"""What the list of documents is asked for by the address of its page, held against the query of the API."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from esign.core.document.document import Status
from esign.core.document.document_filters import Listing, Sort
from esign.core.errors import Problem
from esign.web.api.list_requests import DocumentList
from esign.web.http.validation import check

LIST = "/documents"


@dataclass(frozen=True, slots=True)
class View:
    """A tab above the list."""

    name: str
    statuses: tuple[Status, ...] = ()
    attention: bool = False


VIEWS: Mapping[str, View] = {
    "": View("All"),
    "attention": View("Needs attention", attention=True),
    "draft": View("Draft", (Status.DRAFT,)),
    "waiting": View("Waiting", (Status.SENT, Status.SEALING)),
    "completed": View("Completed", (Status.COMPLETED,)),
    "closed": View("Closed", (Status.DECLINED, Status.EXPIRED, Status.CANCELLED)),
}
SORTS: Mapping[str, str] = {
    Sort.NEWEST: "Newest first",
    Sort.LAST_CHANGED: "Last change first",
    Sort.OLDEST: "Oldest first",
    Sort.FIRST_CHANGED: "Longest unchanged first",
}
TEXTS = ("recipientEmail", "externalId", "templateId")
DAYS = ("createdFrom", "createdTo", "completedFrom", "completedTo")
FILTERS = (*TEXTS, *DAYS)
BOUNDS = {
    "createdFrom": "createdAfter",
    "createdTo": "createdBefore",
    "completedFrom": "completedAfter",
    "completedTo": "completedBefore",
}
FIELDS = {bound: name for name, bound in BOUNDS.items()}
NO_DAY = "A day such as 2026-11-21."


@dataclass(frozen=True, slots=True)
class Asked:
    """`given` is what the address says, by its names; `wrong` a sentence at each that cannot be understood."""

    given: Mapping[str, str]
    listing: Listing
    bound: str
    wrong: Mapping[str, str]

    @property
    def view(self) -> str:
        return self.given.get("view", "")

    @property
    def filters(self) -> dict[str, str]:
        return {name: self.given[name] for name in FILTERS if name in self.given}

    @property
    def narrowed(self) -> bool:
        """Whether fewer are shown than the tab has."""
        return bool(self.filters) or "q" in self.given

    def link(self, **changes: str | None) -> str:
        """The address of the list with some of it asked otherwise; None and "" leave a name out."""
        kept = {name: text for name, text in {**self.given, **changes}.items() if text}
        return f"{LIST}?{urlencode(kept)}" if kept else LIST


def read(query: Mapping[str, str], zone: str) -> Asked:
    """The question of an address. What cannot be understood does not narrow; it is told."""
    names = ("view", "q", *FILTERS, "sort")
    given = {name: query[name].strip() for name in names if query.get(name, "").strip()}
    given = {name: text for name, text in given.items() if known(name, text)}
    wrong: dict[str, str] = {}
    asked = {name: given[name] for name in ("q", "sort", *TEXTS) if name in given}
    for name in DAYS:
        if name in given:
            try:
                asked[BOUNDS[name]] = edge(given[name], zone, after=name.endswith("To"))
            except (ValueError, OverflowError):
                wrong[name] = NO_DAY
    view = VIEWS[given.get("view", "")]
    if view.statuses:
        asked["status"] = ",".join(view.statuses)
    found, refused = checked(asked)
    wrong |= {name: NO_DAY if name in DAYS else sentence for name, sentence in refused.items()}
    listing = replace(found.to_listing(), attention=view.attention)
    return Asked(given, listing, f"{found.filters}:{view.attention}", wrong)


def known(name: str, text: str) -> bool:
    """Tabs and orders stand in links alone: whatever else is there is nobody's question."""
    return text in {"view": VIEWS, "sort": SORTS}.get(name, (text,))


def checked(asked: Mapping[str, str]) -> tuple[DocumentList, dict[str, str]]:
    """The query as far as it fits, and a sentence for each name of the address that does not."""
    try:
        return check(DocumentList, dict(asked)), {}
    except Problem as problem:
        refused = {detail.path[1:]: detail.message for detail in problem.details}
    rest = {name: text for name, text in asked.items() if name not in refused}
    return check(DocumentList, rest), {FIELDS.get(name, name): said for name, said in refused.items()}


def edge(text: str, zone: str, *, after: bool) -> str:
    """The beginning of a day there, or with `after` of the next one, as the API takes it."""
    day = date.fromisoformat(text) + timedelta(days=int(after))
    return datetime.combine(day, time(), ZoneInfo(zone)).isoformat()
