from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from esign.config import Config
from esign.store.engine.connections import open_for_command
from tests.steady import pytest_asyncio_loop_factories as pytest_asyncio_loop_factories  # a hook
from tests.web.world import World


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A running server over a real database, with a table of endpoints made for these tests."""
    async with open_for_command(tmp_path_factory.mktemp("web") / "esign.db") as db:
        world = await World.prepare(db)
        async with world.serve():
            yield world


@pytest_asyncio.fixture(loop_scope="module")
async def world(served: World) -> AsyncIterator[World]:
    """The server with everything in memory made anew; tests that use it run in the loop of their module."""
    served.renew(Config())
    yield served
    await served.api.settle()
