"""One running installation for each module of these tests."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.api.site import Site, a_config, running


@pytest.fixture(scope="module")
def limits() -> dict[str, int]:
    """Limits of the settings that a module wants to run into."""
    return {}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory, limits: dict[str, int]) -> AsyncIterator[Site]:
    """The whole program on a free port; tests that use it run in the loop of their module."""
    async with running(a_config(tmp_path_factory.mktemp("site"), **limits)) as site:
        yield site
