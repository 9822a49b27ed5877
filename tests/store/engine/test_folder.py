import logging
import os
import stat
from pathlib import Path

import pytest

from esign.store.engine import folder
from esign.store.engine.folder import UnusableFolder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_missing_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    made = folder.prepare(tmp_path / "a" / "b")
    assert made == tmp_path / "a" / "b"
    assert made.is_dir()
    assert mode(made) == 0o700


def test_a_folder_open_to_others_is_closed_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    there = tmp_path / "data"
    there.mkdir()
    there.chmod(0o755)
    (there / "kept").write_text("still here")
    with caplog.at_level(logging.WARNING, "esign.store"):
        folder.prepare(there)
    assert mode(there) == 0o700
    assert (there / "kept").read_text() == "still here"
    assert str(there) in caplog.text

    caplog.clear()
    folder.prepare(there)
    assert caplog.text == ""


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    there = tmp_path / "data"
    there.write_text("mine")
    with pytest.raises(UnusableFolder, match=str(there)):
        folder.prepare(there)
    with pytest.raises(UnusableFolder, match=str(there / "deeper")):
        folder.prepare(there / "deeper")
    assert there.read_text() == "mine"


def test_the_folder_of_somebody_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    theirs = Path("/usr")
    if os.geteuid() == 0:  # then nobody else's folder is at hand
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        theirs.chmod(0o755)
        os.chown(theirs, 1, 1)
    before = mode(theirs)
    with pytest.raises(UnusableFolder, match="belongs to another user"):
        folder.prepare(theirs)
    assert mode(theirs) == before


@pytest.mark.parametrize("path", ["/proc", "/proc/self", "/proc/sys"])
def test_the_file_system_below_a_folder_is_known(path: str) -> None:
    assert folder.find_file_system(Path(path)) == "proc"


def test_what_is_not_there_lies_where_its_folder_does(tmp_path: Path) -> None:
    assert folder.find_file_system(tmp_path / "not" / "there") == folder.find_file_system(tmp_path)
    assert folder.find_file_system(tmp_path) not in folder.NETWORK_FILE_SYSTEMS
