"""A document as a row of the list: what it is, how far it has come, and what to do next about it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from esign.actions.document.bulk_actions import BulkAction
from esign.core.actor import Actor
from esign.core.document.attention import Trouble, find_refused_recipients, find_trouble
from esign.core.document.document import RecipientStatus, Status
from esign.core.document.summary import AnyDocument, DocumentSummary, RecipientSummary
from esign.core.people.account import Organisation
from esign.core.people.permission import Permission
from esign.web.office.document import possible_actions
from esign.web.office.frame.formats import Times
from esign.web.office.frame.name_lists import isolate_name
from esign.web.office.frame.words import OfficeWords

TROUBLES = {Trouble.SEAL: "failed", Trouble.ADDRESS: "attention"}
PIPS = {
    RecipientStatus.CREATED: "",
    RecipientStatus.SENT: "sent",
    RecipientStatus.VIEWED: "viewed",
    RecipientStatus.COMPLETED: "done",
    RecipientStatus.DECLINED: "no",
}
MOST_PIPS = 9
BETWEEN = Markup(" · ")


@dataclass(frozen=True, slots=True)
class RowAction:
    """The next step: an action that is done at once, one that asks first, a download, or a page of the document.

    `name` is that of its words.
    """

    name: str
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
    badge: tuple[str, Markup]
    source: str
    pips: tuple[str, ...]
    progress: Markup
    next: RowAction
    can: tuple[BulkAction, ...]

    @property
    def ill(self) -> str:
        """Return the tone of the progress: `bad` or `warn` where the sender has to look, else ""."""
        return {"failed": "bad", "declined": "bad", "attention": "warn"}.get(self.badge[0], "")


def choose_badge(document: AnyDocument, t: OfficeWords) -> tuple[str, Markup]:
    """Return the kind and the word of the document's badge."""
    if ill := find_trouble(document):
        return TROUBLES[ill], t(f"document.trouble.{ill}")
    return document.status.value, t(f"document.status.{document.status}")


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
        choose_badge(document, times.words),
        name_sender(document.created_by, times.words),
        tuple(PIPS[recipient.status] for recipient in acting),
        BETWEEN.join(describe_progress(document, acting, times)),
        choose_action(document, ill) if Permission.WORK in may else choose_reader_action(document),
        tuple(can) if Permission.WORK in may else (),
    )


def name_sender(by: Actor, t: OfficeWords) -> str:
    """Return who made the document: the name of a person, or of an API key as such."""
    return t("document.api_key", name=by.name) if by.kind == "api_key" else by.name or "esign"


def describe_progress(
    document: DocumentSummary, acting: list[RecipientSummary], times: Times
) -> Iterator[Markup]:
    """Yield how far the document has come, in a few words each."""
    t = times.words
    if not acting:
        yield t("documents.progress.nobody")
        return
    done = sum(recipient.status is RecipientStatus.COMPLETED for recipient in acting)
    far = t.count("documents.progress.done", done, total=len(acting))
    match document.status:
        case Status.DRAFT:
            yield t.count("documents.progress.recipients", len(acting))
        case Status.SENT if ill := find_refused_recipients(document):
            yield t("documents.progress.refused", name=isolate_name(ill[0].name))
        case Status.SENT:
            yield far
            yield describe_waiting(acting, t)
        case Status.SEALING:
            yield t("documents.progress.retried" if document.seal_error else "documents.progress.sealing")
        case Status.COMPLETED:
            yield far
        case Status.DECLINED:
            who = next((r.name for r in acting if r.status is RecipientStatus.DECLINED), None)
            yield t("documents.progress.declined", name=isolate_name(who)) if who else far
        case Status.EXPIRED | Status.CANCELLED:
            yield far
            day = times.day(document.closed_at or document.updated_at)
            yield t(f"documents.progress.{document.status}", day=day)


def describe_waiting(acting: list[RecipientSummary], t: OfficeWords) -> Markup:
    """Return whom the document waits for: the only one by name, several by their number."""
    asked = [recipient for recipient in acting if recipient.is_invited]
    if len(asked) == 1:
        return t("documents.progress.next", name=isolate_name(asked[0].name))
    return t.count("documents.progress.waiting", len(asked))


def choose_action(document: DocumentSummary, ill: Trouble | None) -> RowAction:
    """Return the one step that moves the document on."""
    if ill is Trouble.SEAL:
        return RowAction("seal", BulkAction.SEAL)
    if ill is Trouble.ADDRESS:
        return RowAction("correct", page=f"/recipients/{find_refused_recipients(document)[0].id}")
    return {
        Status.DRAFT: RowAction("finish", page="/edit"),
        Status.SENT: RowAction("remind", asks=BulkAction.REMIND),
        Status.COMPLETED: RowAction("download", "download"),
        Status.DECLINED: RowAction("reason"),
    }.get(document.status, RowAction("open"))


def choose_reader_action(document: DocumentSummary) -> RowAction:
    return RowAction("download", "download") if document.status is Status.COMPLETED else RowAction("open")
