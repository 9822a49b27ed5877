"""Keep what this process knows from other processes of its user, and from what is written when it crashes."""

import ctypes
from contextlib import suppress
from pathlib import Path

from esign.system import confinement

OWN = b"ESIGN_"
ENVIRONMENT_BEGINS = 47  # of the fields of /proc/PID/stat behind the name (proc(5), env_start), then its end


def hide_own_secrets() -> None:
    """Hide memory and environment of this process. The settings must have been read before.

    A passphrase or a password that an administrator gives as a variable stands in `/proc/PID/environ` as long as the
    process runs, whatever `os.environ` says: those who collect facts about processes read it there.
    """
    with suppress(OSError, ValueError, IndexError):
        _wipe_environment()
    confinement.hide_memory()


def _wipe_environment() -> None:
    """Overwrite the values of our variables where the kernel put them at the start; `os.environ` keeps its copies.

    Raises OSError and ValueError where the system does not say where they are.
    """
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    begins, ends = (int(field) for field in fields[ENVIRONMENT_BEGINS : ENVIRONMENT_BEGINS + 2])
    if not 0 < begins < ends:
        return
    # Another program may have moved it: compare before anything is overwritten.
    found = Path("/proc/self/environ").read_bytes()
    at = begins
    for variable in found[: ends - begins].split(b"\0"):
        name, separator, value = variable.partition(b"=")
        place = at + len(name) + 1
        if name.startswith(OWN) and separator and ctypes.string_at(place, len(value)) == value:
            ctypes.memset(place, ord("x"), len(value))
        at += len(variable) + 1
