"""A document, its recipients and their fields: the frozen values that the rules work on (contract 2, 3.2, 4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from esign.core.actor import NOWHERE, Actor, Mode, Origin
from esign.core.errors import NO_RECIPIENT, Problem
from esign.core.instant import Instant
from esign.core.people.account import Reminders


class Status(StrEnum):
    DRAFT = "draft"
    SENT = "sent"
    SEALING = "sealing"
    COMPLETED = "completed"
    DECLINED = "declined"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class RecipientStatus(StrEnum):
    CREATED = "created"
    SENT = "sent"
    VIEWED = "viewed"
    COMPLETED = "completed"
    DECLINED = "declined"


class Role(StrEnum):
    SIGNER = "signer"
    APPROVER = "approver"
    VIEWER = "viewer"
    CC = "cc"


ACTING = frozenset({Role.SIGNER, Role.APPROVER})
INVITED = ACTING | {Role.VIEWER}


def is_turn_of(role: Role, status: RecipientStatus) -> bool:
    """Return whether a recipient of this role and status is invited and not finished."""
    return role in INVITED and status in (RecipientStatus.SENT, RecipientStatus.VIEWED)


class FieldType(StrEnum):
    SIGNATURE = "signature"
    INITIALS = "initials"
    DATE = "date"
    NAME = "name"
    EMAIL = "email"
    TEXT = "text"
    NUMBER = "number"
    CHECKBOX = "checkbox"
    RADIO = "radio"
    DROPDOWN = "dropdown"


class MailDelivery(StrEnum):
    NONE = "none"
    QUEUED = "queued"
    ACCEPTED = "accepted"
    KEPT = "kept"  # on this server: no mail server is set, or the document is in test mode
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PageGeometry:
    """The size of a page as displayed, after rotation, in points. `rotation` is 0, 90, 180 or 270 degrees
    clockwise.
    """

    width: float
    height: float
    rotation: int


@dataclass(frozen=True, slots=True)
class Ink:
    """A signature or initials: a picture (its SHA-256) when drawn or uploaded, otherwise text in a handwriting
    font.
    """

    kind: str
    picture: str | None = None
    width: int = 0
    height: int = 0
    text: str | None = None
    hand: str | None = None


Value = str | bool | Ink


@dataclass(frozen=True, slots=True)
class Field:
    """A place on a page that one recipient fills in; positions are percent of the page as displayed.

    `options` holds the extra properties of the type (contract 4), with their defaults put in.
    """

    id: str
    type: FieldType
    page: int
    x: float
    y: float
    width: float
    height: float
    required: bool
    key: str | None = None
    label: str | None = None
    placeholder: str | None = None
    read_only: bool = False
    value: Value | None = None
    font_size: float | None = None
    align: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    filled_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Recipient:
    """A person the document is for; groups of equal `order` act one after the other.

    `link` and `code` say how the link and the code that they last acted with reached them
    (`signing_link.LinkRoute`). `access_code` is the stored form of the agreed code that `actions.base.stored_codes`
    makes, never the code itself.
    """

    id: str
    email: str
    name: str
    role: Role = Role.SIGNER
    order: int = 1
    status: RecipientStatus = RecipientStatus.CREATED
    authentication: str = "link"
    locale: str | None = None
    fields: tuple[Field, ...] = ()
    sent_at: Instant | None = None
    viewed_at: Instant | None = None
    completed_at: Instant | None = None
    declined_at: Instant | None = None
    decline_reason: str | None = None
    reminders_sent: int = 0
    last_reminded_at: Instant | None = None
    next_reminder_at: Instant | None = None
    delivery: MailDelivery = MailDelivery.NONE
    delivery_at: Instant | None = None
    delivery_error: str | None = None
    ink: Ink | None = None
    consent: str | None = None
    origin: Origin = NOWHERE
    access_code: str | None = None
    link: str | None = None
    code: str | None = None

    @property
    def acting(self) -> bool:
        """Return whether the document waits for this recipient: a signer or an approver."""
        return self.role in ACTING

    @property
    def is_active(self) -> bool:
        """Return whether their own link opens the document: invited and not finished, or a viewer whose turn came."""
        return is_turn_of(self.role, self.status)

    @property
    def is_invited(self) -> bool:
        """Return whether the recipient was invited to act and has not finished."""
        return self.acting and self.is_active


FOREIGN = (
    "foreign data"  # in File.removed: the upload was something else as well, and the normalised file is kept
)


@dataclass(frozen=True, slots=True)
class File:
    """The uploaded bytes and their normalised form, by SHA-256, and what normalising changed.

    `own_fields` is "placed" once the fields that the file itself asks for were placed, "undone" once a member took
    them back, and empty before. While they are placed, `prepared` shows no marks where they stand.
    """

    name: str
    uploaded: str
    prepared: str
    pages: tuple[PageGeometry, ...]
    repaired: bool = False
    removed: tuple[str, ...] = ()
    own_fields: str = ""


@dataclass(frozen=True, slots=True)
class Seal:
    """The PAdES signature over a completed document; `size` is in bytes.

    `asked` is the level that the settings asked for. `stamped_at` is the time of its time stamp, `authority`
    the name of the time-stamp authority.
    """

    level: str
    sealed_at: Instant
    sha256: str
    size: int
    page_count: int
    certificate: str
    timestamped: bool
    certificate_sha256: str
    asked: str = "B-B"
    stamped_at: Instant | None = None
    authority: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """The revision of a document, and what decides whether it must expire before it is shown."""

    revision: int
    status: Status
    expires_at: Instant | None


@dataclass(frozen=True, slots=True)
class Document:
    """One PDF on its way from draft to sealed. Only `lifecycle` changes `status`."""

    id: str
    organisation_id: str
    mode: Mode
    title: str
    file: File
    created_by: Actor
    created_at: Instant
    updated_at: Instant
    status: Status = Status.DRAFT
    revision: int = 1
    recipients: tuple[Recipient, ...] = ()
    subject: str | None = None
    message: str | None = None
    locale: str | None = None
    expires_in_days: int = 30
    expires_at: Instant | None = None
    reminders: Reminders = Reminders()
    redirect_url: str | None = None
    external_id: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    template_id: str | None = None
    sent_at: Instant | None = None
    completed_at: Instant | None = None
    closed_at: Instant | None = None
    close_reason: str | None = None
    seal: Seal | None = None
    seal_error: str | None = None
    seal_attempts: int = 0

    @property
    def page_count(self) -> int:
        """Return the number of pages of the file."""
        return len(self.file.pages)

    def recipient(self, recipient_id: str) -> Recipient:
        """Return the recipient of that id; raise `not_found` when the document has none."""
        for recipient in self.recipients:
            if recipient.id == recipient_id:
                return recipient
        raise Problem("not_found", NO_RECIPIENT)

    def list_holders(self) -> tuple[Recipient, ...]:
        """Return the recipients who may hold fields, in the order in which markers in a file number them."""
        return tuple(r for r in self.recipients if r.acting)

    def with_recipient(self, changed: Recipient) -> "Document":
        """Return the same document with the recipient of that id replaced."""
        return replace(self, recipients=tuple(changed if r.id == changed.id else r for r in self.recipients))

    def have_all_acted(self) -> bool:
        """Return whether every acting recipient has finished."""
        return all(r.status is RecipientStatus.COMPLETED for r in self.recipients if r.acting)

    def list_finished(self) -> tuple[Recipient, ...]:
        """Return the recipients who have finished, in the order in which they did."""
        done = [r for r in self.recipients if r.status is RecipientStatus.COMPLETED]
        return tuple(sorted(done, key=lambda r: (r.completed_at or 0, r.id)))
