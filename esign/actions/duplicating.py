"""A new draft made of a document there is."""

from esign.actions import quota
from esign.actions.documents import find_own, get
from esign.actions.room import require_room
from esign.actions.transition import Keep
from esign.core import duplicating, lifecycle
from esign.core.actor import Actor, Origin, Owner
from esign.core.document import Document
from esign.entropy import new_id
from esign.runtime import Runtime
from esign.store import outcomes
from esign.store.database import Transaction


async def duplicate(
    runtime: Runtime,
    owner: Owner,
    document_id: str,
    title: str | None,
    actor: Actor,
    origin: Origin,
    keep: Keep | None = None,
) -> Document:
    """A draft with the same file, recipients and fields; the original is only read."""
    await get(runtime, owner, document_id)  # lets it expire first where its time is over
    require_room(runtime)
    await quota.check(runtime, runtime.db, owner.organisation_id, owner.mode)
    now, find = runtime.clock.now(), find_own(owner, document_id)

    async def write(tx: Transaction) -> Document:
        copy = duplicating.duplicate(await find(tx), title, actor, new_id, now)
        created = await outcomes.add(tx, lifecycle.create(copy, origin, now), runtime.vault, now)
        if keep is not None:
            await keep(tx, created)
        return created

    created = await runtime.db.write(write)
    runtime.bell.ring()
    return created
