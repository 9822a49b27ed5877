"""Lets a recipient whose document has expired ask for a new link."""

from esign.actions.signing.signing import find_proven, get_linked_document, show_link
from esign.actions.signing.visits import Visit, Visitor
from esign.core.actor import Origin
from esign.core.document.state import renew_link
from esign.runtime import Runtime
from esign.store.document import outcomes
from esign.store.engine.database import Transaction
from esign.store.queue import audit_entries


async def ask(runtime: Runtime, visitor: Visitor, origin: Origin) -> Visit:
    """Notify the sender that the recipient asks for a new link, at most once an hour, and return the visit."""
    seen = await find_proven(runtime, visitor)
    person, now = seen.recipient, runtime.clock.now()

    async def write(tx: Transaction) -> None:
        document = await get_linked_document(tx, visitor.token, now)
        asked_at = await audit_entries.find_last_time(tx, document.id, renew_link.ASKED, person.id)
        if not renew_link.is_recent(asked_at, now):
            outcome = renew_link.ask_for_link(
                document, document.recipient(person.id), seen.contact, origin, now
            )
            await outcomes.save_events(tx, outcome, runtime.vault, now)

    await runtime.db.write(write)
    return await show_link(runtime, seen.document, person.id, visitor)
