"""Write files into folders that may be network shares: they can be slow, full, gone, or never answer.

A call into a dead share cannot be interrupted, and in asyncio's default executor it would delay other work and the end
of the program. So each write has a daemon thread of its own, and a folder that does not answer gets no second one.
"""

import asyncio
import errno
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PATIENCE = 30.0  # seconds
NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


WriteFile = Callable[[Path, str, bytes], str | None]
StartThread = Callable[[threading.Thread], None]


class OutsideFolders:
    """Writes files when called, each completely or not at all."""

    def __init__(
        self,
        patience: float = PATIENCE,
        write: WriteFile | None = None,
        start: StartThread = threading.Thread.start,
    ) -> None:
        self._patience = patience
        self._write = write or write_new_file
        self._start = start
        self._busy: dict[Path, asyncio.Future[str | None]] = {}

    async def write(self, folder: Path, name: str, content: bytes) -> str | None:
        """Write a file as `write_new_file` does, and return what it returns; a folder that is late is a failure."""
        late = f"{folder} does not answer"
        if folder in self._busy:
            return late
        try:
            async with asyncio.timeout(self._patience):
                return await asyncio.shield(self._begin(folder, name, content))
        except TimeoutError:
            return late

    def _begin(self, folder: Path, name: str, content: bytes) -> asyncio.Future[str | None]:
        loop = asyncio.get_running_loop()
        answer = self._busy[folder] = loop.create_future()

        def end(problem: str | None, error: Exception | None = None) -> None:
            del self._busy[folder]
            if answer.done():
                return
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(problem)

        def work() -> None:
            problem, failure = None, None
            try:
                problem = self._write(folder, name, content)
            except Exception as error:
                failure = error
            with suppress(RuntimeError):  # the program has ended meanwhile
                loop.call_soon_threadsafe(end, problem, failure)

        try:
            self._start(threading.Thread(target=work, name=f"write {name}", daemon=True))
        except RuntimeError as error:
            end(f"{folder} cannot be asked: {error}")
        return answer


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
