"""Limit how much freed memory glibc keeps (other C libraries keep hardly any), and what the collector looks at."""

import ctypes
import gc
from contextlib import suppress

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # of mallopt(3)
LARGE = 4 * 2**20


def set_up_memory() -> None:
    """Configure the allocator once, by the command that serves, before there are threads.

    By default each thread that ever computed a hash or a large mail keeps its own free blocks: 19 MiB for a
    hash.
    """
    with suppress(AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, LARGE)  # from this size on, freed blocks are returned to the system
        mallopt(M_ARENA_MAX, 1)


def pause_collection() -> None:
    """Stop collecting cyclic garbage while the program is imported: almost nothing of that is garbage."""
    gc.disable()


def resume_collection() -> None:
    """Collect again, but never look at what exists now: the modules stay until the program ends."""
    gc.freeze()
    gc.enable()
