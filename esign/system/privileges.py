"""Become another user after the program was started as root to open its ports."""

import os
import pwd
import sys
from pathlib import Path


class CannotBecomeUser(Exception):
    """The program cannot run as the user of the settings; the message says why and what to do."""


def find_account() -> str:
    """Return the user of this machine that runs the program, and who called sudo for that."""
    try:
        name = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        name = str(os.geteuid())
    caller = os.environ.get("SUDO_USER") if os.geteuid() == 0 else None
    return f"{name}, by sudo of {caller}" if caller else name


def become_user(name: str, folder: Path) -> None:
    """Run as this user from now on, in all threads, with no way back. A missing `folder` is made for the user first.

    Does nothing if the program runs as this user already. Raise `CannotBecomeUser`, also if the user cannot run
    this program, which starts its workers anew.
    """
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        raise CannotBecomeUser(f"server.user: there is no user {name} on this machine") from None
    if user.pw_uid == os.geteuid():
        return
    if os.geteuid() != 0:
        raise CannotBecomeUser(
            f"server.user: only root can become {name}; start esign as root, or as {name} without server.user"
        )
    folder = folder.absolute()
    try:
        if not os.path.lexists(folder) and is_roots(folder.parent):
            make_folder(folder, user)
    except OSError as error:
        raise CannotBecomeUser(
            f"server.user: the data folder {folder} cannot be made for {name}: {error.strerror}"
        ) from None
    try:
        os.initgroups(name, user.pw_gid)
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    except OSError as error:
        raise CannotBecomeUser(f"server.user: esign cannot become {name}: {error.strerror}") from None
    if not os.access(sys.executable, os.X_OK):
        raise CannotBecomeUser(
            f"server.user: {name} cannot run {sys.executable}; let {name} read the folder of the program"
        )
    os.environ.update(HOME=user.pw_dir, USER=name, LOGNAME=name)


def is_roots(folder: Path) -> bool:
    """Return whether all that exists of this path is root's.

    In a folder of somebody else, its owner could exchange what root makes there.
    """
    return all(path.lstat().st_uid == 0 for path in (folder, *folder.parents) if os.path.lexists(path))


def make_folder(folder: Path, user: pwd.struct_passwd) -> None:
    """Make a folder of the user alone, below folders that everybody may enter, whatever the umask."""
    for parent in reversed(folder.parents):
        if not parent.exists():
            parent.mkdir()
            parent.chmod(0o755)
    folder.mkdir(mode=0o700)
    os.chown(folder, user.pw_uid, user.pw_gid, follow_symlinks=False)
