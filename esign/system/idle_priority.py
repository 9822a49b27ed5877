"""Let this process use the processor and the disk after others, or only when no other wants them."""

import ctypes
import os
import platform
from contextlib import suppress

NICER, NICEST = 10, 19
# ioprio_set(2), which the C library does not wrap: its number by machine.
SET_IO_PRIORITY = {"x86_64": 251, "aarch64": 30, "riscv64": 30}
THIS_PROCESS, IDLE = 1, 3 << 13


def give_way() -> None:
    """Let the processor go to others first from now on: beside one of them, this process gets about a tenth.

    Threads and processes that this one starts later give way too. Where the system refuses, everything stays as it is.
    """
    with suppress(OSError):
        if os.getpriority(os.PRIO_PROCESS, 0) < NICER:
            os.setpriority(os.PRIO_PROCESS, 0, NICER)


def become_idle() -> None:
    """Give way to everything else from now on. Threads and processes that this one starts later do so too.

    The scheduling class for idle work, below that, could keep this process from ever giving up a lock of the
    database that the server waits for. Where the system refuses, everything stays as it is.
    """
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, NICEST)
    number = SET_IO_PRIORITY.get(platform.machine())
    if number is not None:
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).syscall(number, THIS_PROCESS, 0, IDLE)
