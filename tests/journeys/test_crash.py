"""kill -9 in the midst of everything: what was acknowledged stays, and everything happens once (security.md 6)."""

import asyncio
import hashlib
import re
import sqlite3
from collections import Counter
from collections.abc import Awaitable
from contextlib import closing
from pathlib import Path

import pytest

from esign import authority
from esign.jobs.worker import KINDS
from esign.pdf.report import VerificationCase
from esign.pdf.worker.workers import Workers
from esign.store.document import blobs, documents
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Database
from esign.store.queue import audit_entries
from esign.system.clock import SystemClock
from tests.every import choose
from tests.factories import is_intact
from tests.journeys.api import PATIENCE, Answer, Api, Person, a_request, a_session, until
from tests.journeys.letters import LINK
from tests.journeys.program import Program, configuration, meanwhile
from tests.journeys.receiver import Receiver
from tests.journeys.storm import Killer, MailOffice, Promises, SignerCrowd, an_office, listen
from tests.reliability.served import SETTINGS

FLOWS = 4

# Milliseconds after a request was written, after it was answered, or after something arrived elsewhere. In each run one
# kill for each of them, and one while a seal is made; by `packaging/test every` more at other moments.
PLAN = choose(
    [
        ("create", 0),
        ("send", 0),
        ("sign", 0),
        ("all signed", 0),
        ("created", 0),
        ("mail", 0),
        ("all signed", 80),
        ("webhook", 0),
        ("sent", 0),
        ("signed", 0),
        ("sealed", 0),
    ],
    [
        ("create", 8),
        ("sign", 6),
        ("send", 5),
        ("create", 30),
        ("sign", 15),
        ("all signed", 200),
        ("send", 12),
        ("create", 60),
        ("all signed", 400),
    ],
)


async def test_a_server_killed_at_every_moment_keeps_every_promise(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with an_office() as office:
        program = Program(configuration(tmp_path, SETTINGS.format(port=office.port)))
        path = tmp_path / "data" / FILE
        key = (await meanwhile("keys", "create", "--name", "crowd", "--config", program.config)).out.strip()
        await program.start()
        try:
            promises = await storm(program, path, key, office, receiver)
            await until(
                lambda: nothing_pending(path), "end of all deliveries", 2 * PATIENCE
            )  # suspects rest first
            office.settle(taken_mails(path))
            assert await program.stop() == 0
        finally:
            if program.process.returncode is None:
                await program.kill()
    assert "Traceback" not in program.said
    assert len(promises.sealed) >= FLOWS
    async with open_for_command(path) as db:
        await assert_everything_kept(db, promises)
        await assert_every_seal_holds(db, tmp_path / "data", promises)
        await assert_each_event_arrived(db, receiver)
    assert_repeats_are_the_price_of_kills(office)


async def storm(program: Program, path: Path, key: str, office: MailOffice, receiver: Receiver) -> Promises:
    """Run the whole plan of kills; what was promised meanwhile."""

    async def wait_for_recovery() -> None:
        await asyncio.to_thread(assert_sound, path, crowd.promises)
        office.settle(await asyncio.to_thread(taken_mails, path))

    killer = Killer(program, PLAN, wait_for_recovery)
    crowd = SignerCrowd(program.base, key, killer, office)
    office.killer, killer.quiet = killer, office.drain_output
    listen(receiver, killer)
    async with a_session() as session:
        await Api(session, program.base, key).webhook(receiver.url)
    async with asyncio.timeout(150), asyncio.TaskGroup() as flows:
        for _ in range(FLOWS):
            flows.create_task(crowd.keep_coming())
    assert killer.life == len(PLAN) + 1
    return crowd.promises


async def nothing_pending(path: Path) -> bool | None:
    with closing(reading(path)) as connection:
        [(jobs,)] = connection.execute("SELECT count(*) FROM outbox WHERE state = 'pending'")
        [(left,)] = connection.execute("SELECT count(*) FROM delivery WHERE status = 'pending'")
    return jobs + left == 0 or None


def reading(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


# ---------- after each kill ----------


def assert_sound(path: Path, promises: Promises) -> None:
    """The file is whole, and what was acknowledged before this moment is in it."""
    created, sent, signed = dict(promises.created), set(promises.sent), set(promises.signed)
    sealed = dict(promises.sealed)
    with closing(reading(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        stored = {
            row[0]: row[1:]
            for row in connection.execute("SELECT id, external_id, status, seal FROM document")
        }
        people = {
            row[:2]: row[2] for row in connection.execute("SELECT document_id, email, status FROM recipient")
        }
    assert {document: stored[document][0] for document in created} == created
    assert all(stored[document][1] != "draft" for document in sent)
    assert all(people[each] == "completed" for each in signed)
    assert all(
        stored[document][1] == "completed" and sha256 in stored[document][2]
        for document, sha256 in sealed.items()
    )
    again = Counter(row[0] for row in stored.values())
    assert set(again.values()) <= {1}, "an Idempotency-Key made two documents"


# ---------- at the end ----------


async def assert_everything_kept(db: Database, promises: Promises) -> None:
    rows = await db.all("SELECT id, status FROM document")
    assert {row["id"] for row in rows} == set(promises.created)
    assert {row["status"] for row in rows} == {"completed"}, "all that was signed is sealed"
    for row in rows:
        await assert_document_sound(db, row["id"])


async def assert_document_sound(db: Database, document_id: str) -> None:
    """Its trail is intact, its events have no gap, each signer finished once, and its files are what they were."""
    document = await documents.get(db, document_id)
    trail = await audit_entries.find_entries(db, document_id)
    assert is_intact(trail)
    finished = Counter(line.recipient_id for line in trail if line.type == "recipient.completed")
    assert finished == Counter({recipient.id: 1 for recipient in document.recipients})
    published = await db.all("SELECT * FROM event WHERE document_id = :id ORDER BY sequence", id=document_id)
    assert [row["sequence"] for row in published] == list(range(1, len(published) + 1))
    types = Counter(row["type"] for row in published)
    assert (types["document.created"], types["document.sent"], types["document.completed"]) == (1, 1, 1)
    assert (types["recipient.sent"], types["recipient.viewed"], types["recipient.completed"]) == (2, 2, 2)
    for row in await db.all("SELECT sha256 FROM document_blob WHERE document_id = :id", id=document_id):
        content = await blobs.get(db, row["sha256"])
        assert hashlib.sha256(content).hexdigest() == row["sha256"]


async def assert_every_seal_holds(db: Database, folder: Path, promises: Promises) -> None:
    workers = Workers()
    try:
        for row in await db.all("SELECT id FROM document"):
            seal = (await documents.get(db, row["id"])).seal
            assert seal is not None
            assert promises.sealed.get(row["id"], seal.sha256) == seal.sha256
            content = await blobs.get(db, seal.sha256)
            roots = authority.find_known_roots(folder)
            found = await workers.verify(content, VerificationCase((), SystemClock().now(), roots))
            assert (found["result"], found["sha256"]) == ("valid", seal.sha256)
    finally:
        await workers.close()


async def assert_each_event_arrived(db: Database, receiver: Receiver) -> None:
    """At least once, and every time with the same bytes; `*` leaves out the administrative log."""
    rows = await db.all("SELECT id, body FROM event WHERE type <> 'audit.recorded'")
    stored = {row["id"]: row["body"] for row in rows}
    assert len(stored) == len(set(stored))
    arrived = {delivered.id: delivered.body for delivered in receiver.came}
    assert arrived == stored
    assert all(delivered.body == stored[delivered.id] for delivered in receiver.came)
    [row] = await db.all("SELECT count(*) AS deliveries FROM delivery WHERE status = 'succeeded'")
    assert row["deliveries"] == len(stored)


def assert_repeats_are_the_price_of_kills(office: MailOffice) -> None:
    """Only a mail whose answer we had not noted when we were killed comes again, with the same Message-ID."""
    for message_id, lives in office.lives.items():
        assert len(lives) == len(set(lives)), f"{message_id} came twice in one life"
        assert max(lives) <= office.settled[message_id], f"{message_id} was noted as taken and sent again"
    [most] = [kind.at_once for kind in KINDS if kind.name == "mail"]
    interrupted = Counter(life for lives in office.lives.values() for life in sorted(lives)[:-1])
    assert all(mails <= most for mails in interrupted.values()), interrupted


def taken_mails(path: Path) -> set[str]:
    """The ids of the mails that are noted as taken by the mail server."""
    with closing(reading(path)) as connection:
        rows = connection.execute("SELECT key FROM outbox WHERE kind = 'mail' AND state = 'done'").fetchall()
    return {f"<eml.{key.replace(':', '.')}@127.0.0.1>" for (key,) in rows}


# ---------- done, but never said ----------


async def test_what_was_done_but_never_answered_is_done_once(tmp_path: Path) -> None:
    """The crash between commit and answer (C2), for each step: the repeated request finds it done."""
    program = Program(configuration(tmp_path))
    path = tmp_path / "data" / FILE
    key = (await meanwhile("keys", "create", "--name", "ci", "--config", program.config)).out.strip()
    body = a_request(externalId="once")
    await program.start()
    try:
        async with a_session() as session:
            api = Api(session, program.base, key)

            async def ask_and_kill(answer: Awaitable[Answer], done: str) -> None:
                """Ask, and kill the server once the database says that it is done, whether it has answered or not."""
                asked = asyncio.ensure_future(answer)
                await until(lambda: is_found(path, done), done)
                await program.kill()
                await asyncio.gather(asked, return_exceptions=True)
                await program.start()

            await ask_and_kill(
                api.call("POST", "/documents", body, idempotency_key="create"), "SELECT id FROM document"
            )
            created = await api.call("POST", "/documents", body, idempotency_key="create")
            assert (created.status, created.headers["Idempotent-Replayed"]) == (201, "true")
            document = created.body["id"]
            await ask_and_kill(
                api.call("POST", f"/documents/{document}/send", idempotency_key="send"),
                "SELECT id FROM document WHERE status = 'sent'",
            )
            sent = await api.call("POST", f"/documents/{document}/send", idempotency_key="send")
            assert (sent.status, sent.headers["Idempotent-Replayed"]) == (200, "true")
            assert sent.body["status"] == "sent"
            person = Person(session, await until(lambda: kept_link(program), "invitation"))
            await ask_and_kill(person.complete(), "SELECT id FROM recipient WHERE status = 'completed'")
            again = await person.complete()
            assert (again.status, again.code) in (
                (409, "document_not_sent"),
                (409, "recipient_already_completed"),
            )

            async def is_sealed() -> bool | None:
                return await api.status(document) == "completed" or None

            await until(is_sealed, "seal")
            trail = Counter(await api.trail(document))
            assert {trail[f"document.{fact}"] for fact in ("created", "sent", "completed")} == {1}
            assert trail["recipient.completed"] == 1
    finally:
        await program.kill()


async def test_a_hundred_requests_in_flight_at_four_kills_are_answered_at_the_first_repeat(
    tmp_path: Path,
) -> None:
    """Whatever became of each, its repeat needs no wait and there is one document for each key (T10)."""
    program = Program(configuration(tmp_path))
    key = (await meanwhile("keys", "create", "--name", "ci", "--config", program.config)).out.strip()
    await program.start()
    try:
        async with a_session() as session:
            api = Api(session, program.base, key)
            for life in range(4):
                names = [f"{life}-{number}" for number in range(25)]

                async def create(name: str) -> Answer:
                    return await api.call(
                        "POST", "/documents", a_request(externalId=name), idempotency_key=name
                    )

                flying = [asyncio.ensure_future(create(name)) for name in names]
                await asyncio.sleep(0.02 + 0.06 * life)
                await program.kill()
                await asyncio.gather(*flying, return_exceptions=True)
                answered = [f.result() for f in flying if f.exception() is None]
                await program.start()
                repeated = await asyncio.gather(*map(create, names))
                assert [answer.status for answer in repeated] == [201] * 25
                said = {answer.body["id"] for answer in repeated}
                assert {answer.body["id"] for answer in answered} <= said
        with closing(reading(tmp_path / "data" / FILE)) as connection:
            made = connection.execute("SELECT count(*), count(DISTINCT external_id) FROM document").fetchone()
        assert made == (100, 100)
    finally:
        await program.kill()


async def is_found(path: Path, query: str) -> bool | None:
    with closing(reading(path)) as connection:
        return connection.execute(query).fetchone() is not None or None


async def kept_link(program: Program) -> str | None:
    """The link of the invitation, as a person reads it from the embedded outbox."""
    listed = (await meanwhile("outbox", "--config", program.config)).out
    if not (invitation := re.search(r"^(\S+) .* Please sign:", listed, re.MULTILINE)):
        return None
    read = await meanwhile("outbox", invitation[1], "--config", program.config)
    link = LINK.search(read.out)
    return link[0] if link else None


@pytest.mark.parametrize("times", [5])
async def test_a_server_killed_while_it_starts_starts_again(tmp_path: Path, times: int) -> None:
    """Keys, authority and schema are made whole or not at all."""
    program = Program(configuration(tmp_path))
    for n in range(times):
        await program.begin()
        await asyncio.sleep(0.15 + 0.1 * n)
        await program.kill()
    await program.start()
    assert await program.stop() == 0
    assert "Traceback" not in program.said
