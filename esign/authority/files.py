"""Reads and writes the few files of the authority: each whole or not at all, for this user alone."""

import contextlib
import os
from pathlib import Path

from esign.authority.checks import AuthorityError


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AuthorityError(
            f"{path} cannot be read ({error.strerror}); put it there and let this user read it."
        ) from error


def write(path: Path, content: bytes) -> None:
    """Whole or not at all, readable by this user alone; who comes second leaves what is there."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except OSError as error:
        raise AuthorityError(
            f"{path} cannot be written ({error.strerror}); let this user write to {path.parent}."
        ) from error
