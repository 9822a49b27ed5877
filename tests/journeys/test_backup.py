"""`esign backup` as an administrator runs it: beside a server that works, onto disks that fail, and killed."""

import asyncio
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from esign.backup.container import open_archive, unlock
from esign.backup.extract import extract_backup
from tests.journeys.api import until
from tests.journeys.program import COMMAND, Program, configuration, environment, esign, limit_files

PASSPHRASE = {"ESIGN_BACKUP__PASSPHRASE": "correct horse battery staple"}


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """The configuration of an installation with a key and an empty file among its contents."""
    file = configuration(tmp_path)
    assert esign("keys", "create", "--name", "x", "--config", file).code == 0
    (tmp_path / "backups").mkdir()
    return file


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_backup_beside_a_server_holds_what_it_acknowledged(
    installation: Path, tmp_path: Path
) -> None:
    program = Program(installation)
    await program.start()
    try:
        made = esign("keys", "create", "--name", "second", "--config", installation)
        ran = esign("backup", "backups", "--config", installation, cwd=tmp_path, env=PASSPHRASE)
    finally:
        await program.stop()
    assert made.code == 0 and ran.code == 0, ran.err
    [file] = (tmp_path / "backups").iterdir()
    assert file.name.startswith("esign-20") and file.stat().st_mode & 0o777 == 0o600
    assert f"backups/{file.name}: " in ran.out and "encrypted with a passphrase, read back" in ran.out
    assert "Not in it, note them down: ESIGN_BACKUP__PASSPHRASE." in ran.out
    with file.open("rb") as source, open_archive(source) as archive:
        extract_backup(archive, unlock(archive, PASSPHRASE["ESIGN_BACKUP__PASSPHRASE"]), tmp_path / "back")
    with closing(sqlite3.connect(tmp_path / "back" / "data" / "esign.db")) as copy:
        assert copy.execute("SELECT name FROM api_key ORDER BY name").fetchall() == [("second",), ("x",)]
    key = tmp_path / "back" / "data" / "app.key"
    assert key.read_bytes() == (tmp_path / "data" / "app.key").read_bytes()
    assert "data_dir" in (tmp_path / "back" / "esign.toml").read_text()
    seals = {name for name in list_names(tmp_path / "data") if name.endswith(".pem")}
    assert seals and seals <= {*list_names(tmp_path / "back" / "data")}


def test_what_keeps_a_backup_from_being_made_is_said(installation: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    cases: list[tuple[tuple[str, ...], int, str]] = [
        (("backups",), 2, "nothing says with what to encrypt"),
        (("taken", "--plain"), 1, "taken exists; name a new file, or a folder"),
        (("none/x", "--plain"), 1, "there is no folder none; make it first"),
        (("data", "--plain"), 1, "lies in the data folder"),
        (("backups", "--recipient", "age1x"), 2, "--recipient: found 'age1x', which is no public key"),
        (("backups", "--plain", "--recipient", "age1x"), 2, "exclude one another"),
    ]
    for arguments, code, sentence in cases:
        ran = esign("backup", *arguments, "--config", installation, cwd=tmp_path)
        assert (ran.code, ran.out) == (code, "") and sentence in ran.err, (arguments, ran)
    short = {"ESIGN_BACKUP__PASSPHRASE": "short"}
    assert "allowed is a text of 12" in esign("backup", "backups", cwd=tmp_path, env=short).err
    assert list_names(tmp_path / "backups") == []


def test_a_disk_that_fills_up_is_named_and_keeps_nothing(installation: Path, tmp_path: Path) -> None:
    """The database has room in the second case, and the backup, which holds more, has none."""
    size = (tmp_path / "data" / "esign.db").stat().st_size
    cases = [
        (2**18, "the copy in . cannot be made: File too large"),
        (size, "cannot be written: File too large"),
    ]
    for limit, sentence in cases:
        ran = esign(
            "backup",
            "backups",
            "--plain",
            "--scratch",
            ".",
            "--config",
            installation,
            cwd=tmp_path,
            command=(*limit_files(limit), *COMMAND),
        )
        assert ran.code == 1 and sentence in ran.err, ran
        assert list_names(tmp_path / "backups") == []
    assert not [name for name in list_names(tmp_path) if name.startswith("esign-backup-")]


def test_damage_is_reported_and_the_copy_kept(installation: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "data" / "esign.db", isolation_level=None)) as database:
        database.execute("INSERT INTO blob (sha256, size, created_at) VALUES ('0', 1, 0)")
    ran = esign("backup", "copy", "--plain", "--config", installation, cwd=tmp_path)
    assert ran.code == 5 and "what it holds is DAMAGED" in ran.out
    assert (
        "  contents: blob 0: the content is missing" in ran.err
        and "an older backup, which you keep" in ran.err
    )
    assert (tmp_path / "copy").stat().st_size > 100_000


async def test_one_that_was_killed_is_no_backup_and_goes_with_the_next(
    installation: Path, tmp_path: Path
) -> None:
    """The pipe stands for a slow disk: the first backup waits in the middle of its database."""
    with closing(sqlite3.connect(tmp_path / "data" / "esign.db", isolation_level=None)) as database:
        database.execute("CREATE TABLE filling (content BLOB)")
        database.executemany("INSERT INTO filling VALUES (?)", [(os.urandom(2**20),) for _ in range(40)])
    command = (*COMMAND, "backup", "backups/one", "--plain", "--config", str(installation))
    running = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, env=environment())
    part = tmp_path / "backups" / ".one.esign-part"

    async def begun() -> bool | None:
        return (part.exists() and part.stat().st_size > 2**20) or None

    await until(begun, "the part of a backup")
    os.kill(running.pid, signal.SIGSTOP)
    try:
        second = esign("backup", "backups/one", "--plain", "--config", installation, cwd=tmp_path)
        assert second.code == 1 and "another backup is being written to backups/one" in second.err
        assert part.exists(), "what another run writes is not swept away"
    finally:
        running.kill()
        await running.wait()
    assert list_names(tmp_path / "backups") == [".one.esign-part"]
    assert esign("backup", "backups/two", "--plain", "--config", installation, cwd=tmp_path).code == 0
    assert list_names(tmp_path / "backups") == ["two"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_one_that_is_ended_leaves_no_copy_that_can_be_read(
    installation: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with closing(sqlite3.connect(tmp_path / "data" / "esign.db", isolation_level=None)) as database:
        database.execute("CREATE TABLE filling (content BLOB)")
        database.executemany("INSERT INTO filling VALUES (?)", [(os.urandom(2**20),) for _ in range(40)])
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = ("backup", "backups/one", "--plain", "--scratch", "scratch", "--config", str(installation))
    running = await asyncio.create_subprocess_exec(
        *COMMAND, *command, cwd=tmp_path, env=environment(), stderr=asyncio.subprocess.PIPE
    )

    async def begun() -> bool | None:
        return any(path.stat().st_size > 2**20 for path in scratch.rglob("esign.db")) or None

    await until(begun, "the copy of the database")
    running.send_signal(number)
    _, err = await running.communicate()
    if number is signal.SIGKILL:
        assert len(list_names(scratch)) == 1
        assert esign(*command, cwd=tmp_path).code == 0
        assert list_names(tmp_path / "backups") == ["one"]
    else:
        assert running.returncode == 128 + number
        assert err.decode() == f"esign: ended early by {number.name}\n"
        assert list_names(tmp_path / "backups") == []
    assert list_names(scratch) == []
