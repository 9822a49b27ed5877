"""The address book of an organisation: find, enter, change and remove contacts, and remember recipients."""

from dataclasses import dataclass, replace

from esign.actions.base.caller import Caller
from esign.core.actor import Author, Owner
from esign.core.document.document import Document
from esign.core.errors import Detail, Problem
from esign.core.fold_text import fold
from esign.core.instant import Instant
from esign.core.people.contact import Contact, split_words
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import contacts
from esign.system.entropy import make_id

PAGE = 50
CANDIDATES = 200  # words that a search looks at
TAKEN = "Someone with this address is already in the address book."
MEMBER = "member"


@dataclass(frozen=True, slots=True)
class ContactEntry:
    """What a member enters of a contact."""

    name: str
    email: str
    company: str


async def find_page(runtime: Runtime, owner: Owner, after_id: str | None) -> tuple[list[Contact], str | None]:
    """Return the contacts behind the one of this id, by name, and the id behind which the next page begins."""
    after = ("", "")
    if after_id:
        last = await contacts.get_own(runtime.db, owner, after_id)
        after = (fold(last.name), last.id)
    found = await contacts.find_page(runtime.db, owner, PAGE + 1, after)
    page = found[:PAGE]
    return page, page[-1].id if len(found) > PAGE else None


async def search(runtime: Runtime, owner: Owner, text: str, limit: int) -> list[Contact]:
    """Return contacts in which each word that was typed begins a word; those used last come first."""
    terms = split_words(text)
    if not terms:
        return []
    found = await contacts.find_by_word(runtime.db, owner, max(terms, key=len), CANDIDATES)
    fitting = [one for one in found if one.is_found_by(terms)]
    return sorted(fitting, key=lambda one: (-one.used_at, fold(one.name), one.id))[:limit]


async def get(runtime: Runtime, owner: Owner, contact_id: str) -> Contact:
    """Return the contact; raise `not_found` for one of another organisation or mode."""
    return await contacts.get_own(runtime.db, owner, contact_id)


async def add(runtime: Runtime, caller: Caller, entry: ContactEntry) -> Contact:
    """Enter a contact. Raise `invalid_request` for an address that is in the book already."""
    now, owner = runtime.clock.now(), caller.owner
    contact = make_contact(owner, entry, now)

    async def write(tx: Transaction) -> Contact:
        if await contacts.find_by_address(tx, owner, entry.email):
            raise make_conflict()
        await contacts.save(tx, contact)
        await caller.keep(tx, contact)
        return contact

    return await runtime.db.write(write)


async def change(runtime: Runtime, owner: Owner, contact_id: str, entry: ContactEntry) -> None:
    """Change a contact. Raise `not_found`, and `invalid_request` for the address of another one."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> None:
        before = await contacts.get_own(tx, owner, contact_id)
        other = await contacts.find_by_address(tx, owner, entry.email)
        if other is not None and other.id != before.id:
            raise make_conflict()
        await contacts.delete(tx, before.id)
        changed = replace(before, name=entry.name, email=entry.email, company=entry.company, used_at=now)
        await contacts.save(tx, changed)

    await runtime.db.write(write)


async def remove(runtime: Runtime, owner: Owner, contact_id: str) -> None:
    """Remove a contact; documents stay as they are. Raise `not_found`."""

    async def write(tx: Transaction) -> None:
        await contacts.delete(tx, (await contacts.get_own(tx, owner, contact_id)).id)

    await runtime.db.write(write)


async def remember_recipients(tx: Transaction, document: Document, author: Author, now: Instant) -> None:
    """Add the recipients of a document that a member sends to the address book, under their newest names.

    Programs send to crowds, in which nobody looks for a name: what an API key sends is left out.
    """
    if author.actor.kind != MEMBER:
        return
    owner = Owner(document.organisation_id, document.mode)
    for one in document.recipients:
        known = await contacts.find_by_address(tx, owner, one.email)
        if known is not None and known.name == one.name:
            await contacts.touch(tx, known.id, now)
            continue
        entry = ContactEntry(one.name, one.email, known.company if known else "")
        await contacts.save(tx, make_contact(owner, entry, now))


def make_contact(owner: Owner, entry: ContactEntry, now: Instant) -> Contact:
    """Return a new contact."""
    return Contact(
        id=make_id("con", now),
        organisation_id=owner.organisation_id,
        mode=owner.mode,
        name=entry.name,
        email=entry.email,
        company=entry.company,
        created_at=now,
        used_at=now,
    )


def make_conflict() -> Problem:
    """Return the problem of an address that is in the book already."""
    return Problem("invalid_request", details=[Detail("/email", TAKEN, "duplicate")])
