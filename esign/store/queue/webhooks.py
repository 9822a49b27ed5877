"""Webhook subscriptions; secrets are stored as ciphertext."""

import json
from collections.abc import Sequence
from typing import Any

from esign.core.actor import Mode, Owner
from esign.core.errors import NO_WEBHOOK, Problem
from esign.core.instant import Instant
from esign.core.webhook.webhook import Webhook
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.paging import PageStart
from esign.store.engine.sql import dumps, insert, list_parameters
from esign.store.engine.unreadable_rows import load_readable

COLUMNS = tuple(Webhook.__slots__)


async def get(reader: Reader, webhook_id: str) -> Webhook | None:
    """Return the webhook, or None."""
    row = await reader.one("SELECT * FROM webhook WHERE id = :id", id=webhook_id)
    return load(row) if row else None


async def get_own(reader: Reader, owner: Owner, webhook_id: str) -> Webhook:
    """Return the webhook of this owner; raise `not_found` for any other id (I5)."""
    webhook = await get(reader, webhook_id)
    if webhook is None or (webhook.organisation_id, webhook.mode) != (owner.organisation_id, owner.mode):
        raise Problem("not_found", NO_WEBHOOK)
    return webhook


async def get_many(reader: Reader, ids: Sequence[str]) -> dict[str, Webhook]:
    """Return those of these webhooks that exist, by id."""
    names, given = list_parameters("id", ids)
    rows = await reader.all(f"SELECT * FROM webhook WHERE id IN {names}", **given)
    return {each.id: each for each in load_readable(reader, "webhook", rows, load)}


async def find_page(
    reader: Reader, owner: Owner, limit: int, after: PageStart | None = None
) -> list[Webhook]:
    """Return up to `limit` webhooks, newest first."""
    rows = await reader.all(
        """
        SELECT * FROM webhook
        WHERE organisation_id = :organisation_id AND mode = :mode AND (created_at, id) < (:created_at, :id)
        ORDER BY created_at DESC, id DESC LIMIT :limit
        """,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        created_at=after.at if after else 2**62,
        id=after.id if after else "",
        limit=limit,
    )
    return load_readable(reader, "webhook", rows, load)


async def find_owners(reader: Reader, ids: Sequence[str]) -> dict[str, str]:
    """Return the organisation of each webhook that exists, by the webhook's id."""
    names, given = list_parameters("id", ids)
    rows = await reader.all(f"SELECT id, organisation_id FROM webhook WHERE id IN {names}", **given)
    return {row["id"]: row["organisation_id"] for row in rows}


async def find_failing(reader: Reader, since: Instant) -> list[Webhook]:
    """Return the enabled webhooks that have failed since `since` or longer."""
    rows = await reader.all(
        "SELECT * FROM webhook WHERE enabled = 1 AND failing_since <= :since ORDER BY failing_since",
        since=since,
    )
    return load_readable(reader, "webhook", rows, load)


async def find(reader: Reader, owner: Owner) -> list[Webhook]:
    """Return all webhooks of an owner, oldest first."""
    rows = await reader.all(
        "SELECT * FROM webhook WHERE organisation_id = :organisation_id AND mode = :mode ORDER BY created_at, id",
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    return load_readable(reader, "webhook", rows, load)


async def add(tx: Transaction, webhook: Webhook) -> None:
    """Add a webhook."""
    await tx.run(insert("webhook", COLUMNS), **dump(webhook))


async def save(tx: Transaction, changed: Sequence[Webhook]) -> None:
    """Save webhooks that changed."""
    await tx.run_many(
        f"UPDATE webhook SET {', '.join(f'{name} = :{name}' for name in COLUMNS if name != 'id')} WHERE id = :id",
        [dump(webhook) for webhook in changed],
    )


async def delete(tx: Transaction, owner: Owner, webhook_id: str) -> bool:
    """Delete a webhook and return whether it existed; `deliveries.drop` deletes what waits for it."""
    return bool(
        await tx.run(
            "DELETE FROM webhook WHERE id = :id AND organisation_id = :organisation_id AND mode = :mode",
            id=webhook_id,
            organisation_id=owner.organisation_id,
            mode=owner.mode.value,
        )
    )


def dump(webhook: Webhook) -> dict[str, Any]:
    """Return the columns of a webhook."""
    return {name: getattr(webhook, name) for name in COLUMNS} | {
        "mode": webhook.mode.value,
        "events": dumps(list(webhook.events)),
        "enabled": int(webhook.enabled),
    }


def load(row: Row) -> Webhook:
    """Return the webhook of one row."""
    values = {name: row[name] for name in COLUMNS}
    return Webhook(
        **values
        | {
            "mode": Mode(row["mode"]),
            "events": tuple(json.loads(row["events"])),
            "enabled": bool(row["enabled"]),
        }
    )
