"""The index of words: what it holds, in which order, and that it forgets."""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esign.core.actor import Mode, Owner
from esign.core.document.document import Document
from esign.core.document.document_filters import DocumentFilters
from esign.core.fold_text import fold
from esign.core.people.account import Organisation
from esign.store.document import documents, listing
from esign.store.engine import migrate, search_index, search_words
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Database, Transaction
from tests.factories import NOW, a_document, a_recipient

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


async def add(db: Database, *made: Document) -> None:
    async def write(tx: Transaction) -> None:
        for document in made:
            await documents.add(tx, document)

    await db.write(write)


async def find_documents(db: Database, q: str) -> list[Document]:
    return await listing.find_page(
        db, Owner(a_document().organisation_id, Mode.LIVE), 100, asked=DocumentFilters(q=q)
    )


# ---------- words ----------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("STRASSE", "straße"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("ДОГОВІР", "договір"),
        ("ｌｅａｓｅ", "Lease"),
        ("o\u0308", "Ö"),
        ("İstanbul", "istanbul"),
        ("ﬁn", "FIN"),
    ],
)
def test_letters_of_any_case_and_width_are_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@given(title=anything, start=st.integers(0, 19), length=st.integers(1, 20))
def test_the_index_has_every_part_of_a_text(title: str, start: int, length: int) -> None:
    line = search_words.fold_plain(title)
    part = line[start : start + length]
    held = search_words.list_words(search_words.join_texts(title, "f.pdf", None, []), "").split(" ")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE i USING fts5 (w, content = '', detail = none, tokenize = 'ascii', prefix = '1 2')"
        )
        connection.execute("INSERT INTO i (rowid, w) VALUES (1, ?)", (" ".join(held),))
        if part:
            assert connection.execute(
                "SELECT rowid FROM i WHERE i MATCH ?", (search_words.match_part(part),)
            ).fetchall() == [(1,)]


def test_a_label_is_no_part_of_any_text() -> None:
    title = search_words.make_label("org_1 live", "email", "ana@example.com")
    document = a_document(title=title)
    texts, labels = search_index.collect_words(document)
    assert title not in search_words.list_words(texts, "").split(" ") and len(labels.split(" ")) == 2


# ---------- in step with the documents ----------


async def test_a_write_that_fails_takes_no_words_of_those_that_share_its_commit(
    db: Database, organisation: Organisation
) -> None:
    async def write(tx: Transaction, title: str) -> None:
        await documents.add(tx, a_document(title=title))
        if title.startswith("Wrong"):
            raise ValueError(title)

    titles = ("First", "Wrong one", "Second", "Wrong two", "Third")
    results = await asyncio.gather(
        *(db.write(partial(write, title=title)) for title in titles), return_exceptions=True
    )
    assert [isinstance(result, ValueError) for result in results] == [False, True, False, True, False]
    for title in titles:
        assert len(await find_documents(db, title)) == (not title.startswith("Wrong"))


async def test_what_was_there_before_the_index_is_taken_in(tmp_path: Path) -> None:
    path = tmp_path / FILE
    first = [script for number, script in migrate.list_scripts() if number < 3]
    made = [
        replace(
            a_document(a_recipient("Bo Óla", email="Bo@x.de"), created_at=NOW + n % 2, title=f"Größe {n}"),
            mode=mode,
        )
        for n, mode in enumerate([Mode.LIVE, Mode.LIVE, Mode.LIVE, Mode.TEST])
    ]
    made[0] = replace(made[0], external_id="order-1", template_id="tpl_1")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for script in first:
            connection.executescript(script)
        connection.execute(f"PRAGMA application_id = {migrate.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 2")
        connection.execute(
            "INSERT INTO organisation (id, name, locale, time_zone, colour, created_at) VALUES (?, '', '', '', '', 0)",
            (made[0].organisation_id,),
        )
        fill_as_it_was(connection, made)
    async with open_for_command(path) as db:
        newest = sorted(made[:3], key=lambda d: (d.created_at, d.id), reverse=True)
        assert await find_documents(db, "GRÖSSE") == newest == await find_documents(db, "óla")
        assert await find_documents(db, "größe 1") == [made[1]] and await find_documents(db, "order-1") == [
            made[0]
        ]
        for asked in (DocumentFilters(external_id="order-1"), DocumentFilters(template_id="tpl_1")):
            page = await listing.find_page(db, Owner(made[0].organisation_id, Mode.LIVE), 9, asked=asked)
            assert page == [made[0]]
        asked = DocumentFilters(recipient_email="bo@X.de")
        assert (
            await listing.find_page(db, Owner(made[0].organisation_id, Mode.LIVE), 9, asked=asked) == newest
        )
        later = a_document(created_at=NOW, title="größe")
        await add(db, later)
        rows = await db.all("SELECT document_id, texts, labels FROM search")
        for document in (*made, later):
            assert (document.id, *search_index.collect_words(document)) in [tuple(row) for row in rows]


def fill_as_it_was(connection: sqlite3.Connection, made: list[Document]) -> None:
    """Into the columns of that time."""
    for table, rows in (
        ("document", [documents.dump_document(document) for document in made]),
        ("recipient", [row for document in made for row in documents.dump_recipients(document)]),
    ):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        for row in rows:
            kept = {name: value for name, value in row.items() if name in columns}
            marks = ", ".join(f":{name}" for name in kept)
            connection.execute(f"INSERT INTO {table} ({', '.join(kept)}) VALUES ({marks})", kept)


async def test_a_change_keeps_the_place_in_the_order(db: Database, organisation: Organisation) -> None:
    made = [a_document(created_at=NOW + n, title=f"Lease {n}") for n in range(3)]
    await add(db, *made)
    changed = replace(made[0], title="Lease changed", revision=2, updated_at=NOW + 9)
    await db.write(lambda tx: documents.save(tx, changed, made[0]))
    assert await find_documents(db, "lease") == [made[2], made[1], changed]
    assert await find_documents(db, "lease 0") == []


async def test_a_change_of_nothing_that_is_searched_leaves_the_index_alone(
    db: Database, organisation: Organisation
) -> None:
    document = a_document()
    await add(db, document)
    before = [tuple(row) for row in await db.all("SELECT * FROM search_index_data")]
    changed = replace(document, metadata={"a": "b"}, revision=2, updated_at=NOW + 1)
    await db.write(lambda tx: documents.save(tx, changed, document))
    assert [tuple(row) for row in await db.all("SELECT * FROM search_index_data")] == before


async def test_a_number_that_was_free_again_brings_back_nothing(
    db: Database, organisation: Organisation
) -> None:
    gone, other = a_document(title="Zanzibar"), a_document(title="Lease")
    await add(db, gone)
    await db.write(lambda tx: documents.delete(tx, gone))
    await add(db, other)
    assert await find_documents(db, "zanzibar") == [] and await find_documents(db, "lease") == [other]
    assert await db.all("SELECT rowid FROM search_index WHERE search_index MATCH '\"zan\"'") == []


# ---------- erasing ----------

NEVER_ELSEWHERE = "龘靐齉"


def has_letters(path: Path) -> bool:
    """Whether the letters stand anywhere in the file, once the log is in it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return NEVER_ELSEWHERE.encode() in path.read_bytes()


@pytest.mark.parametrize("by_change", [True, False])
async def test_what_was_erased_stands_nowhere_in_the_file_within_a_day(
    db: Database, organisation: Organisation, tmp_path: Path, by_change: bool
) -> None:
    for n in range(40):
        await add(db, a_document(created_at=NOW + n, title=f"Lease {n}"))
    document = a_document(title=f"For {NEVER_ELSEWHERE}")
    await add(db, document)
    assert has_letters(tmp_path / FILE) and await find_documents(db, NEVER_ELSEWHERE) == [document]
    if by_change:
        changed = replace(document, title="Lease", revision=2)
        await db.write(lambda tx: documents.save(tx, changed, document))
    else:
        await db.write(lambda tx: documents.delete(tx, document))
    while await db.write(lambda tx: search_index.compact(tx, 2)):
        await add(db, a_document(created_at=NOW - 5, title="Lease meanwhile"))
    assert not has_letters(tmp_path / FILE)
    assert len(await find_documents(db, "lease 3")) == 11
    assert not await db.write(lambda tx: search_index.compact(tx, 2))
