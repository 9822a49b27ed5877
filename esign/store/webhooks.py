"""Webhook subscriptions; the secret only as ciphertext."""

import json

from esign.core.document import Mode
from esign.core.instant import Instant
from esign.core.webhook import Webhook
from esign.store.database import Reader, Row, Transaction
from esign.store.sql import dumps, insert

COLUMNS = tuple(Webhook.__slots__)


async def get(reader: Reader, webhook_id: str) -> Webhook | None:
    row = await reader.one("SELECT * FROM webhook WHERE id = :id", id=webhook_id)
    return load(row) if row else None


async def find(reader: Reader, organisation_id: str, mode: Mode) -> list[Webhook]:
    rows = await reader.all(
        "SELECT * FROM webhook WHERE organisation_id = :organisation_id AND mode = :mode ORDER BY created_at, id",
        organisation_id=organisation_id,
        mode=mode.value,
    )
    return [load(row) for row in rows]


async def add(tx: Transaction, webhook: Webhook) -> None:
    values = {name: getattr(webhook, name) for name in COLUMNS}
    await tx.run(
        insert("webhook", COLUMNS),
        **values
        | {
            "mode": webhook.mode.value,
            "events": dumps(list(webhook.events)),
            "enabled": int(webhook.enabled),
        },
    )


async def delete(tx: Transaction, organisation_id: str, mode: Mode, webhook_id: str) -> bool:
    """Whether it was there; its pending deliveries are the outbox's to drop."""
    return bool(
        await tx.run(
            "DELETE FROM webhook WHERE id = :id AND organisation_id = :organisation_id AND mode = :mode",
            id=webhook_id,
            organisation_id=organisation_id,
            mode=mode.value,
        )
    )


async def succeeded(tx: Transaction, webhook_id: str, now: Instant) -> None:
    await tx.run(
        "UPDATE webhook SET last_success_at = :now, failing_since = NULL WHERE id = :id",
        id=webhook_id,
        now=now,
    )


async def failed(tx: Transaction, webhook_id: str, now: Instant) -> None:
    await tx.run(
        "UPDATE webhook SET failing_since = COALESCE(failing_since, :now) WHERE id = :id",
        id=webhook_id,
        now=now,
    )


async def disable(tx: Transaction, webhook_id: str, reason: str, now: Instant) -> None:
    await tx.run(
        """
        UPDATE webhook SET enabled = 0, disabled_at = :now, disabled_reason = :reason, updated_at = :now
        WHERE id = :id AND enabled = 1
        """,
        id=webhook_id,
        reason=reason,
        now=now,
    )


def load(row: Row) -> Webhook:
    values = {name: row[name] for name in COLUMNS}
    return Webhook(
        **values
        | {
            "mode": Mode(row["mode"]),
            "events": tuple(json.loads(row["events"])),
            "enabled": bool(row["enabled"]),
        }
    )
