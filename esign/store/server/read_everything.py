"""Reads everything that is stored, so that damage is noted; for `esign check`."""

from collections.abc import Callable
from contextlib import suppress

from esign.store.document import blobs, documents, templates, trails
from esign.store.engine.database import Database, Row
from esign.store.engine.dialect import walk_table
from esign.store.engine.unreadable_rows import UnreadableRow, load_readable
from esign.store.people import api_keys, members, organisations, users
from esign.store.queue import deliveries, webhooks

# By table: what loads a row of it.
LOADERS: dict[str, Callable[[Row], object]] = {
    "app_user": users.load,
    "delivery": deliveries.load,
    "member": members.load,
    "organisation": organisations.load,
    "template": templates.load,
    "webhook": webhooks.load,
}


async def read_all(db: Database) -> int:
    """Read every row and content and return how many; what cannot be read is noted in the damage log."""
    count = 0
    for table, load in LOADERS.items():
        async for rows in walk_table(db, table):
            load_readable(db, table, rows, load)
            count += len(rows)
    async for rows in walk_table(db, "organisation", "id"):
        for row in rows:
            count += len(await api_keys.find_all(db, str(row["id"])))
    async for rows in walk_table(db, "document", "id"):
        for row in rows:
            await read_document(db, row["id"])
        count += len(rows)
    async for rows in walk_table(db, "blob", "sha256"):
        for row in rows:
            await read_blob(db, row["sha256"])
        count += len(rows)
    async for line in trails.walk(db):
        count += 1
        if line.entry is None:
            db.damage.note("audit", f"{line.document_id} {line.seq}", "it cannot be read")
    return count


async def read_document(db: Database, document_id: object) -> None:
    """Read one document; note it if it is damaged."""
    if not isinstance(document_id, str):
        db.damage.note("document", document_id, "its id is no UTF-8")
        return
    with suppress(UnreadableRow):  # `get` has noted it
        await documents.get(db, document_id)


async def read_blob(db: Database, sha256: object) -> None:
    """Read one content and check its hash; note it if it is damaged."""
    with suppress(blobs.MissingBlob):  # `get` has noted it
        await blobs.get(db, str(sha256))
