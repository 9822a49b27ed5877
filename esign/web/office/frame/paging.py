"""Pages of long lists: the address holds a cursor that is bound to the filters of the list."""

from urllib.parse import urlencode

from esign.store.engine.paging import Place
from esign.web.api.paging import cursor_of, place_of
from esign.web.office.frame.call import Call

AFTER = "after"


def after(call: Call, filters: str) -> Place | None:
    """Return the place in the list after which the requested page begins; raise `invalid_cursor`."""
    return place_of(call.runtime.vault, call.request.query_params.get(AFTER), filters)


def link_to(
    call: Call, place: Place | None, filters: str, path: str | None = None, /, **kept: str
) -> str | None:
    """Return the address of the next page with its filters; None on the last page.

    `path` is the path of the list, where a form with another path shows the list again.
    """
    cursor = cursor_of(call.runtime.vault, place, filters)
    return None if cursor is None else begin(path or call.request.url.path, **kept, **{AFTER: cursor})


def begin(path: str, **kept: str) -> str:
    """Return the address of the first page, with its filters."""
    return f"{path}?{urlencode(kept)}" if kept else path
