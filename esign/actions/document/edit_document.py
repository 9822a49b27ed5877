"""Changes a document and its recipients."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from esign.actions.base import printable_text, settings_in_force
from esign.actions.base.caller import Caller
from esign.actions.base.transition import Save, check_revision
from esign.actions.document import page_cache, upload
from esign.actions.document.documents import change_own, check_placement, get
from esign.actions.document.holder_entries import (
    HolderEntry,
    check_recipient,
    make_recipient,
    make_recipients,
    place_fields,
)
from esign.actions.document.upload import Source, Upload
from esign.core.document.audit import AuditEntry
from esign.core.document.document import Document, Field, File, Recipient, Status
from esign.core.document.state import edit as editing
from esign.core.document.state.edit import CORRECTED, correct, is_redirected
from esign.core.document.state.outcome import Event, Outcome
from esign.core.errors import Problem
from esign.core.instant import MINUTE, Instant, Millis
from esign.core.people.usage import Usage
from esign.core.sentence import say
from esign.runtime import Runtime
from esign.store.document import blobs, outcomes
from esign.store.engine.database import Transaction
from esign.store.people import usage
from esign.store.queue import audit_entries
from esign.system.entropy import make_id
from esign.system.vault import Vault

R = TypeVar("R")

WHILE: Millis = 15 * MINUTE

Recipients = Callable[[Document], tuple[Recipient, ...]]


@dataclass(frozen=True, slots=True)
class DocumentChanges:
    """The members to replace, by their names in `core`.

    A `title` of None means the title that follows from the file name, an expiry of None that of the settings, and
    what `reminders` leaves out is as in the settings. `recipients` is the whole new list; `fields` replaces the
    fields of the recipients whose ids it names.

    `file` is read only if the state allows it to be replaced. It needs a `file_name`. `upload` is the same file
    made anew from what was uploaded. `steady` marks one of many changes while a member works on a draft. The audit
    trail then records only one in a while.
    """

    members: Mapping[str, object] = field(default_factory=dict)
    file_name: str | None = None
    file: Source | None = None
    recipients: tuple[HolderEntry, ...] | None = None
    fields: Mapping[str, Sequence[Field]] | None = None
    steady: bool = False
    upload: Upload | None = None

    @property
    def names(self) -> set[str]:
        """Return the names of the members that change."""
        named: list[tuple[str, object]] = [("file", self.file_name), ("file", self.upload)]
        named += [("recipients", self.recipients), ("recipients", self.fields)]
        return {*self.members, *(name for name, given in named if given is not None)}

    def list_recipients(self, runtime: Runtime, document: Document) -> tuple[Recipient, ...] | None:
        """Return the new list of recipients, or None if it stays. Raises `invalid_request`."""
        before, now = document.recipients, runtime.clock.now()
        if self.recipients is not None:
            return make_recipients(runtime, before, self.recipients, now)
        return None if self.fields is None else place_fields(runtime, before, self.fields, now, "/recipients")


async def edit(runtime: Runtime, caller: Caller, document_id: str, changes: DocumentChanges) -> Document:
    """Change the document (D2), and return it. A new file is inspected first, and every field must lie on its pages."""
    current = await get(runtime, caller.owner, document_id)
    check_revision(current, caller.revision)
    editing.check_may_change(current, changes.names)
    changes.list_recipients(runtime, current)  # raises what is wrong with them before the file is read
    given = await settings_in_force.fill_members(runtime, caller.owner, changes.members)
    new = changes.upload
    if changes.file is not None and changes.file_name is not None:
        new = await upload.inspect(runtime, current.organisation_id, changes.file_name, changes.file)
    now = runtime.clock.now()
    replaced: File | None = None

    def decide(document: Document) -> Outcome:
        check_revision(document, caller.revision)
        editing.check_may_change(document, changes.names)
        members = dict(given)
        if new is not None:
            members["file"] = new.file
        elif changes.file_name is not None:
            members["file"] = replace(document.file, name=changes.file_name)
        if members.get("title", "") is None:
            members["title"] = editing.make_title(changes.file_name or document.file.name)
        if (recipients := changes.list_recipients(runtime, document)) is not None:
            members["recipients"] = recipients
        outcome = editing.edit(document, members, caller.author, now)
        check_placement(outcome.document)
        return outcome

    async def save(
        tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant
    ) -> Document:
        nonlocal replaced
        if new is not None:
            replaced = before.file
            await new.store(tx, now)
            await blobs.detach(tx, before.id)
            await blobs.attach(tx, before.id, *new.hashes)
            if changes.upload is None:
                await usage.add(tx, outcomes.make_meter(before, now), Usage(storage_bytes=new.size))
        if changes.steady:
            outcome = await drop_repeated_events(tx, outcome)
        return await outcomes.save(tx, outcome, before, vault, now)

    saved = await change_own(runtime, caller, document_id, decide, save)
    if replaced is not None:
        await page_cache.forget(runtime, document_id, replaced)
    return saved


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


async def add_recipient(runtime: Runtime, caller: Caller, document_id: str, entry: HolderEntry) -> Recipient:
    """Add a recipient to a draft, and return it. Raises `limit_reached` if the draft has as many as are allowed."""
    limit = runtime.config.limits.recipients
    now = runtime.clock.now()
    recipient_id = entry.new_id or make_id("rcp", now)
    named = replace(entry, new_id=recipient_id)

    def everybody(document: Document) -> tuple[Recipient, ...]:
        if len(document.recipients) >= limit:
            raise Problem(
                "limit_reached",
                say("At most {n} recipients.", one="At most {n} recipient.", n=limit),
                current_status=document.status,
            )
        recipient = make_recipient(runtime.vault, named, None, now)
        check_recipient(runtime, document, recipient)
        return (*document.recipients, recipient)

    return await change_recipients(runtime, caller, document_id, everybody, make_save(recipient_id))


async def remove_recipient(runtime: Runtime, caller: Caller, document_id: str, recipient_id: str) -> str:
    """Remove a recipient from a draft, with their fields, and return the id."""
    (await get(runtime, caller.owner, document_id)).recipient(recipient_id)

    def others(document: Document) -> tuple[Recipient, ...]:
        document.recipient(recipient_id)
        return tuple(r for r in document.recipients if r.id != recipient_id)

    async def save(tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant) -> str:
        await outcomes.save(tx, outcome, before, vault, now)
        return recipient_id

    return await change_recipients(runtime, caller, document_id, others, save)


@dataclass(frozen=True, slots=True)
class RecipientChanges:
    """The members of a recipient to replace, as `HolderEntry` has them.

    `require_send` raises if the caller may not
    send documents. It is called before a document that is out goes to another address, in the transaction that
    changes it: the document may have been sent since the caller looked.
    """

    members: Mapping[str, Any]
    require_send: Callable[[], None]


async def change_recipient(
    runtime: Runtime, caller: Caller, document_id: str, recipient_id: str, changes: RecipientChanges
) -> Recipient:
    """Change any member of a recipient on a draft, or correct address and name while the document is out."""
    now, members = runtime.clock.now(), changes.members

    def decide(document: Document) -> Outcome:
        recipient = document.recipient(recipient_id)
        changed = make_recipient(runtime.vault, HolderEntry(members), recipient, now)
        check_revision(document, caller.revision)
        if document.status is Status.SENT and CORRECTED.issuperset(members):
            if is_redirected(recipient, changed.email):
                changes.require_send()
            return correct(document, changed, caller.author, now)
        editing.check_may_change(document, ("recipients",))
        check_recipient(runtime, document, changed)
        people = document.with_recipient(changed).recipients
        return editing.edit(document, {"recipients": people}, caller.author, now)

    current = await get(runtime, caller.owner, document_id)
    decide(current)  # a refusal by the state comes before one by the printable-text check
    if current.status is Status.SENT:
        texts = {f"/{name}": str(members[name]) for name in CORRECTED & members.keys()}
        await printable_text.check_texts(runtime, texts, current.organisation_id)
    return await change_own(runtime, caller, document_id, decide, make_save(recipient_id))


async def change_recipients(
    runtime: Runtime, caller: Caller, document_id: str, recipients: Recipients, save: Save[R]
) -> R:
    """Replace the recipients of a draft, and return what `save` returns."""
    now = runtime.clock.now()

    def decide(document: Document) -> Outcome:
        check_revision(document, caller.revision)
        editing.check_may_change(document, ("recipients",))
        return editing.edit(document, {"recipients": recipients(document)}, caller.author, now)

    return await change_own(runtime, caller, document_id, decide, save)


def make_save(recipient_id: str) -> Save[Recipient]:
    """Return a function that saves an outcome and returns the recipient as it is then."""

    async def save(
        tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant
    ) -> Recipient:
        return (await outcomes.save(tx, outcome, before, vault, now)).recipient(recipient_id)

    return save
