"""Read and write the files of the authority: each completely or not at all, readable by this user alone."""

from collections.abc import Callable
from pathlib import Path

from esign.authority.checks import AuthorityError
from esign.core.sentence import say
from esign.system.vault import write_once, write_over

NOT_PEM = "{file} is not a PEM certificate; restore it from a backup."
UNWRITTEN = "{file} cannot be written ({error}); let this user write to {folder}."


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises `AuthorityError`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise AuthorityError(
            say(
                "{file} cannot be read ({error}); put it there and let this user read it.",
                file=path,
                error=error.strerror,
            )
        ) from error


def write_file(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, readable by this user alone. An existing file is left as it is."""
    _write_with(path, content, write_once)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in the same way, replacing an existing one."""
    _write_with(path, content, write_over)


def remove_file(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise AuthorityError(
            say(
                "{file} cannot be removed ({error}); let this user write to {folder}.",
                file=path,
                error=error.strerror,
                folder=path.parent,
            )
        ) from error


def _write_with(path: Path, content: bytes, how: Callable[[Path, bytes], None]) -> None:
    try:
        how(path, content)
    except OSError as error:
        raise AuthorityError(say(UNWRITTEN, file=path, error=error.strerror, folder=path.parent)) from error
