"""An installation of its own for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.web.office.visitor import Office, an_office


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with an_office(tmp_path / "data") as office:
        yield office
