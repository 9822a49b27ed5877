"""Checks of a copy for tests of backups."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from esign.backup.make_backup import Check


def check_later(check: Callable[[Path], list[str]]) -> Check:
    """Return a check that is made when its findings are asked for."""

    @contextmanager
    def begin(folder: Path) -> Iterator[Callable[[], list[str]]]:
        yield lambda: check(folder)

    return begin
