"""The numbers that are kept are those that counting would give, whatever happens to documents."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esign.core.actor import NOWHERE, PROGRAM, Mode, Owner
from esign.core.document.attention import find_trouble
from esign.core.document.document import Document, MailDelivery, RecipientStatus, Role, Status
from esign.core.document.document_filters import DocumentFilters
from esign.core.document.state import lifecycle
from esign.core.document.state.outcome import Outcome
from esign.core.document.state.remind import send_reminder
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.store.document import documents, listing, outcomes, status_counts
from esign.store.document.documents import dump_document, dump_recipients
from esign.store.document.erase_document import erase
from esign.store.document.status_counts import StatusCounts
from esign.store.engine import migrate, search_words
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Database, Transaction
from esign.store.engine.sql import insert
from esign.system.entropy import make_id
from esign.system.vault import Vault
from tests.factories import (
    NOW,
    ORGANISATION,
    a_document,
    a_recipient,
    a_seal,
    an_organisation,
    store,
    store_organisation,
)
from tests.store.plans import steps

Step = Callable[[Document], Outcome]


def waited_for(document: Document) -> str:
    for recipient in document.recipients:
        if recipient.is_invited:
            return recipient.id
    raise Problem("no_recipient_to_remind")


def refuse(document: Document) -> Outcome:
    """The mail server says that there is no such address."""
    one = document.recipient(waited_for(document))
    return Outcome(document.with_recipient(replace(one, delivery=MailDelivery.FAILED)))


def sign(document: Document) -> Outcome:
    one = document.recipient(waited_for(document))
    return lifecycle.complete(document, one, "agreed", NOWHERE, NOW)


STEPS: dict[str, Step] = {
    "send": lambda d: lifecycle.send(d, PROGRAM, NOW),
    "refuse": refuse,
    "remind": lambda d: send_reminder(d, d.recipient(waited_for(d)), NOW),
    "sign": sign,
    "seal fails": lambda d: lifecycle.seal_failed(d, "no answer", NOW)[0],
    "seal": lambda d: lifecycle.seal(d, a_seal(), NOW),
    "cancel": lambda d: lifecycle.cancel(d, None, False, PROGRAM, NOW),
    "expire": lambda d: lifecycle.expire(d, NOW + 40 * DAY),
}


async def take(db: Database, vault: Vault, id: str, step: str) -> None:
    """One step in one transaction; what the state machine refuses changes nothing."""

    async def write(tx: Transaction) -> None:
        before = await documents.get(tx, id)
        if step == "delete":
            await erase(tx, lifecycle.delete(before, PROGRAM, NOW), before, vault, NOW)
        else:
            await outcomes.save(tx, STEPS[step](before), before, vault, NOW)

    with suppress(Problem):
        await db.write(write)


async def count_documents(db: Database, organisation_id: str, mode: Mode) -> StatusCounts:
    """The same by looking at every document."""
    rows = await db.all(
        "SELECT id FROM document WHERE organisation_id = :o AND mode = :m", o=organisation_id, m=mode.value
    )
    found = [await documents.get(db, row["id"]) for row in rows]
    there = Counter(document.status for document in found)
    return StatusCounts(
        {status: there[status] for status in Status}, sum(find_trouble(d) is not None for d in found)
    )


LIKELY = [*STEPS, "send", "sign", "sign", "sign", "delete"]


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(walk=st.lists(st.tuples(st.integers(0, 5), st.sampled_from(LIKELY)), max_size=50))
async def test_after_any_walk_the_numbers_are_what_counting_gives(
    db: Database, vault: Vault, walk: list[tuple[int, str]]
) -> None:
    mine, other = make_id("org", NOW), make_id("org", NOW)
    for id in (mine, other):
        await store_organisation(db, an_organisation(id=id))
    ids = []
    for n in range(6):
        owner = {"organisation_id": other if n == 5 else mine, "mode": Mode.TEST if n == 4 else Mode.LIVE}
        made = a_document(a_recipient("Ada"), a_recipient("Bo"), **owner)
        ids.append((await store(db, vault, made)).id)
    for n, step in walk:
        await take(db, vault, ids[n], step)
    for organisation_id in (mine, other):
        for mode in Mode:
            kept = await status_counts.find(db, Owner(organisation_id, mode))
            assert kept == await count_documents(db, organisation_id, mode)


@pytest.mark.parametrize(
    ("walk", "status", "attention"),
    [
        (["send", "refuse"], Status.SENT, 1),
        (["send", "refuse", "remind"], Status.SENT, 0),
        (["send", "refuse", "cancel"], Status.CANCELLED, 0),
        (["send", "sign", "seal fails"], Status.SEALING, 1),
        (["send", "sign", "seal fails", "seal fails", "seal"], Status.COMPLETED, 0),
        (["send", "refuse", "expire"], Status.EXPIRED, 0),
    ],
)
async def test_a_document_needs_attention_until_it_is_put_right_or_over(
    db: Database, vault: Vault, walk: list[str], status: Status, attention: int
) -> None:
    mine = (await store_organisation(db, an_organisation())).id
    id = (await store(db, vault, a_document())).id
    for step in walk:
        await take(db, vault, id, step)
    kept = await status_counts.find(db, Owner(mine, Mode.LIVE))
    assert (kept.of[status], kept.all, kept.attention) == (1, 1, attention)


async def test_documents_from_before_the_numbers_were_kept_are_counted_once(tmp_path: Path) -> None:
    path, asked = tmp_path / FILE, a_recipient(status=RecipientStatus.SENT)
    refused = replace(asked, delivery=MailDelivery.FAILED)
    made = [
        a_document(),
        a_document(refused, status=Status.SENT),
        a_document(replace(asked, id="rcp_2"), status=Status.SENT),
        a_document(replace(refused, id="rcp_3", role=Role.CC), status=Status.SENT),
        a_document(replace(refused, id="rcp_4"), status=Status.CANCELLED),
        a_document(a_recipient(), status=Status.SEALING, seal_error="no answer"),
        a_document(a_recipient(), status=Status.SEALING),
    ]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        search_words.register(connection)
        for number, script in migrate.list_scripts():
            if number < 18:
                connection.executescript(script)
        connection.execute(f"PRAGMA application_id = {migrate.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 17")
        names = ("id", "name", "locale", "time_zone", "colour", "created_at")
        put(connection, "organisation", {name: getattr(an_organisation(), name) for name in names})
        for document in made:
            put(connection, "document", dump_document(document))
            for row in dump_recipients(document):
                put(connection, "recipient", row)
    async with open_for_command(path) as db:
        kept = await status_counts.find(db, Owner(ORGANISATION, Mode.LIVE))
        assert kept == await count_documents(db, ORGANISATION, Mode.LIVE)
        assert (kept.all, kept.attention) == (7, 2)
        listed = await listing.find_page(
            db, Owner(ORGANISATION, Mode.LIVE), 9, asked=DocumentFilters(attention=True)
        )
        assert {document.id for document in listed} == {made[1].id, made[5].id}


def put(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    """What of the row the table had a column for at the time."""
    known = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})") if name in row]
    connection.execute(insert(table, known), {name: row[name] for name in known})


async def test_the_numbers_are_read_along_their_key(db: Database) -> None:
    plan = await steps(db, lambda tx: status_counts.find(tx, Owner(ORGANISATION, Mode.LIVE)))
    assert [step.partition(" USING ")[0] for step in plan] == ["SEARCH document_count"]
