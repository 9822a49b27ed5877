"""Become another user after the program was started as root to open its ports."""

import os
import pwd
from pathlib import Path


class CannotBecomeUser(Exception):
    """The program cannot run as the user of the settings; the message says why and what to do."""


def become_user(name: str, folder: Path) -> None:
    """Run as this user from now on, in all threads, with no way back. A missing `folder` is made for the user first.

    Does nothing if the program runs as this user already. Raise `CannotBecomeUser`.
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
    try:
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True)
            # The parent may be the user's, who could have put a link in its place.
            os.chown(folder, user.pw_uid, user.pw_gid, follow_symlinks=False)
        os.initgroups(name, user.pw_gid)
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    except OSError as error:
        raise CannotBecomeUser(f"server.user: esign cannot become {name}: {error.strerror}") from None
    os.environ.update(HOME=user.pw_dir, USER=name, LOGNAME=name)
