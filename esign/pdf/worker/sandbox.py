"""What a worker process keeps when it gives up its rights, before it reads any file, and how it uses memory."""

import ctypes
import os
import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType

from esign.system import confinement, font_folders
from esign.system.confinement import Confinement

MEBIBYTE = 1024 * 1024

LIMITS = {
    resource.RLIMIT_AS: 1024 * MEBIBYTE,
    resource.RLIMIT_FSIZE: 256 * MEBIBYTE,
    resource.RLIMIT_NOFILE: 32,
    resource.RLIMIT_CORE: 0,
}

# Where the loader of the system finds libraries, and what those read: nothing here is secret on any system.
LIBRARIES = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/etc/ld.so.cache",
)
SHARED = (
    *("/etc/localtime", "/usr/share/zoneinfo", "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf"),
    *("/etc/crypto-policies", "/usr/share/crypto-policies"),
    *("/usr/share/X11/fonts", "/usr/share/fontconfig", "/etc/fonts", "/dev/null", "/dev/urandom"),
)


def confine_process(readable: Sequence[str] = ()) -> Confinement:
    """Limit memory and files and give up the rights that a worker does not need. Return what is in force.

    `readable` names folders that the worker may read besides those of `list_readable`.
    """
    confinement.lower_limits(LIMITS)
    sys.dont_write_bytecode = True
    _open_sizes()
    return confinement.confine_process([*list_readable(), *readable])


def list_readable() -> list[str]:
    """Return the files and folders that a worker reads: Python, the packages, libraries, and fonts.

    Where they are is asked of the running interpreter, so that it holds for the one file, for environments and for
    systems with other folders.
    """
    return [
        *(path for path in sys.path if path),
        str(Path(__file__).parents[2]),
        *(str(getattr(sys, name)) for name in ("prefix", "base_prefix", "_MEIPASS") if hasattr(sys, name)),
        sys.executable,
        *_list_mapped_folders(),
        *LIBRARIES,
        *SHARED,
        *font_folders.SYSTEM,
        *filter(None, os.environ.get(font_folders.FONTS, "").split(os.pathsep)),
    ]


def _list_mapped_folders() -> list[str]:
    """Return the folders of the libraries that are loaded: those that come later are mostly beside them."""
    with suppress(OSError):
        lines = Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines()
        files = {line.split(maxsplit=5)[5] for line in lines if line.count(" ") >= 5 and ".so" in line}
        return sorted({str(Path(file).parent) for file in files if file.startswith("/")} - {"/"})
    return []


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
    return int(os.pread(_open_sizes(), 128, 0).split()[1]) * resource.getpagesize()


@cache
def _open_sizes() -> int:
    """Return a descriptor of the sizes of this process, opened before it is confined."""
    return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
