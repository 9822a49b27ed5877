"""`esign verify-audit` over real data, then over the same data after somebody was at it (T25)."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.api import Api, a_request, a_session
from tests.journeys.conftest import Demonstration
from tests.journeys.program import Program, Ran, configuration, esign, meanwhile
from tests.journeys.test_cli import DONE, FAILED, USAGE, assert_refused


@pytest.fixture
def config(demonstration: Demonstration, tmp_path: Path) -> Path:
    """The data of the demonstration, copied: its authority, its keys, its one completed document."""
    shutil.copytree(demonstration.folder / "data", tmp_path / "data")
    return configuration(tmp_path)


@pytest.fixture
def tamper(config: Path) -> Iterator[sqlite3.Connection]:
    """The database in hands that have the file and nothing else; the triggers are gone first."""
    connection = sqlite3.connect(config.parent / "data" / "esign.db", isolation_level=None)
    connection.execute("DROP TRIGGER audit_is_never_deleted")
    connection.execute("DROP TRIGGER audit_is_never_changed")
    yield connection
    connection.close()


def run_audit(config: Path, *arguments: str | Path) -> Ran:
    return esign("verify-audit", "--config", config, *arguments)


def document_of(tamper: sqlite3.Connection) -> str:
    return str(tamper.execute("SELECT id FROM document").fetchone()[0])


def test_data_as_they_were_written_are_intact(demonstration: Demonstration, config: Path) -> None:
    whole = run_audit(config)
    assert (whole.code, whole.err) == (DONE, "")
    assert whole.out.startswith("INTACT: 1 audit trail with ") and "1 of them compared with" in whole.out
    assert "compared with" not in run_audit(config, "--chains").out
    told = run_audit(config, demonstration.file("sealed.pdf"))
    assert told.code == DONE and "INTACT" in told.out
    verified = esign("verify", "--config", config, demonstration.file("sealed.pdf")).out
    assert "the whole trail is in the file as audit.json and matches that hash" in verified
    [line] = [x for x in verified.splitlines() if "audit trail of" in x]
    assert line.split()[3] in told.out and line.split()[-1] in told.out


def test_one_document_can_be_asked_for(config: Path, tamper: sqlite3.Connection) -> None:
    assert run_audit(config, document_of(tamper)).code == DONE
    tamper.execute("UPDATE audit SET at = at + 1 WHERE seq = 3")
    ran = run_audit(config, document_of(tamper))
    assert ran.code == FAILED and "entry 3 (" in ran.out
    assert "BROKEN: 1 of 1 audit trail changed or missing." in ran.out


def test_the_first_broken_entry_is_told(config: Path, tamper: sqlite3.Connection) -> None:
    tamper.execute("UPDATE audit SET type = 'recipient.viewed' WHERE seq IN (4, 6)")
    ran = run_audit(config)
    assert ran.code == FAILED and "entry 4 (recipient.viewed)" in ran.out and "entry 6" not in ran.out


def test_a_sealed_file_kept_elsewhere_shows_a_trail_that_was_written_anew(
    demonstration: Demonstration, config: Path, tamper: sqlite3.Connection
) -> None:
    """Even by somebody who has the application key too: the head is under the seal."""
    tamper.execute("DELETE FROM audit WHERE seq > 5")
    ran = run_audit(config, demonstration.file("sealed.pdf"))
    assert ran.code == FAILED and "BROKEN" in ran.out


def test_a_lost_trail_is_missed(
    config: Path, demonstration: Demonstration, tamper: sqlite3.Connection
) -> None:
    tamper.execute("DELETE FROM audit")
    for arguments in ([], ["--chains"]):
        ran = run_audit(config, *arguments)
        assert ran.code == FAILED and "the whole trail is missing" in ran.out
        assert "BROKEN: 2 of 2 audit trails changed or missing." in ran.out
    assert run_audit(config, demonstration.file("sealed.pdf")).code == FAILED
    assert_refused(run_audit(config, document_of(tamper)), USAGE, document_of(tamper))


def test_a_sealed_file_that_was_exchanged_is_noticed(config: Path, tamper: sqlite3.Connection) -> None:
    tamper.execute("UPDATE blob_chunk SET content = x'00'")
    ran = run_audit(config)
    assert ran.code == FAILED and "its sealed file cannot be checked" in ran.out
    assert run_audit(config, "--chains").code == DONE


def test_a_file_that_nobody_here_sealed_proves_nothing(
    demonstration: Demonstration, config: Path, tmp_path: Path
) -> None:
    tampered = run_audit(config, demonstration.file("tampered.pdf"))
    assert tampered.code == FAILED and "not sealed here" in tampered.out
    (tmp_path / "elsewhere").mkdir()
    other = configuration(tmp_path / "elsewhere")
    assert esign("keys", "create", "--name", "first", "--config", other).code == DONE
    assert run_audit(other, demonstration.file("sealed.pdf")).code == FAILED


def test_what_cannot_be_read_ends_with_2(config: Path, tmp_path: Path) -> None:
    (tmp_path / "text.pdf").write_text("no PDF")
    assert_refused(run_audit(config, tmp_path / "text.pdf"), USAGE, "text.pdf")
    assert_refused(run_audit(config, "none.pdf"), USAGE, "none.pdf", "cannot be read")
    assert_refused(run_audit(config, "doc_00000000000000000000000000"), USAGE, "doc_0000")


async def test_beside_a_running_server_the_trails_are_read_as_they_are(program: Program) -> None:
    key = (await meanwhile("keys", "create", "--name", "ci", "--config", program.config)).out.strip()
    async with a_session() as session:
        api = Api(session, program.base, key)
        for number in range(1, 4):
            assert (await api.call("POST", "/documents", a_request())).status == 201
            ran = await meanwhile("verify-audit", "--config", program.config)
            assert ran.code == DONE and ran.out.startswith(
                f"INTACT: {number} audit trail{'s' * (number > 1)} with {number} entr"
            )


def test_a_folder_without_a_database_is_no_intact_one(tmp_path: Path) -> None:
    assert_refused(run_audit(configuration(tmp_path)), USAGE, "no database in", "--config")
    assert not (tmp_path / "data").exists()


def test_an_installation_without_documents_is_intact(tmp_path: Path) -> None:
    config = configuration(tmp_path)
    assert esign("keys", "create", "--name", "first", "--config", config).code == DONE
    ran = run_audit(config)
    assert (ran.code, ran.out) == (
        DONE,
        "INTACT: 0 audit trails with 0 entries recomputed, 0 of them compared with their sealed files.\n"
        "INTACT: 1 administrative log with 1 entry recomputed.\n",
    )
