"""The mails of an organisation, sent and waiting: the rows of `outbox` as pages show them."""

from dataclasses import dataclass

from esign.core.actor import Owner
from esign.core.errors import NO_MAIL, Problem
from esign.core.instant import Instant
from esign.store.engine.database import Reader, Row
from esign.store.engine.paging import PageStart
from esign.store.engine.unreadable_rows import load_readable


@dataclass(frozen=True, slots=True)
class OutboxMail:
    """A mail; `body` is what it is written from, until it is sent. `words` is a copy of the latest one tried."""

    id: int
    key: str
    document_id: str | None
    body: bytes | None
    state: str
    due_at: Instant
    attempts: int
    boot: str | None
    last_error: str | None
    created_at: Instant
    finished_at: Instant | None
    words: bytes | None
    reply: str | None

    @property
    def place(self) -> PageStart:
        """Return the place after this mail in a list."""
        return PageStart(self.created_at, str(self.id))


COLUMNS = ", ".join(OutboxMail.__slots__)


async def find_page(
    reader: Reader,
    owner: Owner,
    limit: int,
    after: PageStart | None = None,
    undelivered: bool = False,
) -> list[OutboxMail]:
    """Return up to `limit` mails, newest first; with `undelivered` only those that wait or were given up."""
    rows = await reader.all(
        f"""
        SELECT {COLUMNS} FROM outbox
        WHERE kind = 'mail' {"AND state <> 'done'" if undelivered else ""}
        AND organisation_id = :organisation_id AND mode = :mode AND (created_at, id) < (:created_at, :id)
        ORDER BY created_at DESC, id DESC LIMIT :limit
        """,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        created_at=after.at if after else 2**62,
        id=int(after.id) if after else 0,
        limit=limit,
    )
    return load_readable(reader, "outbox", rows, load)


async def find_of_document(reader: Reader, document_id: str, limit: int) -> list[OutboxMail]:
    """Return the newest mails about a document, newest first."""
    rows = await reader.all(
        f"""
        SELECT {COLUMNS} FROM outbox WHERE document_id = :document_id AND kind = 'mail'
        ORDER BY id DESC LIMIT :limit
        """,
        document_id=document_id,
        limit=limit,
    )
    return load_readable(reader, "outbox", rows, load)


async def get_own(reader: Reader, owner: Owner, mail_id: int) -> OutboxMail:
    """Return the mail of this organisation and mode; raise `not_found` for any other id."""
    row = await reader.one(
        f"""
        SELECT {COLUMNS} FROM outbox
        WHERE id = :id AND kind = 'mail' AND organisation_id = :organisation_id AND mode = :mode
        """,
        id=mail_id,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    if row is None:
        raise Problem("not_found", NO_MAIL)
    return load(row)


async def find_invitation(reader: Reader, member_id: str) -> OutboxMail | None:
    """Return the newest invitation of a member, or None.

    It is found by its key, which holds the member's id and the time.
    """
    row = await reader.one(
        f"""
        SELECT {COLUMNS} FROM outbox WHERE key >= :least AND key < :most ORDER BY key DESC LIMIT 1
        """,
        least=f"invited:{member_id}:",
        most=f"invited:{member_id};",
    )
    return load(row) if row else None


def load(row: Row) -> OutboxMail:
    """Return the mail of one row."""
    return OutboxMail(**{name: row[name] for name in OutboxMail.__slots__})
