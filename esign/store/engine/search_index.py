"""Keeps the index of words in step with the documents.

`index_document` and `forget` belong to the transaction of the change. A document's number in the index rises with
(created_at, id): a walk along the index is a list in that order.

FTS5 removes a word by writing that it is gone; the word itself stays until its segment of the index is merged.
SQLite 3.42 and later can erase at once (`secure-delete`). For earlier versions `compact` merges the segments, a
few pages at a time, within a day of an erasure.
"""

from collections.abc import Sequence

from esign.core.document.document import Document
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.store.engine import search_words
from esign.store.engine.database import Transaction

SLOTS = 4096  # numbers in a millisecond


async def index_document(tx: Transaction, document: Document, before: Document | None = None) -> None:
    """Index a document; with `before`, only if a searched text or label differs."""
    row = collect_words(document)
    if before is not None and row == collect_words(before):
        return
    number = await forget(tx, document.id) if before is not None else None
    if number is None:
        number = await find_number(tx, document.created_at, document.id)
    await insert_row(tx, number, document.id, row)


def collect_words(document: Document) -> tuple[str, str]:
    """Return the searched texts and the labels of a document."""
    people = [(recipient.name, recipient.email) for recipient in document.recipients]
    return (
        search_words.join_texts(document.title, document.file.name, document.external_id, people),
        search_words.join_labels(
            document.organisation_id,
            document.mode.value,
            document.external_id,
            document.template_id,
            [email for _, email in people],
        ),
    )


async def forget(tx: Transaction, document_id: str) -> int | None:
    """Remove a document from the index, before its row is deleted; return the number it had, or None."""
    row = await tx.points.one(
        "SELECT number, texts, labels FROM search WHERE document_id = :id", id=document_id
    )
    if row is None:
        return None
    number = int(row["number"])
    await tx.run(
        "INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', :number, :words)",
        number=number,
        words=search_words.list_words(row["texts"], row["labels"]),
    )
    await tx.run("DELETE FROM search WHERE number = :number", number=number)
    if not search_words.ERASES_AT_ONCE:
        await tx.run(
            "INSERT INTO search_rest (number) VALUES (:number) ON CONFLICT DO NOTHING", number=number
        )
    return number


async def compact(tx: Transaction, pages: int) -> bool:
    """Do one step of rewriting the index without removed words; return False when none are left."""
    if not await tx.one("SELECT 1 FROM search_rest LIMIT 1"):
        return False
    if not await tx.one("SELECT 1 FROM search_rest WHERE merging = 1 LIMIT 1"):
        await tx.run("UPDATE search_rest SET merging = 1")
        await merge(tx, -pages)  # negative: every part of the index is to become one
    elif await merge(tx, pages) < 2:  # this few changes: FTS5 found nothing more to merge
        await tx.run("DELETE FROM search_rest WHERE merging = 1")
    return True


async def merge(tx: Transaction, pages: int) -> int:
    """Merge segments of the index over so many pages; return how many rows changed."""
    before = await tx.one("SELECT total_changes() AS n")
    await tx.run("INSERT INTO search_index (search_index, rank) VALUES ('merge', :pages)", pages=pages)
    after = await tx.one("SELECT total_changes() AS n")
    return int(after["n"] - before["n"]) if before and after else 0


async def insert_row(tx: Transaction, number: int, document_id: str, row: Sequence[str]) -> None:
    """Index a document under this number."""
    await tx.run(
        "INSERT INTO search (number, document_id, texts, labels) VALUES (:number, :id, :texts, :labels)",
        number=number,
        id=document_id,
        texts=row[0],
        labels=row[1],
    )
    await index_words(tx, number, row)


async def index_words(tx: Transaction, number: int, row: Sequence[str]) -> None:
    """Add the words of a row to the index, which has none of this number yet."""
    await tx.run(
        "INSERT INTO search_index (rowid, words) VALUES (:number, :words)",
        number=number,
        words=search_words.list_words(*row),
    )


async def clear(tx: Transaction) -> None:
    """Remove everything from the index of words, to write it again from the rows."""
    await tx.run("INSERT INTO search_index (search_index) VALUES ('delete-all')")


async def find_number(tx: Transaction, created_at: Instant, document_id: str) -> int:
    """Return a free number between the neighbours of the same millisecond.

    When there is none, the numbers of that millisecond are spread out.
    """
    first = created_at * SLOTS
    row = await tx.points.one(
        """
        SELECT max(number) FILTER (WHERE document_id < :id) AS low, min(number) FILTER (WHERE document_id > :id) AS high
        FROM search WHERE number BETWEEN :first AND :last
        """,
        id=document_id,
        first=first,
        last=first + SLOTS - 1,
    )
    low, high = (row["low"], row["high"]) if row else (None, None)
    low, high = (first - 1 if low is None else low), (first + SLOTS if high is None else high)
    if high - low < 2:
        await spread_numbers(tx, first)
        return await find_number(tx, created_at, document_id)
    return int((low + high) // 2)


async def spread_numbers(tx: Transaction, first: int) -> None:
    """Spread the numbers of one millisecond evenly. Raises `unavailable` when the millisecond is full."""
    found = await tx.all(
        "SELECT document_id, texts, labels FROM search WHERE number BETWEEN :first AND :last ORDER BY number",
        first=first,
        last=first + SLOTS - 1,
    )
    gap = SLOTS // (len(found) + 1)
    if gap < 2:
        raise Problem("unavailable", retry_after=1)
    for row in found:
        await forget(tx, row["document_id"])
    for n, row in enumerate(found, 1):
        await insert_row(tx, first + n * gap, row["document_id"], (row["texts"], row["labels"]))
