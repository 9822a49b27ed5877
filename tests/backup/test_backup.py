"""A backup and back: what was there is there again; a damaged, foreign or incomplete one is refused in words."""

import io
import os
import sqlite3
import subprocess
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyrage
import pytest

from esign.backup.archive import DamagedBackup, hold_content, is_inside, stream_archive
from esign.backup.container import NewerBackup, open_archive, read_about, unlock
from esign.backup.encryption import Identity, Protection, WrongKey
from esign.backup.extract import extract_backup
from esign.backup.make_backup import BackupReport, CannotBackUp, make_backup
from tests.backup.checks import check_later
from tests.pki import NOW

PASSPHRASE = "correct horse battery staple"
KEY: Identity = pyrage.x25519.Identity.generate()
OTHER_KEY: Identity = pyrage.x25519.Identity.generate()
WAYS = {
    "passphrase": Protection(passphrase=PASSPHRASE),
    "public key": Protection(recipients=(str(KEY.to_public()),)),
    "nothing": Protection(),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with a database, keys, and what belongs into no backup."""
    data = tmp_path / "data"
    data.mkdir(0o700)
    with closing(sqlite3.connect(data / "esign.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE page (content BLOB)")
        connection.executemany("INSERT INTO page VALUES (?)", [(os.urandom(50_000),) for _ in range(100)])
    for name in (
        "app.key",
        "seal.pem",
        "https/account.key",
        "pictures/one.webp",
        "reserve",
        "lock",
        ".x.part",
        "esign.db.old",
    ):
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).write_bytes(name.encode())
    return data


def count_pages(folder: Path) -> list[str]:
    """A check that finds nothing wrong where all rows are there."""
    with closing(sqlite3.connect(folder / "esign.db")) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM page")
    return [] if count == 100 else [f"{count} rows"]


def back_up(folder: Path, protection: Protection, name: str = "backup") -> BackupReport:
    configuration = folder.parent / "esign.toml"
    configuration.write_text("[server]\n")
    return make_backup(
        folder, configuration, folder.parent / name, protection, NOW, check_later(count_pages), folder.parent
    )


def find_identity(archive: zipfile.ZipFile, way: str) -> Identity | None:
    if way == "passphrase":
        return unlock(archive, PASSPHRASE)
    return KEY if way == "public key" else None


@pytest.mark.parametrize("way", WAYS)
def test_what_was_there_is_there_again(folder: Path, tmp_path: Path, way: str) -> None:
    made = back_up(folder, WAYS[way])
    assert made.found == [] and made.size == made.file.stat().st_size
    assert made.file.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {"data", "esign.toml", "backup"}, (
        "nothing is left over"
    )
    back = tmp_path / "back"
    back.mkdir()
    with made.file.open("rb") as file, open_archive(file) as archive:
        about = read_about(archive)
        found = extract_backup(archive, find_identity(archive, way), back)
    assert about.made_at.startswith("20") and made.files == len(found)
    names = {"data", "esign.toml"} | {
        f"data/{name}" for name in ("esign.db", "app.key", "seal.pem", "https", "https/account.key")
    }
    assert {str(path.relative_to(back)) for path in back.rglob("*")} == names
    assert (back / "data/https/account.key").read_bytes() == b"https/account.key"
    assert all(path.stat().st_mode & 0o077 == 0 for path in back.rglob("*"))
    with (
        closing(sqlite3.connect(folder / "esign.db")) as old,
        closing(sqlite3.connect(back / "data/esign.db")) as new,
    ):
        assert list(old.execute("SELECT * FROM page")) == list(new.execute("SELECT * FROM page"))


@pytest.mark.parametrize("way", ["passphrase", "public key"])
def test_nothing_of_the_installation_can_be_read_in_it(folder: Path, way: str) -> None:
    content = back_up(folder, WAYS[way]).file.read_bytes()
    assert b"account.key" not in content and b"SQLite format" not in content and b"esign.db" not in content
    assert PASSPHRASE.encode() not in content and b"AGE-SECRET-KEY" not in content


def test_wrong_keys_are_told(folder: Path, tmp_path: Path) -> None:
    cases: list[tuple[str, Callable[[zipfile.ZipFile], Identity | None], str]] = [
        ("passphrase", lambda archive: unlock(archive, "wrong"), "the passphrase is not the one"),
        ("passphrase", lambda archive: None, "it is encrypted; give its passphrase"),
        ("passphrase", lambda archive: KEY, "not encrypted for this key"),
        ("public key", lambda archive: unlock(archive, PASSPHRASE), "not encrypted with a passphrase"),
        ("public key", lambda archive: OTHER_KEY, "not encrypted for this key"),
    ]
    made = {way: back_up(folder, WAYS[way], way).file for way in ("passphrase", "public key")}
    for number, (way, find, sentence) in enumerate(cases):
        (tmp_path / str(number)).mkdir()
        with (
            made[way].open("rb") as file,
            open_archive(file) as archive,
            pytest.raises(WrongKey, match=sentence),
        ):
            extract_backup(archive, find(archive), tmp_path / str(number))


@pytest.mark.parametrize(("way", "number"), [("passphrase", 6), ("public key", 60), ("nothing", 60)])
def test_every_cut_and_every_changed_bit_is_found(
    folder: Path, tmp_path: Path, way: str, number: int
) -> None:
    whole = back_up(folder, WAYS[way]).file.read_bytes()
    places = [*range(0, len(whole), len(whole) // number), len(whole) - 30]
    changed = [(f"cut at {at}", whole[:at]) for at in places]
    changed += [(f"bit at {at}", whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]) for at in places]
    passed = []
    for at, (what, content) in enumerate(changed):
        back = tmp_path / f"back{at}"
        back.mkdir()
        try:
            with open_archive(io.BytesIO(content)) as archive:
                identity = find_identity(archive, way)
                extract_backup(archive, identity, back)
        except (DamagedBackup, WrongKey):
            continue
        if count_pages(back / "data") or (back / "data/app.key").read_bytes() != b"app.key":
            passed.append(what)
    assert passed == []


def test_a_backup_that_fails_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotBackUp, match="exists; name a new file"):
        (tmp_path / "taken").touch()
        back_up(folder, WAYS["nothing"], "taken")
    assert (tmp_path / "taken").read_bytes() == b""
    with pytest.raises(CannotBackUp, match="there is no folder"):
        back_up(folder, WAYS["nothing"], "none/backup")
    with pytest.raises(CannotBackUp, match="lies in the data folder"):
        back_up(folder, WAYS["nothing"], "data/backup")
    (folder / "esign.db").write_bytes(b"no database" * 1000)
    with pytest.raises(sqlite3.DatabaseError):
        back_up(folder, WAYS["nothing"])
    assert {path.name for path in tmp_path.iterdir()} == {"data", "esign.toml", "taken"}


def test_it_opens_with_common_tools(folder: Path, tmp_path: Path) -> None:
    made = back_up(folder, WAYS["nothing"])
    subprocess.run(["unzip", "-q", made.file, "-d", tmp_path / "out"], check=True)
    subprocess.run(["tar", "-C", tmp_path / "out", "-xf", tmp_path / "out" / "content.tar"], check=True)
    assert (tmp_path / "out" / "data" / "app.key").read_bytes() == b"app.key"


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "new", "w") as archive:
        archive.writestr("about.json", '{"format": 3, "esign": "9.0"}')
    with (
        (tmp_path / "new").open("rb") as file,
        open_archive(file) as archive,
        pytest.raises(NewerBackup, match=r"9\.0"),
    ):
        read_about(archive)


@pytest.mark.parametrize("name", ["/etc/x", "data/../x", "../x", "data//x", "data/./x", "data\\x", ""])
def test_paths_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    assert not is_inside(name)
    refuse_file(tmp_path, name)


@pytest.mark.parametrize(
    "name",
    ["esign.db-journal", "esign.db-mj12", "esign.db/x", ".hidden", "https/.x", "lock", "key.lock", "reserve"],
)
def test_files_that_no_backup_has_are_refused(tmp_path: Path, name: str) -> None:
    """SQLite deletes the file that a journal beside the database names."""
    refuse_file(tmp_path, f"data/{name}")


def refuse_file(tmp_path: Path, name: str) -> None:
    """Assert that a backup with a file of this name is refused before anything of it is written."""
    content = b"".join(stream_archive([hold_content(name, b"evil")], {}, []))
    with zipfile.ZipFile(tmp_path / "evil", "w") as archive:
        archive.writestr(
            "about.json",
            '{"format": 1, "esign": "1", "made_at": "2026-01-01T00:00:00Z", "encrypted_with": "nothing"}',
        )
        archive.writestr("content.tar", content)
    (tmp_path / "back").mkdir()
    with (tmp_path / "evil").open("rb") as file, open_archive(file) as archive, pytest.raises(DamagedBackup):
        extract_backup(archive, None, tmp_path / "back")
    assert list((tmp_path / "back").iterdir()) == []
