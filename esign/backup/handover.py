"""Hand bytes from one thread to another: to write and hash them while those that follow are encrypted or decrypted."""

import errno
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import Protocol

AT_ONCE = 2**20  # bytes that are handed over together
WAITING = 16  # such pieces that wait; the writer waits for room


class Readable(Protocol):
    """What gives its bytes in order, up to `size` at once, and none at its end."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""


class Writable(Protocol):
    """What takes all bytes that are written, and returns how many these were."""

    def write(self, content: bytes, /) -> int:
        """Take bytes."""


class Handover:
    """Pieces that one thread adds and another one takes, in order; either of the two can end it.

    Its queues are those written in C: an error that a signal raises in the middle of a call leaves no lock held.
    """

    def __init__(self) -> None:
        self._pieces: SimpleQueue[bytes | None] = SimpleQueue()
        self._room: SimpleQueue[None] = SimpleQueue()
        for _ in range(WAITING):
            self._room.put(None)
        self._is_left = False

    def add(self, piece: bytes) -> None:
        """Add a piece when there is room. Raise BrokenPipeError if nobody takes any more."""
        self._room.get()
        if self._is_left:
            raise BrokenPipeError("nobody reads what is written")
        self._pieces.put(piece)

    def finish(self) -> None:
        """Say that no piece follows."""
        self._pieces.put(None)

    def leave(self) -> None:
        """Say that no piece is taken any more."""
        self._is_left = True
        self._room.put(None)  # for one that waits

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces until `finish`."""
        while (piece := self._pieces.get()) is not None:
            self._room.put(None)
            yield piece


class HandoverWriter:
    """Hands over what is written, many small pieces at once."""

    def __init__(self, handover: Handover) -> None:
        self._handover = handover
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, content: bytes) -> int:
        """Take all of it, and return how many bytes these were. Raise BrokenPipeError if nobody takes any more."""
        self._parts.append(content)
        self._size += len(content)
        if self._size >= AT_ONCE:
            self.flush()
        return len(content)

    def flush(self) -> None:
        """Hand over what was written until now."""
        if self._parts:
            self._handover.add(b"".join(self._parts))
            self._parts, self._size = [], 0


class PieceReader:
    """Reads pieces as one stream."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._left = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; none at the end."""
        while not self._left and (piece := next(self._pieces, None)) is not None:
            self._left = memoryview(piece)
        taken, self._left = self._left[:size], self._left[size:]
        return bytes(taken)


@contextmanager
def write_behind(target: Writable) -> Iterator[HandoverWriter]:
    """Give what writes to `target` in a thread; all is written when the block ends. Raise what writing raises."""
    handover = Handover()
    failed: list[BaseException] = []

    def write() -> None:
        try:
            for piece in handover:
                target.write(piece)
        except BaseException as error:  # it is raised below
            failed.append(error)
            handover.leave()

    writer = HandoverWriter(handover)
    try:
        with run_beside(write, handover.finish):
            yield writer
            writer.flush()
    except BrokenPipeError:
        if not failed:
            raise
    if failed:
        raise failed[0]


@contextmanager
def run_beside(work: Callable[[], None], end: Callable[[], None]) -> Iterator[None]:
    """Run `work`, which raises nothing, in a thread; as the block ends, call `end` and wait until the work has ended.

    Raise OSError if the system starts no more threads.
    """
    thread = threading.Thread(target=work, daemon=True)
    try:
        try:
            thread.start()
        except RuntimeError:
            raise OSError(errno.EAGAIN, "the system starts no more threads") from None
        yield
    finally:
        end()
        with suppress(RuntimeError):  # a signal came before it had begun
            thread.join()
