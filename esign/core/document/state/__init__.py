"""The state machine of a document: which act each status allows, and which status follows (contract 2.1).

`TABLE` is the machine. Every function that performs an act asks it first, through `require`; further conditions,
such as whose turn it is, are in the docstring of the function. The functions are in these modules:

- `lifecycle`: every act that can change the status, from `create` to `delete`
- `edit`: changes of members, and the correction of a recipient
- `remind`: reminders by schedule and by request
- `mail_again`: invitations that were kept while no mail server was set
- `renew_link`: a recipient of an expired document asks for a new link
- `invite`: whose turn it is; called by `lifecycle` and `edit`
- `outcome`: the document, events and jobs that a transition returns
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto

from esign.core.document.document import DocumentVersion, Status
from esign.core.document.summary import AnyDocument
from esign.core.errors import Problem
from esign.core.instant import Instant


class Act(StrEnum):
    """What is done to a document; in the order of `TABLE`, which says by whom."""

    CREATE = auto()
    EDIT = auto()
    EDIT_EXPIRY = auto()
    EDIT_REMINDERS = auto()
    EDIT_REFERENCE = auto()
    SEND = auto()
    CORRECT = auto()
    REMIND = auto()
    LINK = auto()
    UNBLOCK = auto()
    CANCEL = auto()
    DELETE = auto()
    DOWNLOAD_SEALED = auto()
    VIEW = auto()
    FILL_IN = auto()
    COMPLETE = auto()
    DECLINE = auto()
    ASK_FOR_LINK = auto()
    EXPIRE = auto()
    SEAL = auto()
    FAIL_TO_SEAL = auto()
    RETRY_SEAL = auto()


NextStatuses = Mapping[Status | None, tuple[Status | None, ...]]

DRAFT, SENT, SEALING, COMPLETED, DECLINED, EXPIRED, CANCELLED = Status
NONE = None  # no document: not yet, or no longer
ENDED = (COMPLETED, DECLINED, EXPIRED, CANCELLED)


def stay_in(*statuses: Status) -> NextStatuses:
    """Return the cells of an act that leaves the status as it is."""
    return {status: (status,) for status in statuses}


def go(*before: Status, to: Status | None) -> NextStatuses:
    """Return the cells of an act that leads from each of these statuses to one other."""
    return dict.fromkeys(before, (to,))


@dataclass(frozen=True, slots=True)
class ActRule:
    """What one act does: its numbers in contract 2.1, and for each status that allows it those that may follow.

    `otherwise` is the code of the refusal in every other status, except in those of `codes`.
    """

    numbers: str
    next: NextStatuses
    otherwise: str = ""
    codes: Mapping[Status, str] = field(default_factory=dict)


TABLE: Mapping[Act, ActRule] = {
    Act.CREATE: ActRule("D1", {NONE: (DRAFT,)}),
    # the sender
    Act.EDIT: ActRule("D2", stay_in(DRAFT), "document_not_draft"),
    Act.EDIT_EXPIRY: ActRule("", stay_in(SENT), "document_not_draft", {DRAFT: "document_not_sent"}),
    Act.EDIT_REMINDERS: ActRule("", stay_in(DRAFT, SENT), "document_not_draft"),
    Act.EDIT_REFERENCE: ActRule("", stay_in(*Status)),
    Act.SEND: ActRule("D4", go(DRAFT, to=SENT), "document_not_draft"),
    Act.CORRECT: ActRule("", stay_in(SENT), "document_not_sent"),
    Act.REMIND: ActRule("", stay_in(SENT), "document_not_sent"),
    Act.LINK: ActRule("", stay_in(SENT), "document_not_sent"),
    Act.UNBLOCK: ActRule("", stay_in(SENT, SEALING, *ENDED), "document_not_sent"),
    Act.CANCEL: ActRule("D11", go(SENT, to=CANCELLED), "document_not_sent"),
    Act.DELETE: ActRule("D3 D12", go(DRAFT, *ENDED, to=NONE), "document_in_progress"),
    Act.DOWNLOAD_SEALED: ActRule("", stay_in(COMPLETED), "document_not_completed"),
    # a recipient
    Act.VIEW: ActRule("D5", stay_in(SENT), "document_not_sent"),
    Act.FILL_IN: ActRule("", stay_in(SENT), "document_not_sent"),
    Act.COMPLETE: ActRule("D5 D6", {SENT: (SENT, SEALING)}, "document_not_sent"),
    Act.DECLINE: ActRule("D9", go(SENT, to=DECLINED), "document_not_sent"),
    Act.ASK_FOR_LINK: ActRule("", stay_in(EXPIRED), "recipient_not_active"),
    # the clock, and the worker that seals
    Act.EXPIRE: ActRule("D10", go(SENT, to=EXPIRED), "document_not_sent"),
    Act.SEAL: ActRule("D7", go(SEALING, to=COMPLETED), "document_not_completed"),
    Act.FAIL_TO_SEAL: ActRule("D8", stay_in(SEALING), "document_not_completed"),
    Act.RETRY_SEAL: ActRule("", stay_in(SEALING), "seal_not_failed"),
}


def is_allowed(document: AnyDocument, act: Act) -> bool:
    """Return whether the status of the document allows the act."""
    return document.status in TABLE[act].next


def require(document: AnyDocument, act: Act, now: Instant | None = None) -> None:
    """Raise a Problem with the code of `TABLE` unless the status allows the act.

    With `now`, a document that is out past its expiry counts as expired.
    """
    status = EXPIRED if now is not None and is_past_expiry(document, now) else document.status
    rule = TABLE[act]
    if status not in rule.next:
        raise Problem(rule.codes.get(status, rule.otherwise), current_status=status)


def is_past_expiry(document: AnyDocument | DocumentVersion, now: Instant) -> bool:
    """Return whether the document is out past its expiry, so that the caller must let it expire first (D10)."""
    return document.status is SENT and document.expires_at is not None and now >= document.expires_at
