"""Changes a document and its recipients."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from esign.actions.base import printable_text
from esign.actions.base.transition import Keep, Save, check_revision, perform_transition
from esign.actions.document import upload
from esign.actions.document.documents import check_placement, get, make_finder
from esign.actions.document.upload import Source
from esign.core.actor import Actor, Origin, Owner
from esign.core.document.audit import AuditEntry
from esign.core.document.document import Document, Recipient, Status
from esign.core.document.state import edit as editing
from esign.core.document.state.correct import CORRECTED, correct, is_redirected
from esign.core.document.state.outcome import Event, Outcome
from esign.core.errors import Problem
from esign.core.instant import MINUTE, Instant, Millis
from esign.core.people.usage import Usage
from esign.runtime import Runtime
from esign.store.document import blobs, outcomes
from esign.store.engine.database import Transaction
from esign.store.people import usage
from esign.store.queue import audit_entries
from esign.system.vault import Vault

R = TypeVar("R")

WHILE: Millis = 15 * MINUTE

Recipients = Callable[[Document], tuple[Recipient, ...]]
Check = Callable[[Document, Recipient], None]


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """Who asks for a change of which document, and at which revision, if any.

    `steady` marks one of many changes while a member works on a draft. The audit trail then records only one in
    a while.
    """

    owner: Owner
    document_id: str
    actor: Actor
    origin: Origin
    revision: int | None = None
    steady: bool = False


@dataclass(frozen=True, slots=True)
class DocumentChanges:
    """The members to replace, by their names in `core`. A `title` of None means the title that follows from the
    file name.

    `file` is read only if the state allows it to be replaced. It needs a `file_name`.
    """

    members: Mapping[str, object]
    file_name: str | None = None
    file: Source | None = None
    recipients: Recipients | None = None

    @property
    def names(self) -> set[str]:
        """Return the names of the members that change."""
        named = {"file": self.file_name, "recipients": self.recipients}
        return {*self.members, *(name for name, given in named.items() if given is not None)}


async def edit(
    runtime: Runtime, asking: ChangeRequest, changes: DocumentChanges, keep: Keep[Document] | None = None
) -> Document:
    """Change the document (D2), and return it. A new file is inspected first, and every field must lie on its pages."""
    current = await get(runtime, asking.owner, asking.document_id)
    check_revision(current, asking.revision)
    editing.check_may_change(current, changes.names)
    if changes.recipients is not None:
        changes.recipients(current)  # raises what is wrong with them before the file is read
    new = None
    if changes.file is not None and changes.file_name is not None:
        new = await upload.inspect(runtime, current.organisation_id, changes.file_name, changes.file)
    now = runtime.clock.now()

    def decide(document: Document) -> Outcome:
        check_revision(document, asking.revision)
        editing.check_may_change(document, changes.names)
        members = dict(changes.members)
        if changes.file_name is not None:
            members["file"] = new.file if new else replace(document.file, name=changes.file_name)
        if members.get("title", "") is None:
            members["title"] = editing.make_title(changes.file_name or document.file.name)
        if changes.recipients is not None:
            members["recipients"] = changes.recipients(document)
        outcome = editing.edit(document, members, asking.actor, asking.origin, now)
        check_placement(outcome.document)
        return outcome

    async def save(
        tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant
    ) -> Document:
        if new is not None:
            await new.store(tx, now)
            await blobs.detach(tx, before.id)
            await blobs.attach(tx, before.id, *new.hashes)
            await usage.add(tx, outcomes.make_meter(before, now), Usage(storage_bytes=new.size))
        if asking.steady:
            outcome = await drop_repeated_events(tx, outcome)
        return await outcomes.save(tx, outcome, before, vault, now)

    found = make_finder(asking.owner, asking.document_id)
    return await perform_transition(runtime, found, decide, save, keep)


async def drop_repeated_events(tx: Transaction, outcome: Outcome) -> Outcome:
    """Return the outcome without its event if the newest entry of the trail says the same.

    That is the same change by the same actor, a short while ago.
    """
    seq, _ = await audit_entries.get_head(tx, outcome.document.id)
    newest = await audit_entries.find_entries(tx, outcome.document.id, after=seq - 1)
    return replace(
        outcome, events=tuple(e for e in outcome.events if not any(is_repetition(e, n) for n in newest))
    )


def is_repetition(event: Event, entry: AuditEntry) -> bool:
    """Return whether the event repeats a recent entry of the same actor. The change of a file is never a repetition."""
    who = (event.actor.kind, event.actor.id)
    return (
        (event.type, event.data, who) == (entry.type, entry.data, (entry.actor_kind, entry.actor_id))
        and "fileSha256" not in event.data
        and event.at < entry.at + WHILE
    )


# ---------- one recipient ----------


async def add_recipient(
    runtime: Runtime,
    asking: ChangeRequest,
    recipient: Recipient,
    check: Check,
    keep: Keep[Recipient] | None = None,
) -> Recipient:
    """Add a recipient to a draft, and return it. Raises `limit_reached` if the draft has as many as are allowed."""
    limit = runtime.config.limits.recipients

    def everybody(document: Document) -> tuple[Recipient, ...]:
        if len(document.recipients) >= limit:
            raise Problem("limit_reached", f"At most {limit} recipients.", current_status=document.status)
        check(document, recipient)
        return (*document.recipients, recipient)

    return await change_recipients(runtime, asking, everybody, make_save(recipient.id), keep)


async def remove_recipient(
    runtime: Runtime, asking: ChangeRequest, recipient_id: str, keep: Keep[str] | None = None
) -> str:
    """Remove a recipient from a draft, with their fields, and return the id."""
    (await get(runtime, asking.owner, asking.document_id)).recipient(recipient_id)

    def others(document: Document) -> tuple[Recipient, ...]:
        document.recipient(recipient_id)
        return tuple(r for r in document.recipients if r.id != recipient_id)

    async def save(tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant) -> str:
        await outcomes.save(tx, outcome, before, vault, now)
        return recipient_id

    return await change_recipients(runtime, asking, others, save, keep)


async def change_recipient(
    runtime: Runtime,
    asking: ChangeRequest,
    recipient_id: str,
    members: Mapping[str, Any],
    check: Check,
    keep: Keep[Recipient] | None = None,
    *,
    require_send: Callable[[], None],
) -> Recipient:
    """Change any member of a recipient on a draft, or correct address and name while the document is out.

    `require_send` raises if the caller may not send documents. It is called before a document that is out goes
    to another address, in the transaction that changes it: the document may have been sent since the caller
    looked.
    """
    now = runtime.clock.now()

    def changed(document: Document) -> tuple[Recipient, ...]:
        recipient = replace(document.recipient(recipient_id), **members)
        check(document, recipient)
        return document.with_recipient(recipient).recipients

    def decide(document: Document) -> Outcome:
        recipient = document.recipient(recipient_id)
        check_revision(document, asking.revision)
        if document.status is Status.SENT and CORRECTED.issuperset(members):
            email, name = (members.get(member, getattr(recipient, member)) for member in ("email", "name"))
            if is_redirected(recipient, email):
                require_send()
            return correct(document, recipient, email, name, asking.actor, asking.origin, now)
        editing.check_may_change(document, ("recipients",))
        return editing.edit(document, {"recipients": changed(document)}, asking.actor, asking.origin, now)

    current = await get(runtime, asking.owner, asking.document_id)
    decide(current)  # a refusal by the state comes before one by the printable-text check
    if current.status is Status.SENT:
        texts = {f"/{name}": str(members[name]) for name in CORRECTED & members.keys()}
        await printable_text.check_texts(runtime, texts, current.organisation_id)
    found = make_finder(asking.owner, asking.document_id)
    return await perform_transition(runtime, found, decide, make_save(recipient_id), keep)


async def change_recipients(
    runtime: Runtime, asking: ChangeRequest, recipients: Recipients, save: Save[R], keep: Keep[R] | None
) -> R:
    """Replace the recipients of a draft, and return what `save` returns."""
    now = runtime.clock.now()

    def decide(document: Document) -> Outcome:
        check_revision(document, asking.revision)
        editing.check_may_change(document, ("recipients",))
        return editing.edit(document, {"recipients": recipients(document)}, asking.actor, asking.origin, now)

    return await perform_transition(
        runtime, make_finder(asking.owner, asking.document_id), decide, save, keep
    )


def make_save(recipient_id: str) -> Save[Recipient]:
    """Return a function that saves an outcome and returns the recipient as it is then."""

    async def save(
        tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant
    ) -> Recipient:
        return (await outcomes.save(tx, outcome, before, vault, now)).recipient(recipient_id)

    return save
