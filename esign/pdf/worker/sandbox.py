"""Drop the rights and resources that a worker process does not need, before it reads any file."""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

MEBIBYTE = 1024 * 1024

LIMITS = {
    resource.RLIMIT_AS: 1024 * MEBIBYTE,
    resource.RLIMIT_FSIZE: 256 * MEBIBYTE,
    resource.RLIMIT_NOFILE: 32,
    resource.RLIMIT_CORE: 0,
}

NICE = 10

# When memory runs out, the kernel ends a worker before the server or any other program's database.
FIRST_TO_GO = 800

# Linux, from sched.h and prctl.h.
NEW_USER, NEW_NET = 0x10000000, 0x40000000
PARENT_DEATH, NO_NEW_PRIVILEGES = 1, 38


def confine_process() -> None:
    """Limit memory and files, lower the priority, leave the network if the system permits it, and die with the
    parent.
    """
    for kind, limit in LIMITS.items():
        _lower_limit(kind, limit)
    os.nice(NICE)
    with suppress(OSError):  # a worker whose rank is higher already may not lower it
        Path("/proc/self/oom_score_adj").write_text(str(FIRST_TO_GO))
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(NEW_USER | NEW_NET):
        library.unshare(NEW_NET)
    library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    library.prctl(PARENT_DEATH, signal.SIGKILL, 0, 0, 0)


def leave_out_http() -> None:
    """Put an empty module in the place of aiohttp, which pyHanko imports to ask the network: a worker has none.

    It would take 8 MiB of each worker and a tenth of a second of its start.
    """
    empty = ModuleType("aiohttp")
    empty.__dict__["__getattr__"] = lambda name: object  # classes of it stand in annotations
    sys.modules["aiohttp"] = empty


def return_memory() -> None:
    """Return to the system what is free in the heap; glibc keeps it after the largest job. Others keep hardly any."""
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def allow_cpu(seconds: int) -> None:
    """Allow this many more seconds of processor time, rounded up; then the system ends the process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))


def read_resident_memory() -> int:
    """Return the memory in use by this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _lower_limit(kind: int, limit: int) -> None:
    """Lower a limit. One that is lower already stays."""
    _, hard = resource.getrlimit(kind)
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(kind, (limit, limit))
