"""`esign doctor`: data damaged in just one way, and the check that names it; what it repairs, and what it leaves."""

import asyncio
import json
import shutil
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from esign.actions.server.content_process import check_in_process
from esign.actions.server.data_checks import check_folder, describe_data, inspect_data
from esign.actions.server.diagnosis import CheckState
from esign.actions.server.doctor import Examination, examine
from esign.actions.server.outside_checks import OutsideFacts, check_anchor_targets, check_backups, read_facts
from esign.cli.check_copy import check_copy, list_damage
from esign.config import Config
from esign.core.instant import DAY
from esign.store.engine.connections import FILE
from esign.store.engine.database import Transaction
from esign.store.engine.locks import server_lock
from esign.store.engine.search_words import register
from esign.store.server import anchors, backup_schedule
from esign.store.server.backup_schedule import BackupState
from esign.store.server.fault import ContentFindings
from esign.system.app_key import KeySource, open_vault
from tests.factories import NOW
from tests.journeys.conftest import Demonstration
from tests.journeys.program import configuration, esign
from tests.journeys.site import JourneySite

OPEN = "DROP TRIGGER audit_is_never_deleted; DROP TRIGGER audit_is_never_changed;"
SEALED = "(SELECT seal ->> '$.sha256' FROM document)"
FORGET = (
    "INSERT INTO search_index (search_index, rowid, words)"
    " SELECT 'delete', number, search_words(texts, labels) FROM search;"
)

# By what was done: the statements, and the checks that name it.
LOST: dict[str, tuple[str, set[str]]] = {
    "a content was changed": (
        f"UPDATE blob_chunk SET content = zeroblob(length(content)) WHERE sha256 <> {SEALED}",
        {"contents"},
    ),
    "a piece of a content is missing": (f"DELETE FROM blob_chunk WHERE sha256 <> {SEALED}", {"contents"}),
    "a content is longer than its row says": ("UPDATE blob SET size = size + 1", {"contents"}),
    "a piece belongs to no content": ("INSERT INTO blob_chunk VALUES ('ab', 0, x'00')", {"contents"}),
    "a content is not kept for its document": (
        f"UPDATE document_blob SET document_id = 'doc_x' WHERE sha256 = {SEALED}",
        {"contents", "references"},
    ),
    "an entry says something else": (f"{OPEN} UPDATE audit SET at = at + 1 WHERE seq = 3", {"trails"}),
    "a trail lost its end": (
        f"{OPEN} DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit) AND document_id LIKE 'doc%'",
        {"trails"},
    ),
    "a trail is missing": (f"{OPEN} DELETE FROM audit WHERE document_id LIKE 'doc%'", {"trails"}),
    "the head of a trail is missing": ("DELETE FROM audit_head WHERE document_id LIKE 'doc%'", {"trails"}),
    "a completed document has no seal": (
        "UPDATE document SET seal = NULL",
        {"seals"},
    ),
    "the sealed file is another": (
        "UPDATE document SET seal = json_set(seal, '$.sha256', file ->> '$.uploaded')",
        {"seals"},
    ),
    "the sealed file is missing": (f"DELETE FROM blob_chunk WHERE sha256 = {SEALED}", {"contents", "seals"}),
    "a document is damaged": ("UPDATE document SET metadata = '['", {"rows", "search"}),
    "a row of another table is damaged": ("UPDATE organisation SET embed_origins = '['", {"rows"}),
    "a job is about no document": (
        "INSERT INTO outbox (kind, key, document_id, body, state, due_at, attempts, created_at)"
        " VALUES ('seal', 'seal:doc_x', 'doc_x', x'', 'pending', 0, 0, 0)",
        {"jobs"},
    ),
    "a delivery is to no webhook": (
        "INSERT INTO delivery (id, webhook_id, event_id, event_type, status, created_at, due_at, tries, attempt_count)"
        " SELECT 'dlv_x', 'wh_x', id, type, 'pending', 0, 0, 0, 0 FROM event LIMIT 1",
        {"jobs"},
    ),
    "an event is missing": (
        "DELETE FROM attempt; DELETE FROM delivery; DELETE FROM event WHERE sequence = 3",
        {"events"},
    ),
    "the last event is missing": (
        "DELETE FROM attempt; DELETE FROM delivery;"
        "DELETE FROM event WHERE sequence = (SELECT max(sequence) FROM event)",
        {"events"},
    ),
    "a recipient finished without a record": (
        "UPDATE recipient SET status = 'completed' WHERE role = 'cc';"
        "UPDATE recipient SET status = 'viewed' WHERE position = 0",
        {"completions"},
    ),
    "an anchor is damaged, and the one before it missing": (
        "INSERT INTO anchor (number, made_at, statement, leaves, cms) VALUES (2, 0, x'7b', x'', x'')",
        {"anchors"},
    ),
    "a row refers to nothing": (
        "INSERT INTO link (hash, recipient_id, document_id, issued_to, created_at)"
        " VALUES (x'00', 'rcp_x', 'doc_x', 'sender', 0)",
        {"references"},
    ),
}
DERIVED: dict[str, tuple[str, set[str]]] = {
    "a number of documents is wrong": (
        "UPDATE document_count SET documents = documents + 1",
        {"counters"},
    ),
    "a number is counted of nothing": (
        "INSERT INTO document_count SELECT id, 'test', 'draft', 3, 1 FROM organisation",
        {"counters"},
    ),
    "a mark for lists is wrong": ("UPDATE document SET attention = 1", {"counters"}),
    "a content in use is marked for deletion": ("UPDATE blob SET loose = 1", {"counters"}),
    "the words of a document are others": (
        f"{FORGET} UPDATE search SET texts = char(10) || 'other' || char(10);"
        "INSERT INTO search_index (rowid, words) SELECT number, search_words(texts, labels) FROM search",
        {"search"},
    ),
    "the words of a document are missing": (f"{FORGET} DELETE FROM search", {"search"}),
    "the index has no words": (FORGET, {"search"}),
    "the index has words of nothing": (
        "INSERT INTO search_index (rowid, words) SELECT number + 5, search_words(texts, labels) FROM search",
        {"search"},
    ),
    "a worker that is gone holds a job": (
        "INSERT INTO outbox (kind, key, state, due_at, attempts, created_at, boot)"
        " VALUES ('seal', 'seal:x', 'pending', 1, 1, 0, 'boot_x')",
        {"jobs"},
    ),
    "no job makes a seal": (
        "UPDATE document SET status = 'sealing', seal = NULL, updated_at = 0; DELETE FROM outbox",
        {"sealing"},
    ),
}


@pytest.fixture
def data(demonstration: Demonstration, tmp_path: Path) -> Path:
    """The data of the demonstration, copied without its reserve."""
    shutil.copytree(
        demonstration.folder / "data", tmp_path / "data", ignore=shutil.ignore_patterns("reserve")
    )
    return tmp_path / "data"


def spoil(data: Path, statements: str) -> None:
    """Do by hand what the program never does; no reference is watched."""
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as connection:
        register(connection)
        for statement in statements.split(";"):
            connection.execute(statement)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def find_checks(data: Path) -> set[str]:
    return {line.partition(":")[0] for line in check_folder(data)}


async def fix(data: Path) -> tuple[CheckState, list[str]]:
    config = Config.model_validate({"storage": {"data_dir": data}})
    found = await examine(
        Examination(config, KeySource(config.storage.data_dir / FILE), data_only=True, repair=True)
    )
    return found.state, list(found.repairs)


def dump(data: Path) -> list[Any]:
    with closing(sqlite3.connect(data / FILE)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        names = [name for (name,) in tables if not name.startswith("search_index")]
        return [connection.execute(f"SELECT * FROM {name}").fetchall() for name in sorted(names)]


def test_data_as_they_were_written_have_no_fault(data: Path) -> None:
    assert check_folder(data) == []


@pytest.mark.parametrize("name", LOST)
async def test_what_was_lost_is_named_and_left_alone(data: Path, name: str) -> None:
    statements, checks = LOST[name]
    spoil(data, statements)
    assert find_checks(data) == checks
    before = dump(data)
    assert await fix(data) == (CheckState.WRONG, [])
    assert dump(data) == before


@pytest.mark.parametrize(
    "name", ["nothing", *(name for name, (_, checks) in LOST.items() if "contents" in checks)]
)
def test_a_process_of_its_own_finds_the_same_in_the_contents(data: Path, name: str) -> None:
    if name in LOST:
        spoil(data, LOST[name][0])
    vault, asked = open_vault(KeySource(data / FILE)), list[Path]()

    def note(path: Path) -> ContentFindings | None:
        asked.append(path)
        return check_in_process(path)

    here = inspect_data(data, vault, NOW, check_elsewhere=note)
    assert (here.faults == []) == (name == "nothing") and not asked, "so small a database is checked here"
    assert inspect_data(data, vault, NOW, large=0, check_elsewhere=note) == here
    assert asked == [data / FILE]


ODD_PROCESSES = {
    "it is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "it ends at once": "raise SystemExit(1)",
    "it says nothing": "",
    "it says something else": "print('[1, 2, 3]')",
    "it says half of it": "print('[[], {}')",
}


@pytest.mark.parametrize("how", [*ODD_PROCESSES, "it does not start"])
def test_contents_are_checked_also_where_their_process_ends(data: Path, how: str) -> None:
    spoil(data, LOST["a content was changed"][0])
    vault = open_vault(KeySource(data / FILE))
    command = (sys.executable, "-c", ODD_PROCESSES[how]) if how in ODD_PROCESSES else ("/nowhere",)
    answers: list[ContentFindings | None] = []

    def ask(path: Path) -> ContentFindings | None:
        answers.append(check_in_process(path, command))
        return answers[-1]

    found = inspect_data(data, vault, NOW, large=0, check_elsewhere=ask)
    assert answers == [None]
    assert found == inspect_data(data, vault, NOW) and found.faults


@pytest.mark.parametrize("name", DERIVED)
async def test_what_can_be_derived_is_named_and_repaired_once(data: Path, name: str) -> None:
    statements, checks = DERIVED[name]
    spoil(data, statements)
    expected = checks | ({"seals", "events"} if name == "no job makes a seal" else set())
    assert checks <= find_checks(data) <= expected
    _, repairs = await fix(data)
    assert len(repairs) == 1
    assert not find_checks(data) & checks
    assert (await fix(data))[1] == []


async def test_the_whole_index_is_not_written_beside_a_server(data: Path) -> None:
    spoil(data, FORGET)
    with server_lock(data):
        state, repairs = await fix(data)
    assert (state, repairs) == (CheckState.WRONG, [])


def test_a_damaged_page_is_named(data: Path) -> None:
    with closing(sqlite3.connect(data / FILE)) as connection:
        [(page,)] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'audit_head'")
    with (data / FILE).open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    assert "pages" in find_checks(data)


def test_a_file_that_cannot_be_opened_is_wrong_and_no_damage_of_a_copy(data: Path) -> None:
    for name in (f"{FILE}-wal", f"{FILE}-shm"):
        (data / name).unlink(missing_ok=True)
    (data / f"{FILE}-wal").mkdir()
    found = inspect_data(data, None, NOW)
    assert found.unread is not None and "does not let esign read esign.db" in found.unread
    wrong = [line.check for line in describe_data(found) if line.state is CheckState.WRONG]
    assert wrong == ["pages"]
    with pytest.raises(OSError, match="does not let esign read"):
        list_damage(data, None)


def test_what_the_program_puts_right_is_no_damage_of_a_backup(data: Path) -> None:
    spoil(data, ";".join(statements for statements, _ in DERIVED.values() if "completed" not in statements))
    assert find_checks(data) and check_copy(data, KeySource(data / FILE)) == []
    spoil(data, "DELETE FROM blob_chunk")
    assert check_copy(data, KeySource(data / FILE))


def test_a_seal_that_a_restore_holds_back_is_no_fault(data: Path) -> None:
    spoil(data, DERIVED["no job makes a seal"][0])
    spoil(
        data,
        "INSERT INTO outbox (kind, key, document_id, state, due_at, attempts, created_at)"
        " SELECT 'seal', 'seal:' || id, id, 'held', 1, 1, 0 FROM document",
    )
    assert find_checks(data) == set()


def test_a_document_that_is_lost_is_missed(data: Path) -> None:
    spoil(data, "DELETE FROM document")
    assert any("does not say that it was deleted" in line for line in check_folder(data))


def test_a_folder_without_a_database_or_its_key_is_refused_in_words(data: Path, tmp_path: Path) -> None:
    assert "no esign.db" in check_folder(tmp_path)[0]
    spoil(data, "DELETE FROM migration WHERE name = 'patrol'")
    assert "earlier version" in check_folder(data)[0]
    (data / "app.key").write_bytes(b"short")
    assert "app.key" in check_folder(data)[0]


async def test_beside_a_writer_nothing_is_found(site: JourneySite) -> None:
    await site.complete_document()
    folder = site.runtime.config.storage.data_dir
    checking = asyncio.create_task(asyncio.to_thread(check_folder, folder, site.runtime.clock.now()))
    made = 0
    while not checking.done() or made < 5:
        await site.api.send_document()
        made += 1
    assert await checking == []
    assert await asyncio.to_thread(check_folder, folder, site.runtime.clock.now()) == []


def test_the_command_says_what_is_wrong_and_its_code_says_so_too(data: Path, tmp_path: Path) -> None:
    config = configuration(tmp_path)
    config.chmod(0o600)
    ran = esign("doctor", "--json", "--seals", "--config", config)
    found = json.loads(ran.out)
    states = {check["check"]: check["state"] for check in found["checks"]}
    assert (ran.code, found["version"], found["repairs"]) == (0, 1, [])
    assert (
        states["seals_verified"] == states["trails"] == states["permissions"] == states["certificate"] == "ok"
    )
    assert states["backups"] == states["anchor_targets"] == states["anchors"] == "ok"
    assert states["confinement"] in ("ok", "warning"), "a kernel without Landlock stops nothing"
    assert states["mail"] == states["address"] == states["time_stamps"] == "not_checked"
    spoil(data, LOST["a content was changed"][0])
    ran = esign("check", "--config", config)
    assert ran.code == 1 and "WRONG        contents: " in ran.out and "docs/backup.md" in ran.out
    assert "mail" not in ran.out
    empty = configuration(tmp_path, data="nowhere")
    ran = esign("doctor", "--config", empty)
    assert ran.code == 0 and "not checked  data: there is no database" in ran.out
    assert not (tmp_path / "nowhere").exists()
    assert esign("doctor", "--config", "none.toml").code == 2


BACKED_UP = BackupState("one", "/backups", NOW, NOW, NOW, NOW, "esign-1.backup", 5)
FACTS = OutsideFacts(BACKED_UP, NOW, has_grown=False, failing={})
WARNED: dict[str, tuple[OutsideFacts, set[str], str]] = {
    "all is well": (FACTS, set(), ""),
    "nothing was made yet": (OutsideFacts(None, None, has_grown=True, failing={}), set(), ""),
    "the first backup fails": (
        replace(FACTS, backups=replace(BACKED_UP, made_at=None, failures=2, problem="no room")),
        {"backups"},
        "2 tries failed since, the last one: no room",
    ),
    "the first backup is late": (
        replace(FACTS, backups=replace(BACKED_UP, made_at=None, begun_at=NOW - 9 * DAY)),
        {"backups"},
        "has made none yet",
    ),
    "later backups fail": (
        replace(FACTS, backups=replace(BACKED_UP, failures=2, problem="no room")),
        {"backups"},
        "2 tries failed since, the last one: no room",
    ),
    "a backup is late": (
        replace(FACTS, backups=replace(BACKED_UP, made_at=NOW - 9 * DAY)),
        {"backups"},
        "the last good one is esign-1.backup, of ",
    ),
    "a target takes no anchor": (
        replace(FACTS, failing={"/anchors": "no room"}),
        {"anchor_targets"},
        "/anchors: no room",
    ),
    "no anchor is made": (
        replace(FACTS, anchored_at=NOW - 3 * DAY, has_grown=True),
        {"anchor_targets"},
        "audit trails have grown since",
    ),
}


@pytest.mark.parametrize("name", WARNED)
def test_backups_and_anchors_that_fail_are_warned_of(name: str) -> None:
    facts, warned, words = WARNED[name]
    given = {"backup": {"to": "/backups", "passphrase": "correct horse battery"}}
    config = Config.model_validate({**given, "audit": {"anchor_to": ["/anchors"]}})
    lines = [check(config, facts, NOW) for check in (check_backups, check_anchor_targets)]
    assert {line.check for line in lines if line.state is CheckState.WARNING} == warned
    assert words in "\n".join(text for line in lines for text in line.write())


async def test_what_the_doctor_says_of_backups_and_anchors_is_read_from_the_database(
    site: JourneySite,
) -> None:
    async def save(tx: Transaction) -> None:
        await backup_schedule.save(tx, BACKED_UP)
        await anchors.save_place(tx, "/anchors", 0, "no room")

    await site.runtime.db.write(save)
    config = Config.model_validate({"audit": {"anchor_to": ["/anchors"]}})
    found = await read_facts(site.runtime.db, config)
    assert (found.backups, found.anchored_at, found.failing) == (BACKED_UP, None, {"/anchors": "no room"})
