"""What a transition leaves behind: the changed document, the facts, and the work they cause, saved together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from esign.core.document import NOWHERE, SYSTEM, Actor, Document, Origin
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

    `message` is what a sender adds to this one letter.
    """

    letter: str
    key: str
    recipient_id: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class SealJob:
    """Seal the document of this outcome."""


@dataclass(frozen=True, slots=True)
class RevokeLinks:
    """Every link of this recipient ends; those of mails queued after it live."""

    recipient_id: str


Job = Mail | SealJob | RevokeLinks


@dataclass(frozen=True, slots=True)
class Outcome:
    document: Document
    events: tuple[Event, ...] = ()
    jobs: tuple[Job, ...] = ()
