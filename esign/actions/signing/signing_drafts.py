"""Stores what a recipient enters before completing. It is not part of the document, and leaves no trace in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from esign.actions.signing.signing import find_visit, get_linked_document
from esign.actions.signing.visits import OpenVisit, Visitor
from esign.core.document import signing_draft as rules
from esign.core.document.signing_draft import EnteredValue, SigningDraft
from esign.core.document.state import Act, lifecycle, require
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.runtime import Runtime
from esign.store.document import signing_drafts
from esign.store.engine.database import Transaction

MOST = 2 * 2**20  # bytes, as many as a request that completes may send


@dataclass(frozen=True, slots=True)
class KeptEntries:
    """The state of the link, and for an open one the entries that are newer than those the page has seen."""

    state: str
    now: Instant
    revision: int = 0
    values: Mapping[str, EnteredValue] = field(default_factory=dict)


async def read_entries(runtime: Runtime, seen: OpenVisit) -> SigningDraft:
    """Return the stored entries of an open page."""
    return await signing_drafts.get(runtime.db, seen.recipient.id, runtime.vault)


async def keep(
    runtime: Runtime, visitor: Visitor, given: Mapping[str, EnteredValue], since: int
) -> KeptEntries:
    """Store newer entries, and return the entries that are newer elsewhere. Without entries nothing is written."""
    seen, now = await find_visit(runtime, visitor), runtime.clock.now()
    person = seen.recipient
    if not isinstance(seen, OpenVisit) or not person.acting:
        return KeptEntries(seen.state, now)
    rules.check_values(person, given)

    async def write(tx: Transaction) -> SigningDraft:
        document = await get_linked_document(tx, visitor.token, now)
        require(document, Act.FILL_IN, now)
        lifecycle.require_turn(document, document.recipient(person.id))
        before = await signing_drafts.get(tx, person.id, runtime.vault)
        after = rules.merge_values(before, given, now)
        if after is not before:
            await store_draft(runtime, tx, person.id, after)
        return after

    draft = await runtime.db.write(write) if given else await read_entries(runtime, seen)
    news = {id: new for id, new in draft.since(since).items() if new.value != find_value(given, id)}
    return KeptEntries(seen.state, now, draft.revision, news)


async def store_draft(runtime: Runtime, tx: Transaction, recipient_id: str, draft: SigningDraft) -> None:
    """Store the entries. Raises `request_too_large`."""
    content = signing_drafts.dump(draft)
    if len(content) > MOST:
        raise Problem("request_too_large", "This is more than can be kept.")
    await signing_drafts.save(tx, recipient_id, content, runtime.vault)


def find_value(given: Mapping[str, EnteredValue], id: str) -> object:
    """Return the value that the page sent for a field, or `...` if it sent none."""
    return given[id].value if id in given else ...
