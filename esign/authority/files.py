"""Reads and writes the few files of the authority: each whole or not at all, for this user alone."""

from pathlib import Path

from esign.authority.checks import AuthorityError
from esign.vault import write_once


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AuthorityError(
            f"{path} cannot be read ({error.strerror}); put it there and let this user read it."
        ) from error


def write(path: Path, content: bytes) -> None:
    """Whole or not at all, readable by this user alone; who comes second leaves what is there."""
    try:
        write_once(path, content)
    except OSError as error:
        raise AuthorityError(
            f"{path} cannot be written ({error.strerror}); let this user write to {path.parent}."
        ) from error
