import asyncio
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import pytest

from esign.system import logs


@pytest.fixture
def said() -> Iterator[StringIO]:
    """What is written after the program has set up its log; taken back at the end."""
    root, own, stream = logging.getLogger(), logging.getLogger("esign"), StringIO()
    handlers, level = list(root.handlers), own.level
    chatty = logging.logThreads, logging.logProcesses, logging.logMultiprocessing
    logs.set_up_logs(stream)
    yield stream
    logging.logThreads, logging.logProcesses, logging.logMultiprocessing = chatty
    root.handlers[:] = handlers
    own.setLevel(level)


@contextmanager
def apart_from_pytest() -> Iterator[None]:
    """While the handlers of pytest, which fail for bad lines, hear nothing."""
    root = logging.getLogger()
    handlers = list(root.handlers)
    root.handlers[:] = [handler for handler in handlers if isinstance(handler, logs.BatchedLines)]
    yield
    root.handlers[:] = handlers


def lines(stream: StringIO) -> list[dict[str, Any]]:
    for handler in logging.getLogger().handlers:
        handler.flush()
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_each_line_is_an_object_with_its_time_level_and_words(said: StringIO) -> None:
    logging.getLogger("esign.jobs").info("worked %d", 3)
    [line] = lines(said)
    assert (line["level"], line["logger"], line["event"]) == ("info", "esign.jobs", "worked 3")
    assert line["at"].endswith("Z")


def test_the_access_log_writes_its_own_lines(said: StringIO) -> None:
    logging.getLogger("esign.access").info('{"status":200}')
    assert lines(said) == [{"status": 200}]


def test_what_the_end_of_the_program_cuts_off_is_no_failure(said: StringIO) -> None:
    try:
        raise asyncio.CancelledError
    except asyncio.CancelledError:
        logging.getLogger("esign.jobs").exception("the job raised an exception")
    assert lines(said) == []


def test_a_failure_in_a_library_is_told_in_the_same_form_and_its_chatter_is_not(said: StringIO) -> None:
    library = logging.getLogger("some.library")
    library.info("running a job")
    try:
        raise RuntimeError("a tick broke")
    except RuntimeError:
        library.exception("the job raised an exception")
    [line] = lines(said)
    assert (line["level"], line["event"]) == ("error", "the job raised an exception")
    assert "RuntimeError: a tick broke" in line["traceback"]


@pytest.mark.parametrize(
    ("words", "arguments", "told"),
    [
        ("gave up: %s", ("ValueError: \udcff",), "gave up: ValueError: \udcff"),
        ("%d things", ("no number",), "%d things (cannot be filled in"),
        ("%s and %s", ("one",), "%s and %s (cannot be filled in"),
        ("%(name)s", ({"other": 1},), "%(name)s (cannot be filled in"),
        ("100 % of %s", ("it",), "100 % of %s (cannot be filled in"),
    ],
    ids=["half a surrogate", "no number", "too few", "no name", "no format"],
)
@pytest.mark.parametrize("log", ["esign.pdf", "some.library"])
def test_words_that_cannot_be_written_as_they_are_harm_nobody(
    said: StringIO, log: str, words: str, arguments: tuple[object, ...], told: str
) -> None:
    with apart_from_pytest():
        logging.getLogger(log).error(words, *arguments)
    [line] = lines(said)
    assert line["event"].startswith(told)


def test_an_argument_that_has_no_words_harms_nobody(
    said: StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    class Mute:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    with apart_from_pytest():
        for log in ("esign.pdf", "esign.access"):
            logging.getLogger(log).error("%s", Mute())
    assert lines(said) == []
    assert capsys.readouterr().err.count("RuntimeError: no words") == 2


# ---------- batches ----------

WRITER = """
import logging, os, signal, sys
from esign.system import logs
logs.set_up_logs()
log = logging.getLogger("esign.access")
for number in range({count}):
    log.info('{{"number":%d}}', number)
{end}
"""


def run_writer(
    count: int, end: str = "", *, stderr: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """A process that logs `count` lines as fast as it can and then does `end`."""
    code = WRITER.format(count=count, end=end)
    return subprocess.run([sys.executable, "-c", code], stderr=stderr, text=True, check=False, timeout=60)


def numbers(text: str) -> list[int]:
    """Those in order; the interpreter may write a traceback between two lines, without a line feed of its own."""
    return [json.loads(line)["number"] for line in re.findall(r'\{"number":[^}]*\}', text)]


def record(text: str, level: int = logging.INFO) -> logging.LogRecord:
    return logging.LogRecord("esign.access", level, "", 0, text, None, None)


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise RuntimeError"])
def test_no_line_is_lost_at_a_normal_end_and_their_order_stays(end: str) -> None:
    assert numbers(run_writer(20_000, end).stderr) == list(range(20_000))


def test_a_killed_process_has_written_every_other_line_and_what_came_before_it() -> None:
    killed = run_writer(5000, "logging.getLogger('esign').info('last')\nos.kill(os.getpid(), signal.SIGKILL)")
    assert killed.returncode == -signal.SIGKILL
    *before, last = killed.stderr.splitlines()
    assert numbers("\n".join(before)) == list(range(5000))
    assert json.loads(last)["event"] == "last"


def test_a_line_is_written_though_no_other_follows() -> None:
    readable, writable = os.pipe()
    with os.fdopen(readable) as reader, os.fdopen(writable, "w") as stream:
        logs.BatchedLines(stream).handle(record("alone"))
        assert reader.readline() == "alone\n"


def test_a_reader_that_stands_still_holds_up_nobody_until_the_room_is_full() -> None:
    """And then every line still arrives, in order."""
    readable, writable = os.pipe()
    stream = os.fdopen(writable, "w")
    handler = logs.BatchedLines(stream, room=500_000)
    for number in range(4_000):  # more than a pipe takes
        handler.handle(record(f"{number:0100}"))
    more = threading.Thread(
        target=lambda: [handler.handle(record(f"{n:0100}")) for n in range(4_000, 20_000)]
    )
    more.start()
    more.join(0.5)
    assert more.is_alive()  # it waits for the reader, so the memory is bounded
    assert handler._size <= 500_000 + 101
    with os.fdopen(readable) as reader:
        found = [int(reader.readline()) for _ in range(20_000)]
        more.join()
    assert found == list(range(20_000))
    stream.close()


def test_lines_of_several_threads_are_whole_and_none_is_lost() -> None:
    stream = StringIO()
    handler = logs.BatchedLines(stream, room=3_000)

    def log_all(name: int) -> None:
        for number in range(2_000):
            handler.handle(record(f"{name} {number}"))

    threads = [threading.Thread(target=log_all, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    handler.flush()
    found = [tuple(map(int, line.split())) for line in stream.getvalue().splitlines()]
    for name in range(4):
        assert [number for which, number in found if which == name] == list(range(2_000))


@pytest.mark.parametrize("broken", ["closed", "nobody reads"])
def test_a_broken_stream_stops_nobody(broken: str) -> None:
    readable, writable = os.pipe()
    os.close(readable)
    stream = os.fdopen(writable, "w")
    if broken == "closed":
        stream.close()
    handler = logs.BatchedLines(stream, room=1_000)
    for number in range(1_000):
        handler.handle(record(f"line {number}", logging.WARNING if number % 100 == 0 else logging.INFO))
    handler.flush()


class ChattyStream(StringIO):
    """A stream in which a finaliser runs that logs, while a line is written."""

    def __init__(self) -> None:
        super().__init__()
        self.told = 0

    def write(self, text: str) -> int:
        if self.told < 3:
            self.told += 1
            logging.getLogger("esign").warning("a finaliser %d", self.told)
        return super().write(text)


def test_a_finaliser_may_log_while_a_line_is_written() -> None:
    stream = ChattyStream()
    handler = logs.BatchedLines(stream)
    logging.getLogger("esign").addHandler(handler)
    try:
        other = logging.LogRecord("esign", logging.WARNING, "", 0, "at once", None, None)
        # A thread that can be left behind, should it wait for itself.
        thread = threading.Thread(target=lambda: handler.handle(other), daemon=True)
        thread.start()
        thread.join(10)
        assert not thread.is_alive()
    finally:
        logging.getLogger("esign").removeHandler(handler)
    assert sorted(stream.getvalue().splitlines()) == [
        "a finaliser 1",
        "a finaliser 2",
        "a finaliser 3",
        "at once",
    ]


FINALISED = """
import gc, logging, sys, threading
from esign.system import logs
logs.set_up_logs()
own = logging.getLogger("esign")

class Ended:
    def __init__(self):
        self.me = self
    def __del__(self):
        own.warning("ended")

gc.freeze()
gc.set_threshold(3)
def work():
    for number in range({count}):
        Ended()
        logging.getLogger("esign.access").info('{{"number":%d}}', number)
        own.warning("at once")
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
gc.collect()
"""


def test_finalisers_may_log_wherever_garbage_is_collected() -> None:
    code = FINALISED.format(count=3_000)
    ran = subprocess.run(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, check=True, timeout=60
    )
    events = [json.loads(line).get("event", "request") for line in ran.stderr.splitlines()]
    assert {event: events.count(event) for event in set(events)} == dict.fromkeys(
        ("ended", "at once", "request"), 6_000
    )


def test_a_write_to_a_pipe_ends_with_a_line_and_is_atomic() -> None:
    lines = [str(number) * (number % 90) for number in range(5_000)]
    pieces = list(logs.join_lines(lines))
    assert "".join(pieces) == "".join(f"{line}\n" for line in lines)
    assert all(piece.endswith("\n") and len(piece) <= logs.PIECE for piece in pieces)
    assert list(logs.join_lines(["x" * 9_000, "y"])) == ["x" * 9_000 + "\n", "y\n"]
    assert list(logs.join_lines([])) == []


REQUEST = (
    '{"at":"2026-11-23T10:00:00.000Z","event":"request","requestId":"req_1","method":"GET","path":"/s/***",'
    '"status":200,"ms":1.5,"ip":"203.0.113.7","keyId":null}'
)


class Terminal(StringIO):
    """A stream that says that a person reads it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "form", "expected"),
    [
        (StringIO, "auto", r'\{"at":"[^"]+Z","level":"warning","logger":"esign.mail","event":"gone"\}'),
        (Terminal, "json", r'\{"at":"[^"]+Z","level":"warning","logger":"esign.mail","event":"gone"\}'),
        (Terminal, "auto", "gone"),
        (StringIO, "text", r"20\d\d-\S+Z WARNING esign\.mail: gone"),
        (Terminal, "text", r"20\d\d-\S+Z WARNING esign\.mail: gone"),
    ],
)
def test_lines_have_the_form_that_is_set(stream: type[StringIO], form: logs.LogForm, expected: str) -> None:
    out = stream()
    with set_up_anew(out, form):
        logging.getLogger("esign.mail").warning("gone")
        logging.getLogger("esign.access").info(REQUEST)
    first, second = out.getvalue().splitlines()
    assert re.fullmatch(expected, first), first
    if "{" in expected:
        assert second == REQUEST
    else:
        assert second.endswith("GET /s/*** 200 1.5 ms req_1 203.0.113.7"), "the id of the request is in it"


def test_an_error_in_text_has_its_traceback() -> None:
    out = StringIO()
    with set_up_anew(out, "text"):
        try:
            raise ValueError("of nobody")
        except ValueError:
            logging.getLogger("esign").exception("request %s failed", "req_2")
    assert "request req_2 failed\nTraceback (most recent call last):" in out.getvalue()
    assert out.getvalue().endswith("ValueError: of nobody\n")


@contextmanager
def set_up_anew(stream: StringIO, form: logs.LogForm) -> Iterator[None]:
    """The log of the program on this stream alone; taken back at the end."""
    root, own = logging.getLogger(), logging.getLogger("esign")
    handlers, level = list(root.handlers), own.level
    chatty = logging.logThreads, logging.logProcesses, logging.logMultiprocessing
    root.handlers[:] = []
    logs.set_up_logs(stream, requests=True, form=form)
    yield
    for handler in root.handlers:
        handler.flush()
    logging.logThreads, logging.logProcesses, logging.logMultiprocessing = chatty
    root.handlers[:] = handlers
    own.setLevel(level)
    logging.getLogger(logs.REQUESTS).setLevel(logging.NOTSET)
