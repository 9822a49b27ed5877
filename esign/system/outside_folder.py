"""Write files into folders that may be network shares: they can be slow, full, gone, or never answer.

Each folder has a thread of its own, and one that does not answer is not asked a second time meanwhile.
"""

import asyncio
import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from esign.system.single_thread import PATIENCE, SingleThread

NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


WriteFile = Callable[[Path, str, bytes], str | None]


class OutsideFolders:
    """Writes files when called, each completely or not at all."""

    def __init__(self, patience: float = PATIENCE, write: WriteFile | None = None) -> None:
        self._patience = patience
        self._write = write or write_new_file
        self._threads: dict[Path, SingleThread] = {}

    async def write(self, folder: Path, name: str, content: bytes) -> str | None:
        """Write a file as `write_new_file` does, and return what it returns; a folder that is late is a failure."""
        thread = self._threads.setdefault(folder, SingleThread(f"write to {folder}"))
        late = f"{folder} does not answer"
        if thread.is_busy:
            return late
        try:
            async with asyncio.timeout(self._patience):
                return await thread.run(self._write, folder, name, content)
        except TimeoutError:
            return late
        except RuntimeError as error:
            return f"{folder} cannot be asked: {error}"


def write_new_file(folder: Path, name: str, content: bytes) -> str | None:
    """Write a file unless it is there with the same bytes. Return why that failed, or None.

    No file is replaced, no link is followed, and what could not be written whole is taken away again.
    """
    path, part = folder / name, folder / f".{name}.{os.getpid()}.part"
    try:
        if not os.path.lexists(path):
            try:
                _write_part(part, content)
                _put_in_place(part, path)
            finally:
                part.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            same = file.read(len(content) + 1) == content
    except OSError as error:
        return f"{path} cannot be written: {error.strerror}"
    return None if same else f"{path} is there with another content, and was left as it is"


def _write_part(part: Path, content: bytes) -> None:
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _put_in_place(part: Path, path: Path) -> None:
    """Give the file its name, which nothing has yet, and wait until it lasts where the folder can do that."""
    try:
        os.link(part, path)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        part.rename(path)  # shares of Windows know no links; two writers of one name write the same bytes
    with suppress(OSError):  # such shares cannot sync a folder either
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
