"""Say what a restore from a backup holds back, and let it go on (see `store.queue.held_jobs`)."""

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.people.masking import mask_email
from esign.store.document import documents
from esign.store.engine.database import Database, Reader, Transaction
from esign.store.queue import held_jobs
from esign.store.queue.held_jobs import HeldMail, Restoration
from esign.system.vault import DamagedCiphertext, Vault


@dataclass(frozen=True, slots=True)
class HeldItem:
    """A mail or delivery that is held back: its kind, its masked address, the document, and since when it waits.

    `is_wanted` is False for a delivery to a webhook that is gone or off, which nothing sends.
    """

    kind: str
    to: str
    document_id: str | None
    since: Instant
    is_wanted: bool = True


@dataclass(frozen=True, slots=True)
class HeldReport:
    """All that is held back. `restoration` is None once mails and deliveries go on; `unsealed` are document ids."""

    restoration: Restoration | None
    mails: list[HeldItem]
    deliveries: list[HeldItem]
    unsealed: list[str]


async def report_held(db: Database, vault: Vault) -> HeldReport:
    """Return what is held back, the oldest first."""
    deliveries = [
        HeldItem(one.event_type, urlsplit(one.url).hostname or "", one.document_id, one.created_at, one.is_on)
        for one in await held_jobs.list_deliveries(db)
    ]
    return HeldReport(
        restoration=await held_jobs.find_open_restoration(db),
        mails=[await describe_mail(db, vault, one) for one in await held_jobs.list_mails(db)],
        deliveries=deliveries,
        unsealed=await held_jobs.list_unsealed(db),
    )


async def describe_mail(reader: Reader, vault: Vault, mail: HeldMail) -> HeldItem:
    """Return the kind and the masked address of a mail; of one that cannot be read, neither."""
    try:
        body = json.loads(vault.decrypt("outbox", mail.body or b"", mail.key.encode()))
    except (DamagedCiphertext, ValueError):
        return HeldItem("a mail that cannot be read", "", mail.document_id, mail.created_at)
    return HeldItem(body["letter"], await find_address(reader, mail, body), mail.document_id, mail.created_at)


async def find_address(reader: Reader, mail: HeldMail, body: dict[str, object]) -> str:
    """Return the masked address of a mail; of one to the sender of a document, these words."""
    if isinstance(to := body.get("to"), list):
        return mask_email(str(to[0]))
    try:
        document = await documents.get(reader, mail.document_id or "")
        recipient = body.get("recipient")
        return mask_email(document.recipient(recipient).email) if isinstance(recipient, str) else "the sender"
    except Problem:
        return "nobody any more"


async def resume(db: Database, now: Instant, *, drop: bool, seal_anew: bool) -> None:
    """Send, or drop, the mails and deliveries that are held back; with `seal_anew`, seal the documents again too."""

    async def write(tx: Transaction) -> None:
        await (held_jobs.drop if drop else held_jobs.release)(tx, now)
        if seal_anew:
            await held_jobs.release_seals(tx, now)

    await db.write(write)


async def hold_all(db: Database, made_at: Instant, now: Instant) -> None:
    """Hold back everything that waits in a database that was just restored."""
    await db.write(lambda tx: held_jobs.hold(tx, made_at, now))
