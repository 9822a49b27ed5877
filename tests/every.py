"""Which combinations a test tries: a choice in each run, all of them with the variable TESTS_EVERY.

`packaging/test every` sets it, and runs the files that choose here.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
EVERY = bool(os.environ.get("TESTS_EVERY"))


def choose(usual: Sequence[T], more: Sequence[T]) -> list[T]:
    """Return what a run tries: `usual`, and `more` with TESTS_EVERY."""
    return [*usual, *more] if EVERY else [*usual]
