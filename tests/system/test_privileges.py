"""Becoming another user: for good, in all threads, with no group left; each in a process of its own."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from esign.system.privileges import CannotBecomeUser, become_user

BECOME = """
import os, sys, threading
from pathlib import Path
from esign.system.privileges import CannotBecomeUser, become_user
ids = []
sys.executable = sys.argv[2]
begun, done = threading.Event(), threading.Event()
def look():
    begun.set(); done.wait(); ids.append(os.getresuid())
thread = threading.Thread(target=look); thread.start(); begun.wait()
try:
    become_user("nobody", Path(sys.argv[1]))
except CannotBecomeUser as error:
    print(error)
done.set(); thread.join()
try:
    os.setuid(0)
except PermissionError:
    ids.append("no way back")
print(ids, os.getresgid(), os.getgroups(), os.environ.get("USER"))
"""


def become_nobody(folder: Path, program: str = "/bin/true", umask: int = 0o022) -> str:
    """What a process says that becomes nobody and would start this program."""
    command = (sys.executable, "-c", BECOME, folder, program)
    return subprocess.run(command, capture_output=True, text=True, check=True, umask=umask).stdout


def test_root_becomes_the_user_of_the_settings(tmp_path: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    folder = tmp_path / "new" / "data"
    ran = become_nobody(folder)
    if os.geteuid() != 0:
        assert "only root can become nobody; start esign as root" in ran
        return
    uid, gid = nobody.pw_uid, nobody.pw_gid
    assert ran.strip() == f"[{(uid,) * 3}, 'no way back'] {(gid,) * 3} {[gid]} nobody"
    assert (folder.stat().st_uid, folder.stat().st_mode & 0o777) == (uid, 0o700)


def test_the_user_who_runs_it_already_stays(tmp_path: Path) -> None:
    become_user(pwd.getpwuid(os.geteuid()).pw_name, tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_user_who_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(CannotBecomeUser, match="no user no-such-user on this machine"):
        become_user("no-such-user", tmp_path)


def test_folders_above_the_data_can_be_entered_whatever_the_umask(tmp_path: Path) -> None:
    become_nobody(tmp_path / "srv" / "esign" / "data", umask=0o077)
    made = [tmp_path / "srv", tmp_path / "srv" / "esign", tmp_path / "srv" / "esign" / "data"]
    modes = [one.stat().st_mode & 0o777 for one in made if one.exists()]
    assert modes == ([0o755, 0o755, 0o700] if os.geteuid() == 0 else [])


def test_root_makes_nothing_in_a_folder_of_somebody_else(tmp_path: Path) -> None:
    """Its owner may have put a link to a folder of root there."""
    (tmp_path / "of-root").mkdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "esign").symlink_to(tmp_path / "of-root")
    if os.geteuid() == 0:
        os.lchown(tmp_path / "theirs" / "esign", pwd.getpwnam("nobody").pw_uid, -1)
    become_nobody(tmp_path / "theirs" / "esign" / "data")
    assert list((tmp_path / "of-root").iterdir()) == []


def test_a_program_that_the_user_cannot_run_is_told(tmp_path: Path) -> None:
    program = tmp_path / "esign"
    program.write_text("#!/bin/sh")
    program.chmod(0o700)
    said = become_nobody(tmp_path / "data", str(program))
    if os.geteuid() == 0:
        assert f"nobody cannot run {program}; let nobody read the folder of the program" in said


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = become_nobody(tmp_path / "file" / "data")
    if os.geteuid() == 0:
        assert f"the data folder {tmp_path}/file/data cannot be made for nobody: Not a directory" in said
