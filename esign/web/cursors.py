"""Cursors: the place where the next page begins. A MAC binds each to its filters; its content is opaque to callers."""

import base64
import hmac
import json

from esign.core.errors import Problem
from esign.store.engine.paging import PageStart
from esign.system.vault import Vault


def cursor_of(vault: Vault, place: PageStart | None, filters: str) -> str | None:
    """Return the cursor of a place, or None at the end of the list."""
    if place is None:
        return None
    body = json.dumps([place.at, place.id]).encode()
    return base64.urlsafe_b64encode(_mac(vault, body, filters) + body).rstrip(b"=").decode()


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
    mac, body = packed[:16], packed[16:]
    if not hmac.compare_digest(mac, _mac(vault, body, filters)):
        raise Problem("invalid_cursor")
    return PageStart(*json.loads(body))


def _mac(vault: Vault, body: bytes, filters: str) -> bytes:
    return vault.compute_mac("cursor", filters.encode() + b"\0" + body)[:16]
