"""An installation of its own for each test, and a look at every sentence that its pages show."""

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from esign.web.office.frame import words
from tests.web.office.visitor import Office, an_office


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with an_office(tmp_path / "data") as office:
        yield office


class UnknownSentences(logging.Handler):
    """Collects the sentences that pages were to say and no catalogue has."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg == words.UNKNOWN:
            self.found.append(record.getMessage())


@pytest.fixture(autouse=True)
def unknown_sentences() -> Iterator[UnknownSentences]:
    """Fail a test whose pages showed a sentence that no catalogue has."""
    collected = UnknownSentences()
    words.log.addHandler(collected)
    yield collected
    words.log.removeHandler(collected)
    assert collected.found == []
