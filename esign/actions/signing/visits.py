"""What a signing link shows: one type for each state of the link.

`state` is the word for the state in the page and in the answers to its script.
"""

from dataclasses import dataclass
from typing import ClassVar

from esign.core.document.challenge import ChallengeStanding
from esign.core.document.document import Document, Recipient
from esign.core.instant import Instant
from esign.core.people.account import Organisation


@dataclass(frozen=True, slots=True)
class Visitor:
    """The visitor of a signing link: its token, and the session of the browser, in which the code may have been
    entered.
    """

    token: str
    session: str | None = None


@dataclass(frozen=True, slots=True)
class UnknownVisit:
    """A link that leads nowhere. It does not tell whether there is a document."""

    state: ClassVar[str] = "unknown"


@dataclass(frozen=True, slots=True)
class LinkVisit:
    """The visit of a link that leads to a document. `mails` says whether e-mails leave now, so that the page may
    promise one. `contact` is the address for questions, or None.
    """

    document: Document
    recipient: Recipient
    organisation: Organisation
    mails: bool
    contact: str | None


@dataclass(frozen=True, slots=True)
class CodeVisit(LinkVisit):
    """The code of the recipient is missing. The page shows nothing of the document, not even its status, but only
    the `standing` of the codes.
    """

    state: ClassVar[str] = "code"
    standing: ChallengeStanding


@dataclass(frozen=True, slots=True)
class OpenVisit(LinkVisit):
    """It is the recipient's turn to sign, to approve or to read."""

    state: ClassVar[str] = "open"


@dataclass(frozen=True, slots=True)
class WaitingVisit(LinkVisit):
    """Others have to act: before the recipient's turn, or after it."""

    state: ClassVar[str] = "waiting"


@dataclass(frozen=True, slots=True)
class SealingVisit(LinkVisit):
    """All have signed, and the document is being sealed."""

    state: ClassVar[str] = "sealing"


@dataclass(frozen=True, slots=True)
class CompletedVisit(LinkVisit):
    """The document is sealed."""

    state: ClassVar[str] = "completed"


@dataclass(frozen=True, slots=True)
class DeclinedVisit(LinkVisit):
    """A recipient declined."""

    state: ClassVar[str] = "declined"


@dataclass(frozen=True, slots=True)
class ExpiredVisit(LinkVisit):
    """The time of the document is over. `asked_at` is when the recipient asked for a new link, if ever."""

    state: ClassVar[str] = "expired"
    asked_at: Instant | None


@dataclass(frozen=True, slots=True)
class RenewalVisit(LinkVisit):
    """The time of the document is over, and the recipient asked for a new link a short while ago."""

    state: ClassVar[str] = "expired-asked"


@dataclass(frozen=True, slots=True)
class CancelledVisit(LinkVisit):
    """The sender cancelled the document."""

    state: ClassVar[str] = "cancelled"


ClosedVisit = (
    WaitingVisit
    | SealingVisit
    | CompletedVisit
    | DeclinedVisit
    | ExpiredVisit
    | RenewalVisit
    | CancelledVisit
)
ProvenVisit = OpenVisit | ClosedVisit  # the recipient has entered the code, or needs none
KnownVisit = CodeVisit | ProvenVisit
Visit = UnknownVisit | KnownVisit
