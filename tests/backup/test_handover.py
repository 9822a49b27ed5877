"""Bytes go from one thread to another in order, and neither of the two waits for one that has ended."""

import threading

import pytest

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
