"""Save filters of the document list under a name, share them, change and delete them."""

from dataclasses import replace

from esign.actions.base.caller import Caller
from esign.core.document.saved_view import MOST, SavedView
from esign.core.errors import Problem
from esign.core.sentence import say
from esign.runtime import Runtime
from esign.store.document import saved_views
from esign.store.engine.database import Transaction
from esign.system.entropy import make_id

FULL = say(
    "You have {n} views. Delete one to save another.",
    one="You have {n} view. Delete it to save another.",
    n=MOST,
)


async def find_all(runtime: Runtime, caller: Caller) -> list[SavedView]:
    """Return the caller's views and those that others share, by name."""
    own = await saved_views.find_own(runtime.db, caller.owner, read_member(caller), MOST)
    shared = await saved_views.find_shared(runtime.db, caller.owner, 2 * MOST)
    known = {view.id: view for view in (*own, *shared)}
    return sorted(known.values(), key=lambda view: (view.name.casefold(), view.id))


async def create(runtime: Runtime, caller: Caller, name: str, query: str, *, shared: bool) -> SavedView:
    """Save a view. Raise `invalid_request` for a member who has as many as one may have."""
    now, owner = runtime.clock.now(), caller.owner
    member = read_member(caller)
    view = SavedView(
        make_id("view", now), owner.organisation_id, owner.mode, member, name, query, shared, now
    )

    async def write(tx: Transaction) -> SavedView:
        if len(await saved_views.find_own(tx, owner, member, MOST)) >= MOST:
            raise Problem("invalid_request", FULL)
        await saved_views.add(tx, view)
        await caller.keep(tx, view)
        return view

    return await runtime.db.write(write)


async def get(runtime: Runtime, caller: Caller, view_id: str, *, leads: bool) -> SavedView:
    """Return a view that the caller may change; raise `not_found` for any other.

    `leads` tells whether they may change what others share.
    """
    view = await saved_views.get_own(runtime.db, caller.owner, view_id)
    if not view.may_change(read_member(caller), leads):
        raise Problem("not_found")
    return view


async def change(runtime: Runtime, view: SavedView, name: str, *, shared: bool) -> None:
    """Rename a view, and share it or stop sharing it."""

    async def write(tx: Transaction) -> None:
        await saved_views.save(tx, replace(view, name=name, shared=shared))

    await runtime.db.write(write)


async def delete(runtime: Runtime, view: SavedView) -> None:
    """Delete a view."""

    async def write(tx: Transaction) -> None:
        await saved_views.delete(tx, view.id)

    await runtime.db.write(write)


def read_member(caller: Caller) -> str:
    """Return the id of the member who asks."""
    member = caller.author.actor.id
    assert member is not None, "pages of the office are asked for by members"
    return member
