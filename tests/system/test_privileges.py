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
print(ids, os.getresgid(), os.getgroups(), os.environ["USER"])
"""


def test_root_becomes_the_user_of_the_settings(tmp_path: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    folder = tmp_path / "new" / "data"
    ran = subprocess.run(
        (sys.executable, "-c", BECOME, folder), capture_output=True, text=True, check=True
    ).stdout
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
