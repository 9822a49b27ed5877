"""Folders on other machines: full, gone, or without an answer."""

import os
import resource
import threading
from pathlib import Path

import pytest

from esign.system.outside_folder import OutsideFolders, write_new_file
from tests.journeys.api import until


def test_a_file_is_written_once_and_nothing_is_replaced_or_followed(tmp_path: Path) -> None:
    assert write_new_file(tmp_path, "a", b"one") is None
    assert write_new_file(tmp_path, "a", b"one") is None, "it is there"
    assert "another content" in str(write_new_file(tmp_path, "a", b"two"))
    assert "another content" in str(write_new_file(tmp_path, "a", b"on"))
    (tmp_path / "elsewhere").write_bytes(b"one")
    for name, place in (("whole", "elsewhere"), ("dangling", "nowhere")):
        (tmp_path / name).symlink_to(place)
        assert "cannot be written" in str(write_new_file(tmp_path, name, b"one"))
    os.mkfifo(tmp_path / "pipe")
    assert write_new_file(tmp_path, "pipe", b"one") is not None
    assert "No such file" in str(write_new_file(tmp_path / "gone", "a", b"one"))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "dangling", "elsewhere", "pipe", "whole"]
    assert (tmp_path / "a").read_bytes() == b"one"


def test_what_could_not_be_written_whole_is_taken_away(tmp_path: Path) -> None:
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, usual[1]))
    try:
        assert "File too large" in str(write_new_file(tmp_path, "a", bytes(2 << 20)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert [*tmp_path.iterdir()] == []
    assert write_new_file(tmp_path, "a", bytes(2 << 20)) is None


async def test_a_folder_without_an_answer_gets_no_second_question_and_holds_up_no_other(
    tmp_path: Path,
) -> None:
    freed, asked = threading.Event(), list[Path]()

    def write(folder: Path, name: str, content: bytes) -> str | None:
        asked.append(folder)
        if folder.name == "dead":
            freed.wait()
        return None

    dead, folders = tmp_path / "dead", OutsideFolders(1.0, write)
    try:
        for _ in range(2):
            assert await folders.write(dead, "a", b"") == f"{dead} does not answer"
        assert await folders.write(tmp_path, "a", b"") is None
        assert asked == [dead, tmp_path]
    finally:
        freed.set()

    async def answers() -> bool | None:
        return await folders.write(dead, "a", b"") is None or None

    assert await until(answers, "the folder answers again")


async def test_a_folder_is_asked_again_after_a_thread_that_could_not_start(tmp_path: Path) -> None:
    folders = OutsideFolders(60.0)
    before = threading.stack_size(2**46)  # more than any machine has
    try:
        problem = await folders.write(tmp_path, "a", b"x")
    finally:
        threading.stack_size(before)
    assert problem == f"{tmp_path} cannot be asked: can't start new thread"
    assert await folders.write(tmp_path, "a", b"x") is None
    assert (tmp_path / "a").read_bytes() == b"x"


async def test_what_a_write_raises_is_told_and_leaves_the_folder_free(tmp_path: Path) -> None:
    def write(folder: Path, name: str, content: bytes) -> str | None:
        raise MemoryError("no room")

    folders = OutsideFolders(60.0, write)
    for _ in range(2):
        with pytest.raises(MemoryError):
            await folders.write(tmp_path, "a", b"x")
