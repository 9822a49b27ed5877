"""The document list page: tabs, search, filters, paging, and a next step for each document."""

from collections.abc import Mapping
from datetime import date

from markupsafe import Markup
from starlette.responses import Response

from esign.actions.document import document_list, saved_views
from esign.actions.document.document_list import DocumentListPage, PageTurn
from esign.core.document.document import Status
from esign.core.errors import Problem
from esign.core.people.permission import Permission, has_permission
from esign.store.document import templates
from esign.store.document.status_counts import StatusCounts
from esign.store.engine.document_pages import BoundedCount
from esign.store.engine.paging import PageStart
from esign.web.cursors import cursor_of, place_of
from esign.web.office.document.document_row import MOST_PIPS, make_row
from esign.web.office.documents import filters, selection
from esign.web.office.documents.filters import DAYS, SORTS, VIEWS, DocumentListQuery
from esign.web.office.documents.views import link_view
from esign.web.office.frame.dispatch import get_full_path
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.words import OfficeWords

PER_PAGE = 25
TEMPLATES = 100


async def show_list(call: OfficeCall) -> Response:
    """Show the page of the list that the address asks for. An invalid cursor leads back to the first page."""
    organisation = call.signed_in.organisation
    asked = filters.read_query(call.request.query_params, organisation.time_zone)
    try:
        turn = read_turn(call, asked)
    except Problem:
        return call.redirect_to(asked.link())
    page = DocumentListPage((), None, None)
    if not asked.wrong:
        page = await document_list.find_page(call.runtime, call.owner, PER_PAGE, turn, asked.listing)
    call.wrong = asked.wrong
    made = await templates.find_titles(call.runtime.db, call.owner, TEMPLATES)
    senders = await document_list.find_senders(call.runtime, call.owner)
    found = await count_found(call, asked)
    allowed = [act for act in Permission if has_permission(call.signed_in.member.role, act)]
    return call.page(
        "documents",
        asked=asked,
        given=asked.given,
        tabs=[describe_tab(name, asked, call.counts) for name in VIEWS],
        total=call.counts.all,
        found=found,
        most=selection.MOST,
        rows=[make_row(document, organisation, allowed, call.times) for document in page.documents],
        turned=turn is not None,
        day=call.request.query_params.get("day", ""),
        previous=link_to_turn(call, asked, page.previous),
        next=link_to_turn(call, asked, page.next),
        sorts=SORTS,
        templates=made,
        senders=senders,
        views=[(view, link_view(view)) for view in await saved_views.find_all(call.runtime, call.caller)],
        plain=asked.link(),
        me=call.signed_in.member.id,
        chips=list_chips(asked, dict(made), {id: name for _, id, name in senders}, call.words),
        most_pips=MOST_PIPS,
        back=get_full_path(call.request),
    )


def describe_tab(name: str, asked: DocumentListQuery, counts: StatusCounts) -> dict[str, object]:
    """Return one tab.

    Its link keeps the search; its number counts all documents of the tab, whatever is searched for.
    """
    view = VIEWS[name]
    return {
        "name": name or "all",
        "link": asked.link(view=name),
        "number": count_tab(name, counts),
        "hot": view.attention and counts.attention > 0,
        "here": name == asked.view,
    }


def read_turn(call: OfficeCall, asked: DocumentListQuery) -> PageTurn | None:
    """Return the place and direction that the address asks for, or None for the first page.

    `day` leads to the documents of that day and those behind it in the order of the list.

    Raise `invalid_cursor` for a cursor of another list.
    """
    given = call.request.query_params
    for name in ("after", "before"):
        if name in given:
            place = place_of(call.runtime.vault, given[name], build_cursor_binding(call, asked))
            assert place is not None
            return PageTurn(place, back=name == "before")
    zone, order = call.signed_in.organisation.time_zone, asked.listing.sort
    start = filters.find_day_start(given.get("day", ""), zone, descending=order.descending)
    return None if start is None else PageTurn(PageStart(start, ""))


async def count_found(call: OfficeCall, asked: DocumentListQuery) -> BoundedCount:
    """Return how many documents the whole list has. A tab without filters has its number already."""
    if asked.wrong:
        return BoundedCount(0, exact=True)
    if asked.is_narrowed:
        return await document_list.count(call.runtime, call.owner, asked.listing)
    return BoundedCount(count_tab(asked.view, call.counts), exact=True)


def count_tab(name: str, counts: StatusCounts) -> int:
    """Return the number of documents of a tab."""
    view = VIEWS[name]
    return (
        counts.attention if view.attention else sum(counts.of[status] for status in view.statuses or Status)
    )


def link_to_turn(call: OfficeCall, asked: DocumentListQuery, turn: PageTurn | None) -> str | None:
    """Return the address of the page that `turn` leads to, or None without one."""
    if turn is None:
        return None
    cursor = cursor_of(call.runtime.vault, turn.place, build_cursor_binding(call, asked))
    return asked.link(**{"before" if turn.back else "after": cursor})


def build_cursor_binding(call: OfficeCall, asked: DocumentListQuery) -> str:
    """Return the text that binds a cursor to this list, its owner and its filters."""
    return f"office:{call.owner}:{asked.bound}"


def list_chips(
    asked: DocumentListQuery, titles: Mapping[str, str], senders: Mapping[str, str], t: OfficeWords
) -> list[tuple[str, str]]:
    """Return the active filters as (words, address of the list without this filter)."""
    named = {"templateId": titles, "senderId": senders}
    return [
        (write_chip(name, text, named, t), asked.link(**{name: None}))
        for name, text in asked.filters.items()
        if name not in asked.wrong
    ]


def write_chip(name: str, text: str, named: Mapping[str, Mapping[str, str]], t: OfficeWords) -> Markup:
    """Return one active filter in words. `named` holds the names of templates and senders by their ids."""
    value: str | None = text
    if name in DAYS:
        value = t.day(date.fromisoformat(text))
    elif name in named:
        value = named[name].get(text)
    return t(f"documents.chip.{name}", value=value) if value else t(f"documents.chip.{name}_unknown")
