"""A document as a row of the list: what it is, how far it has come, and what to do next about it."""

from collections.abc import Collection
from dataclasses import dataclass

from esign.actions.document.bulk_actions import BulkAction
from esign.core.actor import Actor
from esign.core.document.attention import Trouble, find_refused_recipients, find_trouble
from esign.core.document.document import RecipientStatus, Status
from esign.core.document.summary import AnyDocument, DocumentSummary, RecipientSummary
from esign.core.people.account import Organisation
from esign.core.people.permission import Permission
from esign.web.office.document import possible_actions
from esign.web.office.frame.formats import Times

BADGES = {
    Status.DRAFT: "Draft",
    Status.SENT: "Waiting",
    Status.SEALING: "Sealing",
    Status.COMPLETED: "Completed",
    Status.DECLINED: "Declined",
    Status.EXPIRED: "Expired",
    Status.CANCELLED: "Cancelled",
}
TROUBLES = {Trouble.SEAL: ("failed", "Seal delayed"), Trouble.ADDRESS: ("attention", "Address refused")}
PIPS = {
    RecipientStatus.CREATED: "",
    RecipientStatus.SENT: "sent",
    RecipientStatus.VIEWED: "viewed",
    RecipientStatus.COMPLETED: "done",
    RecipientStatus.DECLINED: "no",
}
MOST_PIPS = 9
FIRST, LAST = "\u2068", "\u2069"  # between these a name has a direction of its own


@dataclass(frozen=True, slots=True)
class RowAction:
    """The next step: an action that is done at once, one that asks first, a download, or a page of the document."""

    label: str
    deed: str | None = None
    page: str = ""
    asks: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One row.

    `badge` is (kind, word); `pips` holds one kind for each acting recipient; `can` holds the bulk actions that
    would work now.
    """

    document: DocumentSummary
    badge: tuple[str, str]
    source: str
    pips: tuple[str, ...]
    progress: str
    next: RowAction
    can: tuple[BulkAction, ...]

    @property
    def ill(self) -> str:
        """Return the tone of the progress: `bad` or `warn` where the sender has to look, else ""."""
        return {"failed": "bad", "declined": "bad", "attention": "warn"}.get(self.badge[0], "")


def choose_badge(document: AnyDocument) -> tuple[str, str]:
    """Return the kind and the word of the document's badge."""
    ill = find_trouble(document)
    return TROUBLES[ill] if ill else (document.status.value, BADGES[document.status])


def make_row(
    document: DocumentSummary, organisation: Organisation, may: Collection[Permission], times: Times
) -> DocumentRow:
    """Return the row as a member with these rights sees it. Without `Act.WORK` it offers reading alone."""
    ill = find_trouble(document)
    can = [
        deed for deed in BulkAction if possible_actions.is_possible(deed, document, organisation, times.now)
    ]
    acting = [recipient for recipient in document.recipients if recipient.acting]
    return DocumentRow(
        document,
        choose_badge(document),
        name_source(document.created_by),
        tuple(PIPS[recipient.status] for recipient in acting),
        describe_progress(document, acting, times),
        choose_action(document, ill) if Permission.WORK in may else choose_reader_action(document),
        tuple(can) if Permission.WORK in may else (),
    )


def name_source(actor: Actor) -> str:
    """Return who made the document: the name of a person, or `API: ` and the name of the key."""
    return f"API: {actor.name}" if actor.kind == "api_key" else actor.name or "esign"


def describe_progress(document: DocumentSummary, acting: list[RecipientSummary], times: Times) -> str:
    """Return how far the document has come, in words."""
    if not acting:
        return "No recipients yet"
    done = sum(recipient.status is RecipientStatus.COMPLETED for recipient in acting)
    far = f"{done} of {len(acting)}"
    match document.status:
        case Status.DRAFT:
            return "1 recipient" if len(acting) == 1 else f"{len(acting)} recipients"
        case Status.SENT:
            return describe_waiting(document, acting, far)
        case Status.SEALING:
            return "All signed, the seal is tried again" if document.seal_error else f"{far}, being sealed"
        case Status.COMPLETED:
            return f"{far} signed"
        case Status.DECLINED:
            who = next((r.name for r in acting if r.status is RecipientStatus.DECLINED), None)
            return f"Declined by {FIRST}{who}{LAST}" if who else f"{far}, declined"
        case Status.EXPIRED | Status.CANCELLED:
            return f"{far}, {document.status} on {times.day(document.closed_at or document.updated_at)}"


def describe_waiting(document: DocumentSummary, acting: list[RecipientSummary], far: str) -> str:
    if ill := find_refused_recipients(document):
        return f"Mail to {FIRST}{ill[0].name}{LAST} refused"
    asked = [recipient for recipient in acting if recipient.is_invited]
    if len(asked) == 1:
        return f"{far}, next: {FIRST}{asked[0].name}{LAST}"
    return f"{far}, waiting for {len(asked)}"


def choose_action(document: DocumentSummary, ill: Trouble | None) -> RowAction:
    """Return the one step that moves the document on."""
    if ill is Trouble.SEAL:
        return RowAction("Seal now", BulkAction.SEAL)
    if ill is Trouble.ADDRESS:
        return RowAction("Correct", page=f"/recipients/{find_refused_recipients(document)[0].id}")
    return {
        Status.DRAFT: RowAction("Finish", page="/edit"),
        Status.SENT: RowAction("Remind", asks=BulkAction.REMIND),
        Status.COMPLETED: RowAction("Download", "download"),
        Status.DECLINED: RowAction("See reason"),
    }.get(document.status, RowAction("Open"))


def choose_reader_action(document: DocumentSummary) -> RowAction:
    return RowAction("Download", "download") if document.status is Status.COMPLETED else RowAction("Open")
