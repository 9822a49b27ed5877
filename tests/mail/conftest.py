from pathlib import Path

import pytest

from tests.certificates import TlsPair, make_pair


@pytest.fixture
def pair(tmp_path: Path) -> TlsPair:
    return make_pair(tmp_path)
