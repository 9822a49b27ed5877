"""Pages of long lists: the address holds a cursor that is bound to the filters of the list."""

from urllib.parse import urlencode

from esign.store.engine.paging import PageStart
from esign.web.cursors import cursor_of, place_of
from esign.web.office.frame.office_call import OfficeCall

AFTER = "after"


def read_cursor(call: OfficeCall, filters: str) -> PageStart | None:
    """Return the place in the list after which the requested page begins; raise `invalid_cursor`."""
    return place_of(call.runtime.vault, call.request.query_params.get(AFTER), filters)


def link_next_page(
    call: OfficeCall, place: PageStart | None, filters: str, path: str | None = None, /, **kept: str
) -> str | None:
    """Return the address of the next page with its filters; None on the last page.

    `path` is the path of the list, where a form with another path shows the list again.
    """
    cursor = cursor_of(call.runtime.vault, place, filters)
    return (
        None if cursor is None else link_first_page(path or call.request.url.path, **kept, **{AFTER: cursor})
    )


def link_first_page(path: str, **kept: str) -> str:
    """Return the address of the first page, with its filters."""
    return f"{path}?{urlencode(kept)}" if kept else path
