"""Erases one person's data: which of their documents are deleted, and why the others stay (contract D3, D12).

A document is one record of all its recipients, under one seal, so it is deleted whole or stays whole.
"""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.actor import Actor, Mode, Origin
from esign.core.document import retention
from esign.core.document.document import Document
from esign.core.document.state import Act, is_allowed
from esign.core.fold_text import fold
from esign.core.instant import Instant
from esign.core.people.account import Organisation


class Fate(StrEnum):
    """What becomes of a document of the person.

    It is erased, or stays because it is open, locked by retention, or has other recipients.
    """

    ERASED = "erased"
    OPEN = "open"
    LOCKED = "locked"
    OTHERS = "others"


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """One request to erase a person's data. With `shared`, documents with other recipients are deleted too.

    `email` is None once the request is finished. `mode`, `at` and `document_id` say how far it has come. The
    counters are numbers of documents so far, by their fate.
    """

    id: str
    organisation_id: str
    email: str | None
    shared: bool
    actor: Actor
    origin: Origin
    created_at: Instant
    mode: Mode = Mode.LIVE
    at: Instant = -1
    document_id: str = ""
    erased: int = 0
    open: int = 0
    locked: int = 0
    others: int = 0
    finished_at: Instant | None = None

    @property
    def kept(self) -> int:
        """Return the number of documents that stay."""
        return self.open + self.locked + self.others


def is_recipient(document: Document, email: str) -> bool:
    """Return whether the person is a recipient of the document."""
    return any(fold(one.email) == fold(email) for one in document.recipients)


def has_others(document: Document, email: str) -> bool:
    """Return whether the document has a recipient other than the person."""
    return any(fold(one.email) != fold(email) for one in document.recipients)


def decide_fate(
    document: Document, organisation: Organisation, email: str, shared: bool, now: Instant
) -> Fate:
    """Return whether the document is erased, or why it stays."""
    if not is_allowed(document, Act.DELETE):
        return Fate.OPEN
    if now < (retention.find_lock_end(document, organisation) or 0):
        return Fate.LOCKED
    return Fate.OTHERS if has_others(document, email) and not shared else Fate.ERASED
