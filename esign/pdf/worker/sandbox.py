"""Takes away from a worker what it does not need, before it reads a byte of anybody's file (docs/dev/security.md 5)."""

import ctypes
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path

MEBIBYTE = 1024 * 1024

LIMITS = {
    resource.RLIMIT_AS: 1024 * MEBIBYTE,
    resource.RLIMIT_FSIZE: 256 * MEBIBYTE,
    resource.RLIMIT_NOFILE: 32,
    resource.RLIMIT_CORE: 0,
}

NICE = 10

# Where memory runs out, the kernel ends a worker before the server and before the database of somebody else.
FIRST_TO_GO = 800

# Linux, from sched.h and prctl.h.
NEW_USER, NEW_NET = 0x10000000, 0x40000000
PARENT_DEATH, NO_NEW_PRIVILEGES = 1, 38


def confine() -> None:
    """Limit memory and files, lower the priority, leave the network where the system lets, die with the parent."""
    for kind, limit in LIMITS.items():
        _lower(kind, limit)
    os.nice(NICE)
    with suppress(OSError):  # a worker whose rank is higher already may not lower it
        Path("/proc/self/oom_score_adj").write_text(str(FIRST_TO_GO))
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(NEW_USER | NEW_NET):
        library.unshare(NEW_NET)
    library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    library.prctl(PARENT_DEATH, signal.SIGKILL, 0, 0, 0)


def allow_cpu(seconds: int) -> None:
    """From now on this many seconds of processor time, rounded up; then the system ends the process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))


def resident() -> int:
    """Bytes of memory in use by this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _lower(kind: int, limit: int) -> None:
    """A limit that is lower already stays."""
    _, hard = resource.getrlimit(kind)
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(kind, (limit, limit))
