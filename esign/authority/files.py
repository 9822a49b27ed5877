"""Reads and writes the few files of the authority: each whole or not at all, for this user alone."""

from collections.abc import Callable
from pathlib import Path

from esign.authority.checks import AuthorityError
from esign.system.vault import write_once, write_over


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AuthorityError(
            f"{path} cannot be read ({error.strerror}); put it there and let this user read it."
        ) from error


def write(path: Path, content: bytes) -> None:
    """Whole or not at all, readable by this user alone; who comes second leaves what is there."""
    _written(path, content, write_once)


def replace(path: Path, content: bytes) -> None:
    """The same, in the place of what was there."""
    _written(path, content, write_over)


def remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise AuthorityError(
            f"{path} cannot be removed ({error.strerror}); let this user write to {path.parent}."
        ) from error


def _written(path: Path, content: bytes, how: Callable[[Path, bytes], None]) -> None:
    try:
        how(path, content)
    except OSError as error:
        raise AuthorityError(
            f"{path} cannot be written ({error.strerror}); let this user write to {path.parent}."
        ) from error
