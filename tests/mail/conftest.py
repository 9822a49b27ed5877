from pathlib import Path

import pytest

from tests.certificates import Pair, make_pair


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return make_pair(tmp_path)
