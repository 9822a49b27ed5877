from pathlib import Path

import pytest

from tests.certificates import Pair, make_pair
from tests.steady import pytest_asyncio_loop_factories as pytest_asyncio_loop_factories  # a hook


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return make_pair(tmp_path)
