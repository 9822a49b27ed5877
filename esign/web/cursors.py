"""Cursors: the place where the next page begins. A MAC binds each to its filters; its content is opaque to callers."""

import base64
import json

from esign.core.errors import Problem
from esign.store.engine.paging import PageStart
from esign.system.vault import Vault

PURPOSE = "cursor"
MAC = 16  # bytes of it that a cursor carries


def cursor_of(vault: Vault, place: PageStart | None, filters: str) -> str | None:
    """Return the cursor of a place, or None at the end of the list."""
    if place is None:
        return None
    body = json.dumps([place.at, place.id]).encode()
    mac = vault.compute_mac(PURPOSE, bind_filters(body, filters))[:MAC]
    return base64.urlsafe_b64encode(mac + body).rstrip(b"=").decode()


def place_of(vault: Vault, cursor: str | None, filters: str) -> PageStart | None:
    """Return the place of a cursor, or None without one.

    Raise `invalid_cursor` for a cursor that was damaged or made with other filters.
    """
    if cursor is None:
        return None
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise Problem("invalid_cursor") from None
    mac, body = packed[:MAC], packed[MAC:]
    if not vault.is_mac(PURPOSE, bind_filters(body, filters), mac, MAC):
        raise Problem("invalid_cursor")
    return PageStart(*json.loads(body))


def bind_filters(body: bytes, filters: str) -> bytes:
    """Return the message of a cursor's MAC."""
    return filters.encode() + b"\0" + body
