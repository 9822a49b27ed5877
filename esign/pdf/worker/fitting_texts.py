"""Remember which texts fit their boxes, so that what was tried when a document was sent is not drawn again."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter

from esign.pdf.seal_order import DrawnField

REMEMBERED = 8192
PLACE = ("id", "page", "x", "y")  # a text fits or not wherever its box lies
read_deciding = attrgetter(*(each.name for each in fields(DrawnField) if each.name not in PLACE))


class FittingTexts:
    """Hashes of fields whose text fits; the oldest are dropped when there are too many."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def __contains__(self, key: bytes) -> bool:
        return key in self._known

    def add(self, keys: Iterable[bytes]) -> None:
        """Remember the keys of fields that fit."""
        for key in keys:
            self._known[key] = None
            self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)


def make_key(tenant: str, field: DrawnField, page: tuple[float, float], font_paths: Sequence[str]) -> bytes:
    """Return a hash of all that decides whether a text fits: the field, the size of its page in points, the fonts.

    It also holds whose document it is, so that no worker's answer about one tenant's text counts for another's.
    """
    deciding = [tenant, read_deciding(field), page, font_paths]
    return hashlib.sha256(json.dumps(deciding, sort_keys=True, default=dict).encode()).digest()
