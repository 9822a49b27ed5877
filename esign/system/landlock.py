"""Leave this process only some files to read, for ever and for all that it starts (Landlock, Linux 5.13).

The C libraries have no functions for these three system calls yet, so that they are called by their numbers, which are
the same on every machine.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress

# linux/landlock.h
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
GET_VERSION, PATH_BENEATH = 1, 1
READ_FILE, READ_DIR = 1 << 2, 1 << 3
# How many kinds of access to files each version of the interface knows: those that are known and not granted end.
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
CONNECTIONS = 0b11  # bind and connect by TCP, since version 4
SCOPES = 0b11  # abstract Unix sockets and signals to others, since version 6


def find_version() -> int:
    """Return the version of Landlock that the kernel has, 0 if it has none or may not be asked."""
    return max(0, int(_call(CREATE_RULESET, None, 0, GET_VERSION)))


def leave_only(paths: Iterable[str]) -> int:
    """Let this process read these files, and the files below these folders, and nothing else by opening it.

    It writes, makes, moves and runs nothing, connects by TCP to nobody, and signals nobody outside. Paths that do not
    exist are left out. What is open already stays so. Return the version of Landlock that does this, 0 if none does.
    The process must be without a way to new privileges (prctl) and have one thread.
    """
    version = find_version()
    if not version:
        return 0
    handled = (1 << FILE_RIGHTS.get(version, 16)) - 1
    connections, scopes = CONNECTIONS if version >= 4 else 0, SCOPES if version >= 6 else 0
    attributes = struct.pack("=QQQ", handled, connections, scopes)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _call(CREATE_RULESET, attributes, size, 0)
    if rules < 0:
        return 0
    try:
        for path in dict.fromkeys(paths):
            with suppress(OSError):
                _add_path(rules, path)
        return version if _call(RESTRICT_SELF, rules, 0) == 0 else 0
    finally:
        os.close(rules)


def _add_path(rules: int, path: str) -> None:
    """Grant reading of a file or folder. Raises OSError if there is none."""
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        access = READ_FILE | READ_DIR if is_folder else READ_FILE
        _call(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", access, descriptor), 0)
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call, and return what it returns, -1 if it fails."""
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    given = [ctypes.c_long(one) if isinstance(one, int) else ctypes.c_char_p(one) for one in arguments]
    return int(function(ctypes.c_long(number), *given))
