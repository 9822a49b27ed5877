"""Bytes go from one thread to another in order, and neither of the two waits for one that has ended."""

import io
import subprocess
import sys
import threading

import pytest

from esign.backup.encryption import open_encrypted
from esign.backup.handover import AT_ONCE, WAITING, Handover, HandoverWriter, PieceReader, write_behind

LARGE = AT_ONCE + 7


class Disk:
    """A target that takes a number of writes before it fails."""

    def __init__(self, most: int) -> None:
        self.most, self.content = most, b""

    def write(self, content: bytes) -> int:
        if self.most == 0:
            raise OSError(28, "No space left on device")
        self.most -= 1
        self.content += content
        return len(content)


def test_all_is_written_in_order_when_the_block_ends() -> None:
    pieces = [bytes([number]) * size for number, size in enumerate([1, LARGE, 0, 3, AT_ONCE, 5])]
    disk = Disk(-1)
    with write_behind(disk) as late:
        assert [late.write(piece) for piece in pieces] == [len(piece) for piece in pieces]
    assert disk.content == b"".join(pieces)


@pytest.mark.parametrize("most", [0, 1, 3 * WAITING - 1])
def test_what_a_disk_refuses_is_raised_and_nobody_waits_for_it(most: int) -> None:
    """The first, the second, and the last of many writes fail, of which more come than may wait."""
    disk, threads = Disk(most), threading.active_count()
    with pytest.raises(OSError, match="No space left"), write_behind(disk) as late:
        for _ in range(3 * WAITING):
            late.write(bytes(LARGE))
    assert len(disk.content) == most * LARGE and threading.active_count() == threads


def test_an_error_of_the_block_passes() -> None:
    disk, threads = Disk(-1), threading.active_count()
    with pytest.raises(ZeroDivisionError), write_behind(disk) as late:
        late.write(bytes(LARGE))
        raise ZeroDivisionError
    assert threading.active_count() == threads


def test_a_writer_that_waits_for_room_ends_when_the_reader_leaves() -> None:
    handover, full, ended = Handover(), threading.Event(), list[str]()

    def write() -> None:
        writer = HandoverWriter(handover)
        for _ in range(WAITING):
            writer.write(bytes(LARGE))
        full.set()
        try:
            writer.write(bytes(LARGE))
        except BrokenPipeError as error:
            ended.append(str(error))

    writing = threading.Thread(target=write)
    writing.start()
    full.wait()
    handover.leave()
    writing.join()
    assert ended == ["nobody reads what is written"]


def test_pieces_are_read_as_one_stream() -> None:
    stream = PieceReader([b"", b"abc", b"", b"de"])
    assert [stream.read(2) for _ in range(5)] == [b"ab", b"c", b"de", b"", b""]


INTERRUPTED = """
import random, signal
from esign.backup import handover

class Target:
    def write(self, content):
        return len(content)

def interrupt(number, frame):
    raise KeyboardInterrupt

def write():
    with handover.write_behind(Target()) as late:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 5e-3))
        while True:
            late.write(b"x")

handover.AT_ONCE = 1  # a handover for each call
signal.signal(signal.SIGALRM, interrupt)
interrupts = 0
while interrupts < 300:
    try:
        write()
    except KeyboardInterrupt:
        interrupts += 1
"""


def test_a_signal_at_any_moment_leaves_nobody_waiting() -> None:
    subprocess.run([sys.executable, "-c", INTERRUPTED], timeout=60, check=True)


def test_an_error_of_the_program_while_decrypting_is_no_damage() -> None:
    with pytest.raises(TypeError), open_encrypted(io.BytesIO(), "no key") as stream:
        assert stream.read(1) == b""
