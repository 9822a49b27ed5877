"""Erases the data of one person: first looked at, then requested, then carried out document by document.

Each document is erased in a transaction of its own, which also records how far the erasure has come. After an
interruption it goes on behind the last document, and its numbers are right.
"""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote_plus

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.actions.document import page_cache
from esign.core.actor import PROGRAM, Author, Mode, Owner
from esign.core.document import erasure as rules
from esign.core.document.audit import ERASED
from esign.core.document.document import Document
from esign.core.document.document_filters import DocumentFilters, Sort
from esign.core.document.erasure import ErasureRequest, Fate
from esign.core.document.state import lifecycle
from esign.core.errors import Problem
from esign.core.fold_text import fold
from esign.runtime import Runtime
from esign.store.document import documents, listing, saved_views, templates
from esign.store.document.erase_document import erase
from esign.store.engine.database import Transaction
from esign.store.engine.paging import PageStart
from esign.store.people import audit_log as logged
from esign.store.people import contacts, erasings, members, organisations
from esign.store.people.audit_log import AuditLogFilter
from esign.system.entropy import make_id
from esign.system.supervision import beat

BATCH = 50
LOG_PAGE = 200
MOST = 5_000  # documents that are looked at before an erasure is requested
NEWEST = 20
MODES = (Mode.LIVE, Mode.TEST)
START = PageStart(-1, "")


@dataclass(frozen=True, slots=True)
class ErasurePreview:
    """What an erasure requested now would do: documents by their fate, and `alone` the erased ones without
    other people.

    `more` says that further documents were not looked at. `templates` holds id and title of those that name the
    address. `is_contact` says that the person is in the address book, of live or test mode.
    """

    fates: Counter[Fate]
    alone: int
    more: bool
    templates: tuple[tuple[str, str], ...]
    is_member: bool
    is_contact: bool

    @property
    def documents(self) -> int:
        """Return the number of documents that were looked at."""
        return self.fates.total()

    @property
    def with_others(self) -> int:
        """Return the number of documents to erase in which other people take part."""
        return self.fates[Fate.ERASED] - self.alone


async def preview_erasure(runtime: Runtime, owner: Owner, email: str) -> ErasurePreview:
    """Return what an erasure requested now would do. Nothing is changed."""
    now = runtime.clock.read_settled_time()
    organisation = await organisations.get(runtime.db, owner.organisation_id)
    fates: Counter[Fate] = Counter()
    alone, more = 0, False
    async for _, document in walk_documents(runtime, owner.organisation_id, email, Mode.LIVE, START):
        more = fates.total() == MOST
        if more:
            break
        fate = rules.decide_fate(document, organisation, email, True, now)
        fates[fate] += 1
        alone += fate is Fate.ERASED and not rules.has_others(document, email)
    named = await templates.find_containing(runtime.db, owner.organisation_id, email)
    is_member = await members.is_active(runtime.db, owner.organisation_id, email)
    books = [Owner(owner.organisation_id, mode) for mode in MODES]
    is_contact = any([await contacts.find_by_address(runtime.db, book, email) for book in books])
    return ErasurePreview(fates, alone, more, tuple(named), is_member, is_contact)


async def walk_documents(
    runtime: Runtime, organisation_id: str, email: str, mode: Mode, after: PageStart
) -> AsyncIterator[tuple[Mode, Document]]:
    """Yield every document in which this address is a recipient's, with its mode, oldest first, from a place on."""
    asked = DocumentFilters(recipient_email=email, sort=Sort.OLDEST)
    for one in MODES[MODES.index(mode) :]:
        owner = Owner(organisation_id, one)
        while found := await listing.find_page(runtime.db, owner, BATCH, after, asked):
            for document in found:
                beat()
                yield one, document
            after = listing.find_place(found[-1], asked)
        after = START


async def request_erasure(runtime: Runtime, caller: Caller, email: str, shared: bool) -> ErasureRequest:
    """Request an erasure, which a scheduled job carries out.

    With `shared`, documents with other people are erased too.
    """
    author, now = caller.author, runtime.clock.now()
    erasing = ErasureRequest(
        id=make_id("ers", now),
        organisation_id=caller.owner.organisation_id,
        email=email,
        shared=shared,
        actor=author.actor,
        origin=author.origin,
        created_at=now,
    )

    async def write(tx: Transaction) -> ErasureRequest:
        await erasings.add(tx, erasing, runtime.vault)
        entry = AdminAct("erasure.requested", now, {"erasureId": erasing.id, "shared": shared})
        await audit_log.add_entry(tx, runtime.vault, erasing.organisation_id, author, entry)
        await caller.keep(tx, erasing)
        return erasing

    return await runtime.db.write(write)


async def list_recent(runtime: Runtime, owner: Owner) -> list[ErasureRequest]:
    """Return the newest requests, newest first."""
    return await erasings.find_newest(runtime.db, owner.organisation_id, runtime.vault, NEWEST)


async def carry_out(runtime: Runtime, erasing: ErasureRequest) -> int:
    """Carry out an erasure from where it stopped to its end. Return the number of documents erased by this call."""
    assert erasing.email is not None
    after = PageStart(erasing.at, erasing.document_id)
    gone = 0
    async for mode, document in walk_documents(
        runtime, erasing.organisation_id, erasing.email, erasing.mode, after
    ):
        gone += await erase_document(runtime, erasing, mode, document) is Fate.ERASED
    await erase_from_log(runtime, erasing)

    async def finish(tx: Transaction) -> None:
        now = runtime.clock.now()
        assert erasing.email is not None
        await contacts.delete_by_address(tx, erasing.organisation_id, erasing.email)
        await saved_views.delete_mentioning(tx, erasing.organisation_id, quote_plus(erasing.email))
        erased = await erasings.finish(tx, erasing.id, now)  # includes those of interrupted runs
        entry = AdminAct("erasure.finished", now, {"erasureId": erasing.id, "documents": erased})
        await audit_log.add_entry(tx, runtime.vault, erasing.organisation_id, PROGRAM, entry)

    await runtime.db.write(finish)
    return gone


async def erase_from_log(runtime: Runtime, erasing: ErasureRequest) -> None:
    """Erase the personal data in the administrative audit log, a page at a time. A later entry names the erased
    entries.

    The acts of an active member are kept as long as they are a member.
    """
    organisation_id, email = erasing.organisation_id, erasing.email or ""
    if await members.is_active(runtime.db, organisation_id, email):
        return
    wanted, after = AuditLogFilter(organisation_id), None
    while found := await logged.find_page(runtime.db, wanted, LOG_PAGE, after):
        after = logged.find_place(found[-1])
        numbers = [
            line.seq for line in found if line.personal is not None and has_address(line.personal, email)
        ]
        if numbers:
            await runtime.db.write(partial(erase_entries, runtime, organisation_id, numbers))


async def erase_entries(runtime: Runtime, organisation_id: str, numbers: list[int], tx: Transaction) -> None:
    """Erase the personal data of the entries, and enter which were erased."""
    await logged.erase_personal(tx, organisation_id, numbers)
    entry = AdminAct(ERASED, runtime.clock.now(), {"entries": numbers})
    await audit_log.add_entry(tx, runtime.vault, organisation_id, PROGRAM, entry)


def has_address(personal: object, email: str) -> bool:
    """Return whether the address stands anywhere in the personal data of an entry."""
    if isinstance(personal, dict):
        return any(has_address(value, email) for value in personal.values())
    return isinstance(personal, str) and fold(personal) == fold(email)


async def erase_document(
    runtime: Runtime, erasing: ErasureRequest, mode: Mode, seen: Document
) -> Fate | None:
    """Erase one document if the rules allow it, and record the progress. Return what became of it.

    It is read again, and None is returned if it is deleted or the address is no longer a recipient's.
    """
    now, email = runtime.clock.now(), erasing.email or ""

    async def write(tx: Transaction) -> Fate | None:
        fate = None
        try:
            document = await documents.get(tx, seen.id)
        except Problem:  # deleted meanwhile
            document = None
        if document is not None and rules.is_recipient(document, email):
            organisation = await organisations.get(tx, document.organisation_id)
            fate = rules.decide_fate(
                document, organisation, email, erasing.shared, runtime.clock.read_settled_time()
            )
            if fate is Fate.ERASED:
                outcome = lifecycle.delete(document, Author(erasing.actor, erasing.origin), now)
                await erase(tx, outcome, document, runtime.vault, now)
        await erasings.advance(tx, erasing.id, mode, PageStart(seen.created_at, seen.id), fate)
        return fate

    fate = await runtime.db.write(write)
    if fate is Fate.ERASED:
        await page_cache.forget(runtime, seen.id, seen.file)
    return fate
