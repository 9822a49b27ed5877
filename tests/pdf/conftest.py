"""Fixtures of the PDF tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from esign.pdf.inspection import Limits
from esign.pdf.workers import Workers

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files; where it is absent, the test is skipped."""
    if not CORPUS.is_dir():
        pytest.skip(f"{CORPUS} is absent")
    return CORPUS


@pytest.fixture(scope="session")
def limits() -> Limits:
    return Limits(file_bytes=25 * 1024 * 1024, pages=500)


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    running = Workers()
    yield running
    await running.close()
