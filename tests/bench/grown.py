"""Databases of many documents, made by the real schema and kept for the next run; their files are empty."""

import random
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from esign.core.document.document import Document, Recipient, RecipientStatus, Status
from esign.core.instant import DAY, Instant
from esign.store.document.documents import RECIPIENT_COLUMNS, WRITTEN, dump_document, dump_recipients
from esign.store.engine import search_words
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.search_index import SLOTS, collect_words
from esign.store.engine.sql import insert
from esign.system.app_key import KeySource, open_vault
from esign.system.entropy import make_id
from tests.factories import NOW, a_document, a_recipient, an_organisation, store_organisation

FOLDER = Path(tempfile.gettempdir()) / "esign-scale"
BATCH = 5_000
SPREAD = 3 * 365 * DAY
START: Instant = NOW - SPREAD

KINDS = [
    "Lease",
    "Offer",
    "Employment contract",
    "Non-disclosure",
    "Order",
    "Vollmacht",
    "Договор",
    "Σύμβαση",
    "契約書",
]
NAMES = (
    "Ana Bo Chloé Dmitri Elif Fatima Giorgos Hana Ingrid José Karol Léa Mehmet Nora Olga Pál Quentin Rosa Søren Tomáš "
    "Uğur Vera Wei Xenia Yusuf Zoë Анна Дмитро Ольга Σοφία Νίκος فاطمة יעל अनिता สมชาย 花子 伟 민준"
)
SYLLABLES = "mar ber kov son sen dot ter lan gru hof rei nak ito sil van pet ros wal zem tor bru fel kar mon"
GIVEN, ROOTS = NAMES.split(), SYLLABLES.split()
STAFF = 20
TEMPLATES = 20
RARE, OLD = "quetzalcoatl", "altbestand"


def grow_documents(count: int) -> Iterator[Document]:
    """Oldest first; the same documents each time. The oldest tenth has OLD in its title, one in the middle RARE."""
    dice = random.Random(7)
    step = SPREAD // count
    drafts = {status: a_document(a_recipient(), a_recipient(), status=status) for status in Status}
    for n in range(count):
        created = START + n * step + dice.randrange(step)
        name, staff = a_name(dice), n % STAFF
        status = a_status(dice, created)
        closed = min(NOW, created + dice.randrange(10 * DAY))
        done = status is Status.COMPLETED
        marks = f" {OLD}" if n < count // 10 else f" {RARE}" if n == count // 2 else ""
        yield replace(
            drafts[status],
            id=make_id("doc", created),
            recipients=(
                a_person(f"rcp_1{n}", name, f"{dice.choice(ROOTS)}{n}@customer{n % 977}.example", done),
                a_person(f"rcp_2{n}", f"Staff {staff}", f"staff{staff}@northlight.example", done),
            ),
            title=f"{dice.choice(KINDS)} {name}{marks}",
            external_id=f"order-{n:07}",
            template_id=f"tpl_{n % TEMPLATES}",
            created_at=created,
            updated_at=created if status is Status.DRAFT else closed,
            sent_at=None if status is Status.DRAFT else created,
            completed_at=closed if done else None,
        )


def a_name(dice: random.Random) -> str:
    family = "".join(dice.choice(ROOTS) for _ in range(dice.randint(2, 3)))
    return f"{dice.choice(GIVEN)} {family.capitalize()}"


SHARES = {
    Status.COMPLETED: 74,
    Status.EXPIRED: 10,
    Status.DECLINED: 7,
    Status.CANCELLED: 4,
    Status.DRAFT: 5,
}
ENDED = [status for status, share in SHARES.items() for _ in range(share)]


def a_status(dice: random.Random, created: Instant) -> Status:
    """Most are completed; only what is younger than a month may still be out."""
    if created > NOW - 25 * DAY and dice.random() < 0.5:
        return Status.SENT
    return dice.choice(ENDED)


def a_person(id: str, name: str, email: str, done: bool) -> Recipient:
    return Recipient(id, email, name, status=RecipientStatus.COMPLETED if done else RecipientStatus.CREATED)


async def database(count: int) -> Path:
    """The folder of a database with that many documents; made where it is not there."""
    folder = FOLDER / str(count)
    if not (folder / "ready").exists() or not (folder / "app.key").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.iterdir():
            left.unlink()
        open_vault(KeySource(folder / FILE))  # a database without its key is refused
        async with open_for_command(folder / FILE) as db:
            await store_organisation(db, an_organisation())
        fill(folder / FILE, count)
        (folder / "ready").touch()
    return folder


def fill(path: Path, count: int) -> None:
    """All rows at once: what takes the program a transaction each would take hours."""
    documents = grow_documents(count)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -400000")
        while batch := [*islice(documents, BATCH)]:
            connection.execute("BEGIN")
            fill_in(connection, batch)
            connection.execute("COMMIT")
        connection.execute(
            "INSERT INTO blob (sha256, size, created_at) SELECT 'of ' || id, 0, created_at FROM document"
        )
        connection.execute(
            "INSERT INTO document_blob (document_id, sha256) SELECT id, 'of ' || id FROM document"
        )
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def fill_in(connection: sqlite3.Connection, batch: list[Document]) -> None:
    connection.executemany(insert("document", WRITTEN), map(dump_document, batch))
    people = (row for document in batch for row in dump_recipients(document))
    connection.executemany(insert("recipient", RECIPIENT_COLUMNS), people)
    lines: list[dict[str, Any]] = []
    for document in batch:
        texts, labels = collect_words(document)
        number = document.created_at * SLOTS + SLOTS // 2
        lines.append(
            {
                "number": number,
                "document_id": document.id,
                "texts": texts,
                "labels": labels,
                "rowid": number,
                "words": search_words.list_words(texts, labels),
            }
        )
    connection.executemany(insert("search", ("number", "document_id", "texts", "labels")), lines)
    connection.executemany(insert("search_index", ("rowid", "words")), lines)
    connection.executemany(
        insert("audit", AUDIT),
        ({**TRAIL, "document_id": document.id, "at": document.created_at} for document in batch),
    )
    recent = [document for document in batch if document.created_at > NOW - 29 * DAY]
    connection.executemany(insert("event", EVENT), map(event, recent))
    connection.executemany(insert("outbox", JOB), map(job, recent))


# ---------- what the clock looks at, for what is younger than the time it is kept ----------

AUDIT = (
    "document_id", "seq", "at", "type", "actor_kind", "data", "personal", "salt", "personal_hash", "prev_hash", "hash"
)  # fmt: skip
TRAIL = {
    "seq": 1,
    "type": "document.created",
    "actor_kind": "api_key",
    "data": "{}",
    "personal": '{"actor":{"name":"ci","email":null},"ip":"203.0.113.7","userAgent":null,"detail":null}',
    "salt": bytes(16),
    "personal_hash": bytes(32),
    "prev_hash": bytes(32),
    "hash": bytes(32),
}
EVENT = ("id", "organisation_id", "mode", "document_id", "sequence", "type", "created_at", "body")
JOB = ("kind", "key", "document_id", "state", "due_at", "attempts", "created_at", "finished_at")


def event(document: Document) -> dict[str, Any]:
    return {
        "id": f"evt_{document.id[4:]}",
        "organisation_id": document.organisation_id,
        "mode": document.mode.value,
        "document_id": document.id,
        "sequence": 1,
        "type": "document.created",
        "created_at": document.created_at,
        "body": bytes(2_000),
    }


def job(document: Document) -> dict[str, Any]:
    return {
        "kind": "mail",
        "key": f"invite.{document.id}",
        "document_id": document.id,
        "state": "done",
        "due_at": document.created_at,
        "attempts": 1,
        "created_at": document.created_at,
        "finished_at": document.created_at,
    }
