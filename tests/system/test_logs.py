import asyncio
import json
import logging
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest

from esign.system import logs


@pytest.fixture
def said() -> Iterator[StringIO]:
    """What is written after the program has set up its log; taken back at the end."""
    root, own, stream = logging.getLogger(), logging.getLogger("esign"), StringIO()
    handlers, level = list(root.handlers), own.level
    logs.set_up_logs(stream)
    yield stream
    root.handlers[:] = handlers
    own.setLevel(level)


def lines(stream: StringIO) -> list[dict[str, Any]]:
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
