"""Long lists, page after page: where one begins stands in its address, bound to what the list shows."""

from urllib.parse import urlencode

from esign.store.engine.paging import Place
from esign.web.api.paging import cursor_of, place_of
from esign.web.office.frame.call import Call

AFTER = "after"


def after(call: Call, filters: str) -> Place | None:
    """Behind what the page asked for begins; raises `invalid_cursor`."""
    return place_of(call.runtime.vault, call.request.query_params.get(AFTER), filters)


def link_to(
    call: Call, place: Place | None, filters: str, path: str | None = None, /, **kept: str
) -> str | None:
    """The address of the next page, with what else narrows the list; None where there is none.

    `path`: where the list is, where forms of other addresses show it again.
    """
    cursor = cursor_of(call.runtime.vault, place, filters)
    return None if cursor is None else begin(path or call.request.url.path, **kept, **{AFTER: cursor})


def begin(path: str, **kept: str) -> str:
    """The address of the first page."""
    return f"{path}?{urlencode(kept)}" if kept else path
