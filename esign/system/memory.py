"""How glibc keeps memory that is free again; other C libraries keep none worth a word."""

import ctypes
from contextlib import suppress

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # of mallopt(3)
LARGE = 4 * 2**20


def set_up() -> None:
    """Once per program, by the command that serves, before there are threads.

    Left alone, each thread that ever made a hash or a large mail keeps its own free blocks: 19 MiB for a hash.
    """
    with suppress(AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, LARGE)  # from this size on, blocks go back when they are freed
        mallopt(M_ARENA_MAX, 1)
