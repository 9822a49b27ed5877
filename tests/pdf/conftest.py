"""Fixtures of the PDF tests."""

from collections.abc import AsyncIterator

import pytest

from esign.pdf.inspection import UploadLimits
from esign.pdf.worker.workers import Workers


@pytest.fixture(scope="session")
def limits() -> UploadLimits:
    return UploadLimits(file_bytes=25 * 1024 * 1024, pages=500)


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    running = Workers()
    yield running
    await running.close()
