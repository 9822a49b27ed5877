"""The room on the disk: what is short, and the reserve that is made, released and made again."""

import logging
from pathlib import Path

import pytest

from esign.system.disk import DiskRoom, count_free_bytes

MIB = 2**20


class Disk:
    """A disk of which a test says how much is free."""

    def __init__(self, free: int) -> None:
        self.free = free

    def __call__(self, folder: Path) -> int:
        return self.free


@pytest.fixture
def disk() -> Disk:
    return Disk(100 * MIB)


@pytest.fixture
def room(tmp_path: Path, disk: Disk) -> DiskRoom:
    return DiskRoom(tmp_path, spare=16 * MIB, reserve=4 * MIB, free=disk)


def test_new_files_wait_as_soon_as_less_is_free_than_is_kept_for_signing(room: DiskRoom, disk: Disk) -> None:
    assert not room.is_short()
    disk.free = 16 * MIB
    assert not room.is_short()
    disk.free -= 1
    assert room.is_short()


def test_the_reserve_takes_its_room_and_gives_it_when_hardly_any_is_left(
    room: DiskRoom, disk: Disk, tmp_path: Path
) -> None:
    reserve = tmp_path / "reserve"
    room.check_room()
    assert reserve.stat().st_size == 4 * MIB and reserve.stat().st_blocks * 512 >= 4 * MIB
    assert reserve.stat().st_mode & 0o777 == 0o600
    disk.free = 8 * MIB
    room.check_room()
    assert reserve.exists()
    disk.free = 4 * MIB - 1
    room.check_room()
    assert not reserve.exists()
    disk.free = 20 * MIB  # not at once: what it takes would make room short again
    room.check_room()
    assert not reserve.exists()
    disk.free = 24 * MIB
    room.check_room()
    assert reserve.stat().st_size == 4 * MIB


def test_what_changes_is_logged_once(room: DiskRoom, disk: Disk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    disk.free = 10 * MIB
    room.check_room()
    room.check_room()
    disk.free = 100 * MIB
    room.check_room()
    assert [record.message[:60] for record in caplog.records] == [
        "the disk of the data folder has 10 MiB left: nothing can be ",
        "the disk of the data folder has room again: uploads are take",
    ]


def test_a_disk_that_cannot_be_asked_has_no_room(tmp_path: Path) -> None:
    room = DiskRoom(tmp_path / "gone", free=count_free_bytes)
    assert room.is_short()
    room.check_room()


def test_without_room_to_keep_there_is_no_reserve(tmp_path: Path) -> None:
    room = DiskRoom(tmp_path, spare=0, reserve=0)
    room.check_room()
    assert not room.is_short() and list(tmp_path.iterdir()) == []
