"""`esign doctor --data` over many documents beside a server that writes: `python -m tests.bench doctor [COUNT]`.

The database is made once and kept: completed documents with whole trails, heads and five contents each of 54 kB in all;
the sealed files name their trail as real ones do and are no PDFs otherwise.
"""

import asyncio
import hashlib
import random
import shutil
import sqlite3
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from esign.actions.server.data_checks import check_folder
from esign.core.document import audit
from esign.core.document.document import Document, File, Recipient, RecipientStatus, Status
from esign.core.document.state.outcome import Event
from esign.core.instant import SECOND
from esign.core.webhook.webhook import PUBLISHED
from esign.store.document.documents import RECIPIENT_COLUMNS, WRITTEN, dump_document, dump_recipients
from esign.store.document.trails import PURPOSE
from esign.store.engine import search_words
from esign.store.engine.connections import FILE, open_database, open_for_command
from esign.store.engine.database import Transaction
from esign.store.engine.search_index import SLOTS, collect_words
from esign.store.engine.sql import dumps, insert
from esign.store.server import installation
from esign.system.app_key import KeySource, open_vault
from esign.system.vault import Vault
from tests.bench.grown import BATCH, FOLDER, SPREAD, STAFF, START, a_name
from tests.bench.table import describe_machine
from tests.factories import (
    A4,
    ORIGIN,
    SENDER,
    a_document,
    a_field,
    a_seal,
    an_organisation,
    store_organisation,
)

COUNT = 100_000
UPLOADED, PREPARED, SEALED, CERTIFICATE, PICTURE = 12_000, 12_000, 25_000, 4_000, 1_000  # bytes
ACTS = ("document.created", "document.sent", "recipient.sent", "recipient.viewed", "recipient.consented")
MOST = 60.0  # seconds


async def run(names: list[str]) -> None:
    count = int(names[0]) if names else COUNT
    folder = await database(count)
    print(describe_machine())
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{count:,} documents, {size / 2**30:.1f} GiB")
    alone, waits = await time_writes(folder, 10.0, None)
    print(f"a write of one row, alone: p50 {alone:.1f} ms, p99 {waits:.1f} ms", flush=True)
    seconds = []

    async def diagnose() -> None:
        began = time.perf_counter()
        result = await asyncio.to_thread(check_folder, folder, None)
        seconds.append(time.perf_counter() - began)
        assert not result, result[:5]

    beside, late = await time_writes(folder, 3600.0, diagnose)
    print(f"beside the doctor: p50 {beside:.1f} ms, p99 {late:.1f} ms")
    print(f"doctor: {seconds[0]:.1f} s{'' if seconds[0] <= MOST else ' MISSED'}")


async def time_writes(folder: Path, longest: float, work: Any) -> tuple[float, float]:
    """Write one row a hundred times a second for some seconds, or while the work runs; p50 and p99 in ms."""
    times: list[float] = []
    db = await open_database(folder / FILE)

    async def write(tx: Transaction) -> None:
        await installation.save(tx, "bench", str(len(times)).encode())

    try:
        running = asyncio.create_task(work()) if work else None
        end = time.perf_counter() + longest
        while time.perf_counter() < end and not (running and running.done()):
            began = time.perf_counter()
            await db.write(write)
            times.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.01)
        if running:
            await running
    finally:
        await db.close()
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.99)]


async def database(count: int) -> Path:
    """The folder of a database with that many whole documents; made where it is not there."""
    folder = FOLDER / f"whole-{count}"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(0o700, parents=True)
        vault = open_vault(KeySource(folder / FILE))
        async with open_for_command(folder / FILE) as db:
            await installation.confirm_key(db, vault)
            await store_organisation(db, an_organisation())
        fill(folder / FILE, count, vault)
        (folder / "ready").touch()
    return folder


def fill(path: Path, count: int, vault: Vault) -> None:
    dice = random.Random(7)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("synchronous = OFF", "cache_size = -400000", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")
        for first in range(0, count, BATCH):
            connection.execute("BEGIN")
            for n in range(first, min(first + BATCH, count)):
                fill_in(connection, dice, n, START + n * (SPREAD // count), vault, is_recent=n > count * 0.97)
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def fill_in(
    connection: sqlite3.Connection, dice: random.Random, n: int, at: int, vault: Vault, *, is_recent: bool
) -> None:
    """Write one completed document with all that belongs to it."""
    document, events, contents = make_whole(dice, n, at)
    lines = list(make_trail(document, events))
    head = lines[document.revision - 1]  # the entry before `document.completed`
    sealed = (
        b"%PDF-1.7\n"
        + dice.randbytes(SEALED)
        + b"\n<< /EsignAudit (doc\\137%s %d %s) >>\n%%%%EOF\n"
        % (document.id[4:].encode(), head.seq, head.hash.hex().encode())
    )
    contents.append(sealed)
    assert document.seal is not None
    seal = replace(document.seal, sha256=hashlib.sha256(sealed).hexdigest(), size=len(sealed))
    document = replace(document, seal=seal)
    last = Event("document.completed", document.updated_at, data={"sha256": seal.sha256})
    lines.append(audit.make_entry(last, document.id, head.seq + 1, head.hash, dice.randbytes(16)))
    connection.execute(insert("document", WRITTEN), dump_document(document))
    connection.executemany(insert("recipient", RECIPIENT_COLUMNS), list(dump_recipients(document)))
    columns = tuple(audit.AuditEntry.__slots__)
    connection.executemany(
        insert("audit", columns),
        [
            {name: getattr(line, name) for name in columns}
            | {"data": dumps(dict(line.data)), "personal": dumps(dict(line.personal or {}))}
            for line in lines
        ],
    )
    end = lines[-1]
    mac = vault.compute_mac(PURPOSE, audit.compose_head_message(document.id, end.seq, end.hash))
    connection.execute(
        "INSERT INTO audit_head (document_id, seq, mac, late) VALUES (?, ?, ?, 0)",
        (document.id, end.seq, mac),
    )
    for content in contents:
        sha256 = hashlib.sha256(content).hexdigest()
        connection.execute("INSERT INTO blob VALUES (?, ?, ?, 1)", (sha256, len(content), at))
        connection.execute("INSERT INTO blob_chunk VALUES (?, 0, ?)", (sha256, content))
        connection.execute("INSERT INTO document_blob VALUES (?, ?)", (document.id, sha256))
    texts, labels = collect_words(document)
    number = document.created_at * SLOTS + SLOTS // 2
    connection.execute("INSERT INTO search VALUES (?, ?, ?, ?)", (number, document.id, texts, labels))
    connection.execute(
        "INSERT INTO search_index (rowid, words) VALUES (?, ?)",
        (number, search_words.list_words(texts, labels)),
    )
    if is_recent:
        published = [line for line in lines if line.type in PUBLISHED]
        for sequence, line in enumerate(published, 1):
            connection.execute(
                "INSERT INTO event VALUES (?, ?, 'live', ?, ?, ?, ?, ?)",
                (
                    f"evt_{n}_{sequence}",
                    document.organisation_id,
                    document.id,
                    sequence,
                    line.type,
                    line.at,
                    bytes(1_500),
                ),
            )


def make_whole(dice: random.Random, n: int, at: int) -> tuple[Document, list[Event], list[bytes]]:
    """A completed document of two recipients, its events up to the last act, and its contents but the sealed file."""
    contents = [b"%PDF-1.7\n" + dice.randbytes(size) for size in (UPLOADED, PREPARED, CERTIFICATE, PICTURE)]
    uploaded, prepared, certificate, _ = (hashlib.sha256(each).hexdigest() for each in contents)
    name, document_id = a_name(dice), f"doc_{n:026}"
    people = tuple(
        Recipient(
            f"rcp_{who}{n}",
            f"{who}{n % STAFF}@customer{n % 977}.example",
            name,
            status=RecipientStatus.COMPLETED,
            fields=tuple(a_field() for _ in range(3)),
            completed_at=at,
        )
        for who in (1, 2)
    )
    events = [
        Event(type, at + step * SECOND, SENDER, None, ORIGIN, {"pageCount": 1})
        for step, type in enumerate(ACTS)
    ]
    for recipient in people:
        for type in ("recipient.authenticated", "recipient.viewed", "recipient.completed"):
            events.append(Event(type, at + 9 * SECOND, SENDER, recipient.id, ORIGIN, {"act": "signed"}))
    document = a_document(
        *people,
        id=document_id,
        status=Status.COMPLETED,
        title=f"Offer {name}",
        file=File("offer.pdf", uploaded, prepared, (A4,)),
        created_at=at,
        updated_at=at + 10 * SECOND,
        revision=len(events),
        seal=a_seal(certificate_sha256=certificate),
    )
    return document, events, contents


def make_trail(document: Document, events: list[Event]) -> Iterator[audit.AuditEntry]:
    previous = audit.START
    for seq, event in enumerate(events, 1):
        line = audit.make_entry(event, document.id, seq, previous, bytes(16))
        previous = line.hash
        yield line
