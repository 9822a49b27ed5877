"""Makes a new draft of an existing document."""

from esign.actions.base import quota
from esign.actions.base.caller import Caller
from esign.actions.base.disk_room import require_room
from esign.actions.document.documents import get, make_finder
from esign.core.document import duplicate as duplicating
from esign.core.document.document import Document
from esign.core.document.state import lifecycle
from esign.runtime import Runtime
from esign.store.document import outcomes
from esign.store.engine.database import Transaction
from esign.system.entropy import make_id


async def duplicate(runtime: Runtime, caller: Caller, document_id: str, title: str | None) -> Document:
    """Create a draft with the same file, recipients and fields. The original does not change."""
    owner, author = caller.owner, caller.author
    await get(runtime, owner, document_id)  # expires the document first if its time is over
    require_room(runtime)
    await quota.check_quota(runtime, runtime.db.points, owner)
    now, find = runtime.clock.now(), make_finder(owner, document_id)

    async def write(tx: Transaction) -> Document:
        copy = duplicating.duplicate(await find(tx), title, author.actor, make_id, now)
        created = await outcomes.add(tx, lifecycle.create(copy, author.origin, now), runtime.vault, now)
        await caller.keep(tx, created)
        return created

    created = await runtime.db.write(write)
    return created
