"""Hand bytes from one thread to another: to write and hash them while those that follow are encrypted or decrypted."""

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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
    """Pieces that one thread puts in and another one takes out, in order; either of the two can end it."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._is_finished = self._is_left = False

    def put(self, piece: bytes) -> None:
        """Add a piece when there is room. Raise BrokenPipeError if nobody takes any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_left or len(self._pieces) < WAITING)
            if self._is_left:
                raise BrokenPipeError("nobody reads what is written")
            self._pieces.append(piece)
            self._changed.notify_all()

    def finish(self) -> None:
        """Say that no piece follows."""
        with self._changed:
            self._is_finished = True
            self._changed.notify_all()

    def leave(self) -> None:
        """Say that no piece is taken any more."""
        with self._changed:
            self._is_left = True
            self._changed.notify_all()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces until `finish`."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pieces or self._is_finished)
                if not self._pieces:
                    return
                piece = self._pieces.popleft()
                self._changed.notify_all()
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
            self._handover.put(b"".join(self._parts))
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

    thread = threading.Thread(target=write, name="writing")
    thread.start()
    writer = HandoverWriter(handover)
    try:
        yield writer
        writer.flush()
    except BrokenPipeError:
        if not failed:
            raise
    finally:
        handover.finish()
        thread.join()
        if failed:
            raise failed[0]
