"""One installation for all tests of a file, in which each takes a document of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.model.world import ModelStage, ModelWorld


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ModelWorld]:
    stage = ModelStage(Path(tmp_path_factory.mktemp("world")))
    await stage.open()
    world = ModelWorld(stage)
    await world.open()
    yield world
    await world.close()
    await stage.close()
