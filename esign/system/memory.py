"""Limit how much freed memory glibc keeps; other C libraries keep hardly any."""

import ctypes
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
