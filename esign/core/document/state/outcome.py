"""What a transition leaves behind: the changed document, the facts, and the work they cause, saved together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from esign.core.actor import NOWHERE, SYSTEM, Actor, Origin
from esign.core.document.document import Document
from esign.core.instant import Instant


@dataclass(frozen=True, slots=True)
class Event:
    """A fact in the past tense; every one is an audit entry, those of `webhook.PUBLISHED` go out as well.

    `data` may be shown to anybody who may read the document for ever; `detail` holds what is personal
    and can be erased (contract 3.2, AuditEntry).
    """

    type: str
    at: Instant
    actor: Actor = SYSTEM
    recipient_id: str | None = None
    origin: Origin = NOWHERE
    data: Mapping[str, Any] = field(default_factory=dict)
    detail: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Mail:
    """A letter to one recipient, or to the sender when `recipient_id` is None; `key` makes it leave once.

    `message` is what a sender adds to this one letter; `code` is what it brings, and `until` the end of that;
    `about` is the recipient that a letter to somebody else tells of, and `to` the address and name of who is no
    longer in the document.
    """

    letter: str
    key: str
    recipient_id: str | None = None
    message: str | None = None
    code: str | None = None
    until: Instant | None = None
    about: str | None = None
    to: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class SealJob:
    """Seal the document of this outcome."""


@dataclass(frozen=True, slots=True)
class RevokeLinks:
    """Every link of this recipient ends, every proof, and their draft; the links of mails queued after it live."""

    recipient_id: str


Job = Mail | SealJob | RevokeLinks


@dataclass(frozen=True, slots=True)
class Outcome:
    document: Document
    events: tuple[Event, ...] = ()
    jobs: tuple[Job, ...] = ()
