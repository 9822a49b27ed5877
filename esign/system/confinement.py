"""Take from this process what it does not need, before it reads anything that a stranger sent.

What the kernel does not have, or what a container forbids, is left out, and `Confinement` says so.
"""

import ctypes
import os
import resource
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from esign.system import landlock, seccomp

NICE = 10

# When memory runs out, the kernel ends a worker before the server or any other program's database.
FIRST_TO_GO = 800

# Linux, from sched.h and prctl.h.
NEW_USER, NEW_NET = 0x10000000, 0x40000000
PARENT_DEATH, DUMPABLE, NO_NEW_PRIVILEGES = 1, 4, 38


class Confinement(NamedTuple):
    """What confines a process besides its limits.

    `landlock` is the version of Landlock, 0 without it; `offline` says whether the process has an empty network of its
    own.
    """

    landlock: int
    seccomp: bool
    offline: bool

    @property
    def is_complete(self) -> bool:
        """Return whether the process can reach neither files nor connections of others."""
        return self.landlock > 0 and self.seccomp

    def describe(self) -> tuple[str, ...]:
        """Return what is in force and what is missing, as sentences."""
        return (
            f"It opens only what it needs to read (Landlock, version {self.landlock})."
            if self.landlock
            else "The kernel offers no Landlock (Linux 5.13, enabled at boot, allowed by the container), so it can read"
            " what the user of the server can read.",
            "It starts no program, opens no connection and writes no file (seccomp)."
            if self.seccomp
            else "The kernel offers no seccomp for this machine, so it can start programs and write files as the user"
            " of the server can.",
            "It has a network of its own without any connection."
            if self.offline
            else "A network of its own was not to be had; seccomp keeps it from the network."
            if self.seccomp
            else "A network of its own was not to be had, so it can open connections.",
        )


def lower_limits(limits: Mapping[int, int]) -> None:
    """Lower limits of resources. One that is lower already stays."""
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        lower = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (lower, lower))


def confine_process(readable: Iterable[str], opens_files: bool = True) -> Confinement:
    """Lower the priority, leave the network, die with the parent, and give up all rights but reading `readable`.

    With `opens_files` off not even these can be opened. What is open already stays open. Call it before there are
    threads. Return what is in force.
    """
    with suppress(OSError):  # some profiles of containers forbid it
        os.nice(NICE)
    with suppress(OSError):  # a process whose rank is higher already may not lower it
        Path("/proc/self/oom_score_adj").write_text(str(FIRST_TO_GO))
    library = ctypes.CDLL(None, use_errno=True)
    offline = library.unshare(NEW_USER | NEW_NET) == 0 or library.unshare(NEW_NET) == 0
    library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    end_with_parent()
    hide_memory()  # from here on, files of this process in /proc belong to root
    return Confinement(landlock.leave_only(readable), seccomp.forbid_calls(opens_files), offline)


def end_with_parent(parent: int | None = None) -> None:
    """Let the system end this process with the thread that started it, however that ends.

    `parent` is the number of the process that started it: if that has ended already, this one ends at once.
    """
    ctypes.CDLL(None).prctl(PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def hide_memory() -> None:
    """Keep the memory of this process from core dumps, and from other processes of the same user.

    Neither ptrace nor `/proc/PID/mem` nor `/proc/PID/environ` are theirs any more; root still has them. A change of
    the user and the start of another program undo it.
    """
    lower_limits({resource.RLIMIT_CORE: 0})
    ctypes.CDLL(None).prctl(DUMPABLE, 0, 0, 0, 0)
