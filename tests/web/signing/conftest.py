from collections.abc import AsyncIterator

import pytest

from tests.web.signing.site import close_sites


@pytest.fixture(autouse=True)
async def sites() -> AsyncIterator[None]:
    """Each test has sites of its own."""
    yield
    await close_sites()
