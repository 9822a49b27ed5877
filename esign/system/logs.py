"""Configure logging of the server: JSON lines for machines, plain lines on a terminal.

The lines of requests are written in batches, by a thread: a system call for each request would take a tenth of its
time, and a slow reader would hold up the event loop. Any other line is written at once, behind all lines before it.
So a process that is killed loses the lines of the requests of the last `PAUSE` seconds, and nothing else.
"""

import asyncio
import json
import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Literal, TextIO

import orjson

from esign.core.instant import rfc3339

LogForm = Literal["auto", "json", "text"]
REQUESTS = "esign.access"  # the logger of the lines of requests
PAUSE = 0.05  # seconds for which a line waits for others
ROOM = 4 * 2**20  # characters
PIECE = 4000  # characters of one write; up to PIPE_BUF, no other process writes into a line of a pipe


class JsonLines(logging.Formatter):
    """One JSON object per line; the access log formats its own."""

    def format(self, record: logging.LogRecord) -> str:
        if record.name == REQUESTS:
            return record.getMessage()
        line = {
            "at": rfc3339(int(record.created * 1000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": read_message(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        try:
            return orjson.dumps(line).decode()
        except TypeError:  # half a surrogate pair, from a name of a file or the words of a library
            return json.dumps(line)


class TextLines(logging.Formatter):
    """One readable line per record, with the id of the request in the line of a request.

    On a terminal, where the person sees when it comes, a line has no time; of what is in order only its words.
    """

    def __init__(self, *, bare: bool = False) -> None:
        super().__init__()
        self._bare = bare

    def format(self, record: logging.LogRecord) -> str:
        text = read_message(record)
        if record.name == REQUESTS:
            text = describe_request(text)
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        if self._bare:
            return text
        return f"{rfc3339(int(record.created * 1000))} {record.levelname:<7} {record.name}: {text}"


def describe_request(line: str) -> str:
    """Return the JSON of a request's line in words."""
    found = orjson.loads(line)
    told = f"{found['method']} {found['path']} {found['status']} {found['ms']} ms {found['requestId']}"
    return " ".join((told, *(found[name] for name in ("ip", "keyId") if found[name])))


def read_message(record: logging.LogRecord) -> str:
    """Return the words of a record. What a library passed with a wrong format is told as it came."""
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError) as error:
        return f"{record.msg} (cannot be filled in: {error})"


class BatchedLines(logging.Handler):
    """A handler that writes lines in their order: those of requests at the latest `PAUSE` seconds after they were
    logged, any other at once.

    Nothing is dropped: while more than about `room` characters wait, logging waits for the reader of the stream. What
    waits at the end of the program is written then. Lines for a stream that is closed or broken are lost.

    The collection of garbage may call a finaliser anywhere in here that logs too, on the same thread. So adding a line
    takes no lock, and a thread that writes does not begin to write again.
    """

    def __init__(self, stream: TextIO, room: int = ROOM) -> None:
        super().__init__()
        self._stream = stream
        self._room = room
        self._lines: deque[str] = deque()
        self._size = 0  # characters; threads that add at once may lose a line of it until the next batch
        self._writing = threading.RLock()  # one batch at a time, which keeps the order
        self._is_writing = self._is_asked_again = False  # only for the thread that holds the lock
        # Locked while no line waits. Unlike an Event it is set in one step of the interpreter.
        self._idle = threading.Lock()
        self._idle.acquire()
        threading.Thread(target=self._write_batches, name="log", daemon=True).start()

    def createLock(self) -> None:
        """Set no lock around `emit`: while one thread writes, others may add."""
        self.lock = None

    def emit(self, record: logging.LogRecord) -> None:
        """Add the line of a record to the batch. No error of formatting reaches the caller."""
        try:
            line = self.format(record)
        except Exception:  # as in every handler of the standard library
            self.handleError(record)
            return
        self._lines.append(line)
        self._size += len(line)
        if self._idle.locked():
            with suppress(RuntimeError):  # another thread was first
                self._idle.release()
        if record.name != REQUESTS or self._size > self._room:
            self.flush()

    def flush(self) -> None:
        """Write everything that was logged so far."""
        with self._writing:
            self._is_asked_again = True
            if self._is_writing:  # called by a finaliser while this thread writes
                return
            self._is_writing = True
            try:
                while self._is_asked_again:
                    self._is_asked_again = False
                    self._write_waiting()
            except (OSError, ValueError):
                return  # there is no other place to tell it
            finally:
                self._is_writing = False

    def _write_waiting(self) -> None:
        self._size = 0
        lines = [self._lines.popleft() for _ in range(len(self._lines))]
        for piece in join_lines(lines):
            self._stream.write(piece)
        self._stream.flush()

    def _write_batches(self) -> None:
        """Write a batch whenever lines have waited for a while, until the process ends."""
        while True:
            self._idle.acquire()
            time.sleep(PAUSE)
            self.flush()


def join_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines, each with its line feed, in pieces of at most `PIECE` characters or of one line."""
    piece: list[str] = []
    size = 0
    for line in lines:
        if piece and size + len(line) >= PIECE:
            yield "".join(piece)
            piece, size = [], 0
        piece.append(f"{line}\n")
        size += len(line) + 1
    if piece:
        yield "".join(piece)


def is_worth_telling(record: logging.LogRecord) -> bool:
    """Return whether a record should be logged: work cancelled at the end of the program is no failure."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def set_up_logs(stream: TextIO = sys.stderr, *, requests: bool = False, form: LogForm = "auto") -> None:
    """Configure logging once, by the command that serves. Libraries log only warnings and errors.

    On a terminal, requests are logged only with `requests`: their lines would push the first link out of sight.
    `form` is that of the lines; `auto` means words on a terminal and JSON elsewhere.
    """
    lines: logging.Handler
    if stream.isatty():
        logging.getLogger(REQUESTS).setLevel(logging.INFO if requests else logging.WARNING)
        lines = logging.StreamHandler(stream)
    else:
        lines = BatchedLines(stream)
    if form == "json" or (form == "auto" and not stream.isatty()):
        lines.setFormatter(JsonLines())
    else:
        lines.setFormatter(TextLines(bare=form == "auto"))
    lines.addFilter(is_worth_telling)
    logging.getLogger().addHandler(lines)
    logging.getLogger("esign").setLevel(logging.INFO)
    logging.getLogger("python_multipart").setLevel(
        logging.ERROR
    )  # a truncated form is a problem of its sender
    # No line names the thread or the process, so no record of a request looks for them.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
