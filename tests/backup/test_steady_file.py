"""What is written and read a window at a time is the same, and the system keeps little of it in memory."""

import ctypes
import io
import mmap
import os
from pathlib import Path

from esign.backup.steady_file import WINDOW, SteadyReader, SteadyWriter
from esign.system.disk import is_in_memory

PIECE = 2**20
LARGE = 2 * WINDOW + PIECE


def test_a_file_is_written_and_read_and_not_kept_in_memory(tmp_path: Path) -> None:
    path, pieces = tmp_path / "large", [os.urandom(PIECE), bytes(PIECE)]
    with path.open("wb") as file:
        writer = SteadyWriter(file, file)
        for number in range(LARGE // PIECE):
            assert writer.write(pieces[number % 2]) == PIECE
    assert is_in_memory(tmp_path) or count_cached_bytes(path) < WINDOW
    with io.BufferedReader(SteadyReader(path), PIECE) as source:
        assert all(source.read(PIECE) == pieces[number % 2] for number in range(LARGE // PIECE))
        assert source.read(1) == b""
    assert is_in_memory(tmp_path) or count_cached_bytes(path) < WINDOW


def count_cached_bytes(path: Path) -> int:
    """Return how many bytes of a file the system has in memory (mincore(2))."""
    pages = -(-path.stat().st_size // mmap.PAGESIZE)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        view = (ctypes.c_ubyte * len(mapped)).from_buffer(mapped)
        kept = (ctypes.c_ubyte * pages)()
        library = ctypes.CDLL(None, use_errno=True)
        answer = library.mincore(ctypes.c_void_p(ctypes.addressof(view)), ctypes.c_size_t(len(mapped)), kept)
        del view
    assert answer == 0, os.strerror(ctypes.get_errno())
    return sum(each & 1 for each in kept) * mmap.PAGESIZE
