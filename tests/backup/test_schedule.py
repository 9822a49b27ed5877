"""Scheduled backups: what is deleted, what an increment holds, and what keeps one from being made."""

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from esign.backup.archive import PIECE, DamagedBackup, hold_content, read_archive, stream_archive
from esign.backup.backup_order import (
    BackupOrder,
    BackupOutcome,
    TargetAccess,
    decode_order,
    decode_outcome,
)
from esign.backup.container import (
    IncrementAbout,
    measure_content,
    open_archive,
    open_content,
    write_backup,
)
from esign.backup.database_blocks import BLOCK, FILE, HASH, load_base
from esign.backup.encryption import Protection
from esign.backup.increment import (
    BLOCKS,
    NUMBER,
    NUMBERS,
    TREE,
    check_increment,
    extract_increment,
    require_increment,
)
from esign.backup.make_backup import CannotBackUp
from esign.backup.stored_names import StoredName, choose_deletions, parse_name, read_time, write_time
from esign.backup.targets import FolderTarget
from esign.backup.work_off_order import delete_oldest, work_off_order
from esign.config import BackupPlace
from esign.core.instant import DAY, HOUR
from tests.backup.checks import check_later
from tests.pki import NOW

MINE, OTHER = "0a1b2c3d", "ffffffff"


def name(day: int, base: int | None = None, label: str = MINE, damaged: bool = False) -> str:
    return str(
        StoredName(
            write_time(NOW + day * DAY),
            label,
            None if base is None else write_time(NOW + base * DAY),
            damaged,
        )
    )


def test_a_name_says_what_it_names() -> None:
    for text in (name(0), name(3, 1), name(2, damaged=True)):
        parsed = parse_name(text)
        assert parsed is not None and str(parsed) == text
    assert read_time(StoredName(write_time(NOW), MINE)) == NOW // 1000 * 1000
    for foreign in ("esign-20261128T190000Z.backup", f"{name(0)}.old", f"x{name(0)}", name(0).upper(), ""):
        assert parse_name(foreign) is None, foreign


@pytest.mark.parametrize(
    ("there", "keep", "deleted"),
    [
        ([name(0), name(1), name(2), name(3)], 2, [name(0), name(1)]),
        ([name(3)], 1, []),
        ([name(0), name(1, 0), name(2, 0), name(3, 0)], 2, [name(1, 0)]),
        ([name(0), name(1, 0), name(2), name(3, 2)], 1, [name(1, 0), name(0)]),
        ([name(0), name(1, damaged=True), name(2, damaged=True), name(3, damaged=True)], 1,
         [name(1, damaged=True), name(2, damaged=True)]),
        ([name(9), name(1), name(3)], 1, [name(1)]),
        ([name(0, label=OTHER), "esign-20260101T000000Z.backup", "notes.txt", name(3)], 1, []),
        ([name(1, 0), name(2), name(3)], 2, [name(1, 0)]),
        ([name(0), name(1), name(2, 1), name(3, 1), name(-1)], 2, [name(-1)]),
        ([name(-1), name(0, -1), name(1), name(2), name(3)], 1, [name(1), name(2)]),
    ],
    ids=["oldest", "one", "base", "chain", "damaged", "future", "foreign", "orphan", "apart", "needed"],
)  # fmt: skip
def test_only_the_oldest_of_our_own_are_deleted(there: list[str], keep: int, deleted: list[str]) -> None:
    made = parse_name(next(each for each in there if write_time(NOW + 3 * DAY) == each[15:31]))
    assert made is not None
    assert choose_deletions(there, made, keep) == deleted


# ---------- orders ----------


@pytest.fixture
def order(tmp_path: Path) -> BackupOrder:
    """An order to back a small installation up into a folder."""
    data, target = tmp_path / "data", tmp_path / "target"
    data.mkdir(0o700)
    target.mkdir()
    (data / "app.key").write_bytes(b"key")
    with closing(sqlite3.connect(data / "esign.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE page (content BLOB)")
    write_pages(data, 60)
    return BackupOrder(
        data=str(data),
        configuration=None,
        key_file=None,
        place=BackupPlace(kind="folder", text=str(target), path=str(target)),
        access=TargetAccess(),
        label=MINE,
        at=NOW,
        protection=Protection(),
        keep=10,
        full_every=DAY,
        spare=0,
        scratch=str(tmp_path),
    )


def write_pages(data: Path, number: int) -> None:
    with closing(sqlite3.connect(data / "esign.db", isolation_level=None)) as connection:
        connection.executemany("INSERT INTO page VALUES (?)", [(os.urandom(50_000),) for _ in range(number)])


def count_pages(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "esign.db")) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM page")
        assert list(connection.execute("PRAGMA integrity_check")) == [("ok",)]
    return int(count)


@check_later
def find_nothing(folder: Path) -> list[str]:
    count_pages(folder)
    return []


def run(order: BackupOrder, hours: float) -> Path:
    """Carry the order out later; the file that it made."""
    made = work_off_order(replace(order, at=NOW + int(hours * HOUR)), find_nothing)
    return Path(order.place.path, made.name)


def list_names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def spoil(path: Path, end: int) -> None:
    """Keep what stands before the end."""
    path.write_bytes(path.read_bytes()[:end])


def restore(base: Path, file: Path, folder: Path) -> Path:
    with (
        base.open("rb") as one,
        file.open("rb") as two,
        open_archive(one) as whole,
        open_archive(two) as part,
    ):
        extract_increment(whole, None, part, None, folder)
    return folder / "data"


def test_an_order_passes_a_pipe_unchanged(order: BackupOrder) -> None:
    full = replace(order, protection=Protection("secret", ("age1x",)), access=TargetAccess(secret_key="s3"))
    line = full.encode()
    assert decode_order(line) == full and line.count(b"\n") == 1
    assert "secret" not in repr(full).replace("secret_key", "") and "age1x" not in repr(full)


def test_an_increment_holds_what_has_changed_and_makes_it_whole(order: BackupOrder, tmp_path: Path) -> None:
    data = Path(order.data)
    whole = run(order, 0)
    with closing(sqlite3.connect(data / "esign.db", isolation_level=None)) as held:
        held.execute("PRAGMA wal_autocheckpoint = 0")  # what it writes stays in the log
        held.execute("INSERT INTO page VALUES (?)", (os.urandom(50_000),))
        first = run(order, 1)
    (data / "seal.pem").write_bytes(b"new")
    with closing(sqlite3.connect(data / "esign.db", isolation_level=None)) as connection:
        connection.execute("DELETE FROM page WHERE rowid IN (5, 6, 7)")
    second = run(order, 2)
    assert first.suffix == second.suffix == ".increment"
    assert first.stat().st_size < whole.stat().st_size / 4
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert count_pages(restore(whole, first, tmp_path / "a")) == 61
    made = restore(whole, second, tmp_path / "b")
    assert count_pages(made) == 58 and (made / "seal.pem").read_bytes() == b"new"
    assert sorted(path.name for path in made.iterdir()) == ["app.key", "esign.db", "seal.pem"]
    with (
        closing(sqlite3.connect(data / "esign.db")) as old,
        closing(sqlite3.connect(made / "esign.db")) as new,
    ):
        assert list(old.execute("SELECT * FROM page")) == list(new.execute("SELECT * FROM page"))


def test_an_increment_goes_with_no_other_base_and_no_changed_one(order: BackupOrder, tmp_path: Path) -> None:
    first = run(order, 0)
    increment = run(order, 1)
    (Path(order.data) / FILE).unlink()
    write_pages(Path(order.data), 1)
    second = run(order, 2)
    (tmp_path / "a").mkdir()
    with pytest.raises(DamagedBackup, match="is not the backup that the changes in it were made for"):
        restore(second, increment, tmp_path / "a")
    spoilt = bytearray(increment.read_bytes())
    spoilt[len(spoilt) // 2] ^= 1
    increment.write_bytes(spoilt)
    (tmp_path / "b").mkdir()
    with pytest.raises(DamagedBackup):
        restore(first, increment, tmp_path / "b")


def read_increment(path: Path) -> tuple[IncrementAbout, dict[str, bytes]]:
    """What an increment says of itself, and its files."""
    contents: dict[str, bytes] = {}
    with path.open("rb") as file, open_archive(file) as archive:
        about = require_increment(archive)
        with open_content(archive, None) as stream:
            read_archive(
                stream,
                measure_content(archive),
                lambda name, pieces: contents.update({name: b"".join(pieces)}),
            )
    return about, contents


def write_increment(path: Path, about: IncrementAbout, contents: Mapping[str, bytes]) -> None:
    """Write an increment with a list of files that is true, whatever is in them."""
    files = [hold_content(name, content) for name, content in contents.items()]
    with path.open("wb") as forged:
        write_backup(forged, stream_archive(files, asdict(about), []), Protection(), about)


def lose_block(contents: Mapping[str, bytes], number: int) -> dict[str, bytes]:
    """The files without one of the blocks and its number."""
    numbers, blocks = contents[NUMBERS], contents[BLOCKS]
    return {
        **contents,
        NUMBERS: numbers[: number * NUMBER] + numbers[(number + 1) * NUMBER :],
        BLOCKS: blocks[: number * BLOCK] + blocks[(number + 1) * BLOCK :],
    }


def test_an_increment_that_does_not_make_its_database_does_not_count_as_made(
    order: BackupOrder, tmp_path: Path
) -> None:
    """Each file has a true hash in the list of files here: what is wrong shows by the database that they make."""
    run(order, 0)
    write_pages(Path(order.data), 3)
    increment, base = run(order, 1), load_base(Path(order.data))
    assert base is not None
    about, good = read_increment(increment)
    blocks, numbers = good[BLOCKS], good[NUMBERS]
    count = len(numbers) // NUMBER
    assert count > 3
    other = replace(base, hashes=bytes(HASH) + base.hashes[HASH:])
    cases = {
        "as it is": (about, good, base, True),
        "first block lost": (about, lose_block(good, 0), base, False),
        "last block lost": (about, lose_block(good, count - 1), base, False),
        "a bit changed": (about, {**good, BLOCKS: blocks[:-1] + bytes([blocks[-1] ^ 1])}, base, False),
        "two exchanged": (about, {**good, NUMBERS: swap_first(numbers)}, base, False),
        "shorter": (replace(about, size=about.size - 4096), good, base, False),
        "longer": (replace(about, size=about.size + 4096), good, base, False),
        "another base": (about, good, other, False),
        "says another base": (replace(about, base_tree=other.tree), good, base, False),
        "other hash": (about, {**good, TREE: bytes(2 * HASH)}, base, False),
    }
    for case, (told, contents, against, is_whole) in cases.items():
        write_increment(increment, told, contents)
        folder = tmp_path / case
        folder.mkdir()
        with (
            increment.open("rb") as file,
            open_archive(file) as archive,
            nullcontext() if is_whole else pytest.raises(DamagedBackup, match=r"make|blocks in it"),
        ):
            assert check_increment(archive, None, against, folder) == len(good), case


def swap_first(numbers: bytes) -> bytes:
    """The numbers with the first two in the place of one another."""
    return numbers[NUMBER : 2 * NUMBER] + numbers[:NUMBER] + numbers[2 * NUMBER :]


@pytest.mark.parametrize("size", [2**40, 2**45])
def test_a_small_increment_makes_no_huge_file(order: BackupOrder, tmp_path: Path, size: int) -> None:
    whole, increment = run(order, 0), run(order, 1)
    about, contents = read_increment(increment)
    write_increment(increment, replace(about, size=size), contents)
    (tmp_path / "a").mkdir()
    with pytest.raises(DamagedBackup, match="larger than the blocks in it and in its base"):
        restore(whole, increment, tmp_path / "a")
    assert (tmp_path / "a" / "data" / "esign.db").stat().st_size < 2**24


@pytest.mark.parametrize(
    "change",
    [
        lambda order: spoil(Path(order.data, FILE), 0),
        lambda order: spoil(Path(order.data, FILE), -1),
        lambda order: spoil(next(Path(order.place.path).iterdir()), 0),
        lambda order: spoil(next(Path(order.place.path).iterdir()), -1),
        lambda order: replace(order, protection=Protection("correct horse battery")),
        lambda order: replace(order, label=OTHER),
        lambda order: replace(order, full_every=0),
        lambda order: replace(order, full_every=HOUR),
        lambda order: replace(order, at=NOW - DAY),
        lambda order: write_pages(Path(order.data), 90),
    ],
    ids=["lost", "cut", "gone", "shorter", "keys", "label", "never", "old", "clock", "large"],
)
def test_a_whole_one_is_made_again(
    order: BackupOrder, change: Callable[[BackupOrder], BackupOrder | None]
) -> None:
    run(order, 0)
    changed = change(order)
    again = changed if isinstance(changed, BackupOrder) else order
    hours = 1 if again.at == NOW else -24
    assert run(again, hours).suffix == ".backup"


def test_an_increment_needs_room_for_what_has_changed_alone(order: BackupOrder) -> None:
    run(order, 0)
    write_pages(Path(order.data), 1)
    size = Path(order.data, "esign.db").stat().st_size
    later = replace(order, at=NOW + HOUR, spare=0)
    with pytest.raises(CannotBackUp, match="MiB are needed in"):
        work_off_order(later, find_nothing, free=lambda folder: 0)
    assert not work_off_order(later, find_nothing, free=lambda folder: size).is_whole
    week = replace(later, at=NOW + 8 * DAY)
    with pytest.raises(CannotBackUp, match="MiB are needed in"):
        work_off_order(week, find_nothing, free=lambda folder: size)


def test_what_keeps_it_from_being_made_is_said_and_deletes_nothing(
    order: BackupOrder, tmp_path: Path
) -> None:
    data, target = Path(order.data), Path(order.place.path)
    kept = run(replace(order, keep=1), 0)
    (target / "notes.txt").write_text("not ours")
    (target / name(-9, label=OTHER)).write_text("of another server")
    (target / name(-8)).symlink_to(data / "app.key")
    gone = BackupPlace(kind="folder", text="/gone", path="/gone")
    inside = BackupPlace(kind="folder", text=str(data), path=str(data))
    cases = [
        (replace(order, place=gone), "there is no folder /gone"),
        (replace(order, place=inside), "lies in the data folder"),
        (replace(order, was_elsewhere=True), "was on another disk at the last backup"),
        (replace(order, spare=2**60), "MiB are needed in"),
        (replace(order, scratch="/proc"), "set backup.scratch"),
    ]
    for each, sentence in cases:
        with pytest.raises(CannotBackUp, match=sentence):
            work_off_order(replace(each, at=NOW + DAY, keep=1), find_nothing)
    assert kept.exists() and sorted(list_names(data)) == [
        "app.key",
        FILE,
        "backup.lock",
        "esign.db",
        "write.lock",
    ]
    second = run(replace(order, keep=1), 48)
    assert second.exists() and not kept.exists()
    assert {"notes.txt", name(-9, label=OTHER), name(-8)} < list_names(target)
    assert (data / "app.key").read_bytes() == b"key"
    assert not [*tmp_path.glob("esign-backup-*")]


def test_damaged_data_pushes_out_no_good_backup(order: BackupOrder) -> None:
    good = run(replace(order, keep=1), 0)
    for hours in (30, 60):
        made = work_off_order(
            replace(order, keep=1, at=NOW + hours * HOUR), check_later(lambda folder: ["broken"])
        )
        assert made.found == ["broken"] and made.name.endswith("-damaged.backup")
    assert good.exists() and len(list_names(Path(order.place.path))) == 2


def test_what_is_told_of_many_deletions_stays_short() -> None:
    names = [name(day) for day in range(5_000)]
    told = decode_outcome(BackupOutcome("x", NOW, 1, True, ["y" * 10**6] * 99, names, True).encode())
    assert told.deleted == names[:10] and told.left_out == 4_990 and len(told.encode()) < 10_000


def test_a_target_that_cannot_be_listed_in_the_end_is_no_failure(order: BackupOrder) -> None:
    class Unlisted(FolderTarget):
        def list_files(self) -> dict[str, int]:
            raise CannotBackUp("it is gone")

    assert delete_oldest(order, Unlisted(order), StoredName(write_time(NOW), MINE)) == []


def test_blocks_fit_the_pieces_of_an_archive() -> None:
    assert PIECE % BLOCK == 0
