"""How many files a process may open: raised as far as allowed, and said where it is too few."""

import resource
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
from esign.system.descriptors import TooFewDescriptors, raise_limit
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
try:
    print(raise_limit())
except TooFewDescriptors as error:
    print("refused:", error)
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def run_limited(soft: int, hard: int) -> list[str]:
    """What is said, and the soft limit afterwards."""
    arguments = (sys.executable, "-c", PROGRAM, str(soft), str(hard))
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize(
    ("soft", "hard", "said", "after"),
    [
        (200, 2000, "None", 1500),
        (2000, 2000, "None", 2000),
        (300, 600, "this process may open 600 files at once, and 1500 are needed", 600),
        (100, 100, "refused: this process may open 100 files at once", 100),
    ],
)
def test_the_limit_is_raised_as_far_as_allowed_and_too_few_are_told(
    soft: int, hard: int, said: str, after: int
) -> None:
    assert hard <= resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    told, limit = run_limited(soft, hard)
    assert told.startswith(said)
    assert int(limit) == after
