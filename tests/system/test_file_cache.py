"""The bounded folder of files that can be made again: what it keeps, what goes, and that no failure matters."""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from esign.system.file_cache import FileCache

SHELF, OTHER = "ab" * 32, "doc_01"
NOBODY = 65534


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "pictures"


@pytest.fixture
def cache(folder: Path) -> FileCache:
    return FileCache(folder, 10_000)


def list_names(folder: Path) -> set[str]:
    return {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}


def test_what_was_written_is_read_until_its_shelf_is_removed(cache: FileCache, folder: Path) -> None:
    assert cache.read(SHELF, "1.1") is None and not cache.has(SHELF, "1.1")
    for name, content in (("1.1", b"first"), ("1.1", b"again"), ("2.1", b"")):
        cache.write(SHELF, name, content)
    cache.write(OTHER, "1.1.2", b"values")
    assert [cache.read(SHELF, name) for name in ("1.1", "2.1")] == [b"again", b""]
    assert sorted(cache.list_shelves()) == [SHELF, OTHER]
    cache.remove(SHELF)
    cache.remove(SHELF)
    assert cache.read(SHELF, "1.1") is None
    assert cache.read(OTHER, "1.1.2") == b"values"


def test_nobody_else_can_read_it(cache: FileCache, folder: Path) -> None:
    cache.write(SHELF, "1.1", b"content")
    for path, mode in ((folder, 0o700), (folder / SHELF, 0o700), (folder / SHELF / "1.1", 0o600)):
        assert path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "/etc", "a\0", "A", "1.1.", ".1", "x" + "/" * 9]
)
def test_a_name_that_leads_elsewhere_is_refused(cache: FileCache, name: str) -> None:
    for shelf, file in ((name, "1.1"), (SHELF, name)):
        with pytest.raises(ValueError, match="no name"):
            cache.write(shelf, file, b"")
        with pytest.raises(ValueError, match="no name"):
            cache.read(shelf, file)
    with pytest.raises(ValueError, match="no name"):
        cache.remove(name)


@pytest.mark.parametrize("damage", [b"", b"x", b"content", b"contenT\0\0\0\0", bytes(4096)])
def test_a_file_that_was_cut_off_or_changed_is_missing(cache: FileCache, folder: Path, damage: bytes) -> None:
    cache.write(SHELF, "1.1", b"content")
    (folder / SHELF / "1.1").write_bytes(damage)
    assert cache.read(SHELF, "1.1") is None
    cache.write(SHELF, "1.1", b"content")
    assert cache.read(SHELF, "1.1") == b"content"


def test_what_was_used_longest_ago_goes_first(cache: FileCache, folder: Path) -> None:
    for number in range(9):
        cache.write(SHELF, f"{number}.1", bytes(1000))
        os.utime(folder / SHELF / f"{number}.1", (number, number))
    cache.read(SHELF, "0.1")
    cache.write(OTHER, "1.1", bytes(1500))
    assert list_names(folder) == {f"{SHELF}/{n}.1" for n in (0, 3, 4, 5, 6, 7, 8)} | {f"{OTHER}/1.1"}
    assert cache.trim() <= 10_000


def test_the_files_of_an_earlier_run_count(cache: FileCache, folder: Path) -> None:
    cache.write(OTHER, "1.1", bytes(9000))
    (folder / OTHER / "2.1.7.new").write_bytes(bytes(500))  # it was killed while it wrote
    again = FileCache(folder, 4000)
    assert again.trim() == 0
    assert list_names(folder) == set() and again.list_shelves() == []


def test_a_cache_without_room_keeps_nothing(folder: Path) -> None:
    for cache in (FileCache(folder, 0), FileCache(folder, 10_000, lambda: False)):
        assert not cache.is_keeping
        cache.write(SHELF, "1.1", b"content")
        assert cache.read(SHELF, "1.1") is None
    assert not folder.exists()


def test_a_folder_that_is_deleted_meanwhile_is_made_again(cache: FileCache, folder: Path) -> None:
    cache.write(SHELF, "1.1", b"content")
    shutil.rmtree(folder)
    assert cache.read(SHELF, "1.1") is None and cache.list_shelves() == [] and cache.trim() == 0
    cache.write(SHELF, "1.1", b"content")
    assert cache.read(SHELF, "1.1") == b"content"


def test_a_folder_that_cannot_be_written_is_told_once(
    cache: FileCache, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_bytes(b"a file stands where the folder should be")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            cache.write(SHELF, "1.1", b"content")
            assert cache.read(SHELF, "1.1") is None
    assert len(caplog.messages) == 1 and "drawn each time" in caplog.messages[0]
    folder.unlink()
    assert not cache.is_keeping
    cache.write(SHELF, "1.1", b"content")
    assert cache.is_keeping
    assert cache.read(SHELF, "1.1") == b"content"


def do_everything(cache: FileCache, shelf: str, name: str) -> list[object]:
    """What each function answers where nothing can be kept; none of them may raise."""
    cache.write(shelf, name, b"content")
    found: list[object] = [
        cache.read(shelf, name),
        cache.has(shelf, name),
        cache.list_shelves(),
        cache.trim(),
    ]
    cache.remove(shelf)
    return found


@contextmanager
def run_as_nobody() -> Iterator[None]:
    """Without the rights of root, who may do everything."""
    if os.geteuid():
        pytest.skip("only root can become another user")
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o500, 0o700])
def test_no_error_comes_from_a_folder_of_another_user(mode: int) -> None:
    folder = Path(tempfile.mkdtemp())  # its parents can be entered by everybody
    try:
        cache = FileCache(folder / "pictures", 10_000)
        cache.write(SHELF, "1.1", b"content")
        (folder / "pictures").chmod(mode)
        folder.chmod(0o755)
        with run_as_nobody():
            assert do_everything(cache, SHELF, "1.1") == [None, False, [], 0]
        assert cache.read(SHELF, "1.1") == b"content"
    finally:
        shutil.rmtree(folder)


def test_no_error_comes_from_names_that_the_system_refuses(cache: FileCache) -> None:
    for shelf, name in (("a" * 300, "1.1"), (SHELF, "a" * 300)):
        assert do_everything(cache, shelf, name) == [None, False, [shelf] * (shelf == SHELF), 0]


def test_a_file_whose_time_cannot_be_set_is_read_all_the_same() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        cache = FileCache(folder / "pictures", 10_000)
        cache.write(SHELF, "1.1", b"content")
        for path in (folder, folder / "pictures", folder / "pictures" / SHELF):
            path.chmod(0o755)
        (folder / "pictures" / SHELF / "1.1").chmod(0o644)
        with run_as_nobody():
            assert cache.read(SHELF, "1.1") == b"content" and cache.has(SHELF, "1.1")
    finally:
        shutil.rmtree(folder)
