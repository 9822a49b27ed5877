"""Who may work on a data folder, and which SQLite needs to be guarded."""

import fcntl
import os
from pathlib import Path

import pytest

from esign.store.engine.locks import AlreadyServed, server_lock


def test_a_second_server_on_the_same_folder_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    with server_lock(tmp_path):
        with pytest.raises(AlreadyServed, match=str(tmp_path)), server_lock(tmp_path):
            pass
        (tmp_path / "other").mkdir()
        with server_lock(tmp_path / "other"):
            pass
    with server_lock(tmp_path):
        pass


def test_a_deleted_lock_file_does_not_let_a_second_server_in(tmp_path: Path) -> None:
    with server_lock(tmp_path):
        (tmp_path / "lock").unlink()
        with pytest.raises(AlreadyServed), server_lock(tmp_path):
            pass
        (tmp_path / "lock").touch()
        with pytest.raises(AlreadyServed), server_lock(tmp_path):
            pass


def test_a_server_of_an_earlier_version_is_seen(tmp_path: Path) -> None:
    """It locks the file alone."""
    handle = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(AlreadyServed), server_lock(tmp_path):
        pass
    os.close(handle)
    with server_lock(tmp_path):
        pass
