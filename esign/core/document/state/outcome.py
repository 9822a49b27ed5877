"""What a transition returns: the changed document, its events, and the work they cause, all saved in one
transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from esign.core.actor import NOWHERE, SYSTEM, Actor, Origin
from esign.core.document.document import Document
from esign.core.instant import Instant


@dataclass(frozen=True, slots=True)
class Event:
    """A fact in the past tense.

    Each is an audit entry; those of `webhook.PUBLISHED` are sent to webhooks as well. `data` may be shown
    permanently to every reader of the document; `detail` holds personal data, which can be erased (contract
    3.2, AuditEntry).
    """

    type: str
    at: Instant
    actor: Actor = SYSTEM
    recipient_id: str | None = None
    origin: Origin = NOWHERE
    data: Mapping[str, object] = field(default_factory=dict)
    detail: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class MailJob:
    """A letter to one recipient, or to the sender if `recipient_id` is None; `key` keeps it from being queued
    twice.

    `message` is a text that the sender adds to this letter. `code` is the code that it brings, and `until` when
    that expires. `about` is the recipient that a letter to another person is about. `to` is the address and
    name of a person who is no longer in the document.
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
    """Seals the document of this outcome."""


@dataclass(frozen=True, slots=True)
class RevokeLinks:
    """Ends every link of this recipient, every proof, and their draft.

    Links of mails that are queued after it stay valid.
    """

    recipient_id: str


Job = MailJob | SealJob | RevokeLinks


@dataclass(frozen=True, slots=True)
class Outcome:
    """The changed document, the events and the jobs of one transition."""

    document: Document
    events: tuple[Event, ...] = ()
    jobs: tuple[Job, ...] = ()
