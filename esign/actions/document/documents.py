"""Creates, reads, sends and expires documents."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from esign.actions.base import printable_text, quota, settings_in_force
from esign.actions.base.caller import Caller
from esign.actions.base.expiry import may_expire
from esign.actions.base.transition import Decide, Find, R, Save, check_revision, perform_transition
from esign.actions.document import contacts, upload
from esign.actions.document.holder_entries import HolderEntry, make_recipients, renew_codes
from esign.actions.document.upload import Source
from esign.core.actor import Owner
from esign.core.document.audit import AuditEntry
from esign.core.document.document import Document
from esign.core.document.document_filters import DocumentFilters
from esign.core.document.placement import find_misplaced
from esign.core.document.state import Act, is_past_expiry, lifecycle, require
from esign.core.document.state.edit import make_title
from esign.core.document.state.outcome import Outcome
from esign.core.document.summary import DocumentSummary, summarize
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant
from esign.runtime import Runtime
from esign.store.document import documents, listing, outcomes
from esign.store.engine.database import Transaction
from esign.store.engine.paging import PageStart
from esign.store.engine.unreadable_rows import UnreadableRow, has_more
from esign.store.queue import audit_entries
from esign.system.entropy import make_id
from esign.system.vault import Vault


@dataclass(frozen=True, slots=True)
class DocumentOrder:
    """What the caller wants created.

    Without a title it follows from the file name. Without `expires_in_days`, and for what `reminders` leaves out
    by the names of `Reminders`, the settings apply.
    """

    file_name: str
    file: Source
    title: str | None = None
    recipients: tuple[HolderEntry, ...] = ()
    subject: str | None = None
    message: str | None = None
    locale: str | None = None
    expires_in_days: int | None = None
    reminders: Mapping[str, Any] = field(default_factory=dict)
    redirect_url: str | None = None
    external_id: str | None = None
    metadata: Mapping[str, str] | None = None
    send: bool = False


async def create(runtime: Runtime, caller: Caller, order: DocumentOrder) -> Document:
    """Create a draft (D1) and return it. With `order.send` it is sent at once (D4).

    The file is inspected and normalised, and a trial shows that it can be sealed. Raises what `quota.check_quota`,
    `upload.inspect`, `make_recipients`, `check_placement` and `check_ready` raise.
    """
    owner, author = caller.owner, caller.author
    recipients = make_recipients(runtime, (), order.recipients, runtime.clock.now())
    defaults = await settings_in_force.read(runtime, owner)
    await quota.check_quota(runtime, runtime.db.points, owner)
    uploaded = await upload.inspect(runtime, owner.organisation_id, order.file_name, order.file)
    now = runtime.clock.now()
    document = Document(
        id=make_id("doc", now),
        organisation_id=owner.organisation_id,
        mode=owner.mode,
        title=order.title or make_title(order.file_name),
        file=uploaded.file,
        created_by=author.actor,
        created_at=now,
        updated_at=now,
        recipients=recipients,
        subject=order.subject or None,
        message=order.message or None,
        locale=order.locale,
        expires_in_days=order.expires_in_days or defaults.expires_in_days,
        reminders=replace(defaults.reminders, **order.reminders),
        redirect_url=order.redirect_url,
        external_id=order.external_id or None,
        metadata=order.metadata or {},
    )
    check_placement(document)

    if order.send:
        await check_ready(runtime, document)

    async def write(tx: Transaction) -> Document:
        await uploaded.store(tx, now)
        # The upload took its time: the key may have been exchanged since the recipients were made.
        made = replace(document, recipients=renew_codes(runtime.vault, recipients, order.recipients))
        created = await outcomes.add(tx, lifecycle.create(made, author.origin, now), runtime.vault, now)
        if order.send:
            await quota.check_quota(runtime, tx, owner)
            sent = lifecycle.send(created, author, now)
            created = await outcomes.save(tx, sent, created, runtime.vault, now)
        await caller.keep(tx, created)
        return created

    created = await runtime.db.write(write)
    return created


def check_placement(document: Document) -> None:
    """Raise `field_out_of_bounds` naming every field that lies outside its page."""
    holders = [recipient.fields for recipient in document.recipients]
    if problems := find_misplaced(holders, document.file.pages, "/recipients"):
        raise Problem("field_out_of_bounds", details=problems[:100])


async def send(runtime: Runtime, caller: Caller, document_id: str) -> Document:
    """Send the draft to its recipients (D4), and return the document.

    Raises `revision_mismatch` if it has another revision than the caller has seen, `document_not_ready` if something is
    missing or cannot be printed, and what `quota.check_quota` raises.
    """
    owner = caller.owner
    found = await get(runtime, owner, document_id)
    check_revision(found, caller.revision)
    require(found, Act.SEND)
    await check_ready(runtime, found)
    await quota.check_quota(runtime, runtime.db.points, owner)
    now = runtime.clock.now()

    async def find(tx: Transaction) -> Document:
        await quota.check_quota(runtime, tx, owner)  # others may have sent meanwhile
        return await make_finder(owner, document_id)(tx)

    def decide(document: Document) -> Outcome:
        require(document, Act.SEND)
        check_revision(document, found.revision)  # only what was checked above is sent
        return lifecycle.send(document, caller.author, now)

    async def save(
        tx: Transaction, outcome: Outcome, before: Document, vault: Vault, at: Instant
    ) -> Document:
        sent = await outcomes.save(tx, outcome, before, vault, at)
        await contacts.remember_recipients(tx, sent, caller.author, at)
        return sent

    return await perform_transition(runtime, find, decide, save, caller.keep)


async def list_obstacles(runtime: Runtime, draft: Document) -> list[Detail]:
    """List the problems that prevent sending. If the printable-text check is unavailable, `send` repeats it."""
    details = lifecycle.find_missing(draft)
    with suppress(Problem):
        details += await printable_text.find_problems(runtime, draft)
    return details[:100]


async def check_ready(runtime: Runtime, draft: Document) -> None:
    """Raise `document_not_ready` naming what the draft lacks and which texts cannot be printed."""
    if details := [*lifecycle.find_missing(draft), *await printable_text.find_problems(runtime, draft)]:
        raise Problem("document_not_ready", details=details[:100], current_status=draft.status)


async def change_own(runtime: Runtime, caller: Caller, document_id: str, decide: Decide, save: Save[R]) -> R:
    """Perform a transition of a document of the caller, keep the answer, and return what `save` returns."""
    find = make_finder(caller.owner, document_id)
    return await perform_transition(runtime, find, decide, save, caller.keep)


def make_finder(owner: Owner, document_id: str) -> Find:
    """Return a function that reads the owner's document in the transaction that changes it."""

    async def find(tx: Transaction) -> Document:
        return await documents.get_own(tx, owner, document_id)

    return find


async def get(runtime: Runtime, owner: Owner, document_id: str) -> Document:
    """Return the document as it is now. A document that is past its expiry expires first (D10)."""
    document = await documents.get_own(runtime.db, owner, document_id)
    return await expire_if_due(runtime, document)


async def get_revision(runtime: Runtime, owner: Owner, document_id: str) -> int:
    """Return the revision that `get` would return the document with, without loading the document."""
    version = await documents.get_version(runtime.db.points, owner, document_id)
    if not await may_expire(runtime, runtime.db.points, version):
        return version.revision
    return (await expire(runtime, document_id)).revision


async def expire_if_due(runtime: Runtime, document: Document) -> Document:
    """Return the document, expired if its time is over."""
    if not await may_expire(runtime, runtime.db.points, document):
        return document
    return await expire(runtime, document.id)


async def expire(runtime: Runtime, document_id: str) -> Document:
    """Let a document expire if it still may (D10), and return it. If it has changed meanwhile, it stays as it is."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> Document:
        before = await documents.get(tx, document_id)
        if not await may_expire(runtime, tx, before):
            return before
        return await outcomes.save(tx, lifecycle.expire(before, now), before, runtime.vault, now)

    document = await runtime.db.write(write)
    return document


async def find_page(
    runtime: Runtime, owner: Owner, limit: int, after: PageStart | None, asked: DocumentFilters
) -> tuple[list[DocumentSummary], PageStart | None]:
    """Return a page of a list and the place where the next page begins, or None.

    The page is shorter if documents of it have just expired and no longer match the filters.
    """
    db = runtime.db
    found = await listing.find_summaries(db, owner, limit + 1, after, asked, db.points)
    page = found[:limit]
    more = listing.find_place(page[-1], asked) if page and has_more(found, limit) else None
    return await refresh_summaries(runtime, page, asked), more


async def refresh_summaries(
    runtime: Runtime, found: Sequence[DocumentSummary], asked: DocumentFilters
) -> list[DocumentSummary]:
    """Return the documents of a list as they are now.

    Those that are past their expiry expire first (D10), and are left out if they no longer match the filters.
    """
    now = runtime.clock.read_settled_time()
    late = [summary for summary in found if is_past_expiry(summary, now)]
    if not late or not await may_expire(runtime, runtime.db.points, late[0]):
        return list(found)
    current = [
        await expire_summary(runtime, summary) if is_past_expiry(summary, now) else summary
        for summary in found
    ]
    return [summary for summary in current if summary is not None and asked.still_has(summary)]


async def expire_summary(runtime: Runtime, summary: DocumentSummary) -> DocumentSummary | None:
    """Let a document expire if it still may, and return it as lists show it.

    Return None if it was deleted meanwhile, or if what a list does not show of it cannot be read.
    """
    try:
        return summarize(await expire(runtime, summary.id))
    except UnreadableRow:
        return None
    except Problem as problem:
        if problem.code != "not_found":
            raise
        return None


async def read_trail(
    runtime: Runtime, owner: Owner, document_id: str, after: int, limit: int
) -> tuple[list[AuditEntry], bool]:
    """Return the entries of the audit trail after number `after`, and whether more follow."""
    await get(runtime, owner, document_id)
    found = await audit_entries.find_entries(runtime.db, document_id, after, limit + 1)
    return found[:limit], len(found) > limit
