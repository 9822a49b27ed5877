"""Stores and removes the logo that an organisation shows on signing pages, in e-mails and on certificate pages."""

import hashlib
from dataclasses import replace

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.actions.base.disk_room import require_room
from esign.core.actor import Author
from esign.core.errors import Problem
from esign.core.people.account import Logo, Organisation
from esign.pdf.inspection import RedrawnPicture
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import logos, organisations

MOST = 2**20  # bytes of an uploaded picture
LARGE = "This logo is larger than 1 MB. Choose a smaller one."
UNREAD = "We can’t read this picture. Save it again or choose another."


async def redraw_logo(runtime: Runtime, caller: Caller, image: bytes) -> RedrawnPicture:
    """Return the picture as a logo, without storing it.

    Raises `invalid_request` with a sentence if it cannot be used as one.
    """
    if len(image) > MOST:
        raise Problem("invalid_request", LARGE)
    turn = QueueTurn(PdfJobKind.ACT, caller.owner.organisation_id)
    try:
        return await runtime.pdf.reencode(image, "logo", turn)
    except Problem as problem:
        if problem.code == "invalid_file":  # the picture made a worker fail
            raise Problem("invalid_request", UNREAD) from problem
        raise


async def save_logo(runtime: Runtime, caller: Caller, image: bytes) -> None:
    """Store the picture as the logo. Raises as `redraw_logo` does."""
    owner = caller.owner
    require_room(runtime)
    picture = await redraw_logo(runtime, caller, image)
    logo = Logo(hashlib.sha256(picture.png).hexdigest(), picture.width, picture.height)

    async def write(tx: Transaction) -> None:
        organisation = await organisations.get(tx, owner.organisation_id)
        await logos.save(tx, organisation.id, logo.sha256, picture.png)
        await organisations.save(tx, replace(organisation, logo=logo))
        await log_change(runtime, tx, organisation, logo, caller.author)

    await runtime.db.write(write)


async def remove_logo(runtime: Runtime, caller: Caller) -> None:
    """Remove the logo. Pages then show the initials; sealed files and sent e-mails do not change."""

    async def write(tx: Transaction) -> None:
        organisation = await organisations.get(tx, caller.owner.organisation_id)
        await logos.delete(tx, organisation.id)
        await organisations.save(tx, replace(organisation, logo=None))
        await log_change(runtime, tx, organisation, None, caller.author)

    await runtime.db.write(write)


async def log_change(
    runtime: Runtime, tx: Transaction, before: Organisation, logo: Logo | None, author: Author
) -> None:
    """Enter the change in the administrative audit log, with the hashes of the pictures."""
    was, will = (one.sha256 if one else None for one in (before.logo, logo))
    if was != will:
        data = {"changes": {"logo": {"from": was, "to": will}}}
        act = AdminAct("settings.changed", runtime.clock.now(), data)
        await audit_log.add_entry(tx, runtime.vault, before.id, author, act)
