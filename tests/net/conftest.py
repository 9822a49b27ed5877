from pathlib import Path

import pytest

from tests.certificates import TlsPair, make_pair
from tests.steady import pytest_asyncio_loop_factories as pytest_asyncio_loop_factories  # a hook


@pytest.fixture
def pair(tmp_path: Path) -> TlsPair:
    return make_pair(tmp_path)
