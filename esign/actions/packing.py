"""The files of several documents as one ZIP, made while it is sent: one file is in memory at a time."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from esign.actions import documents, files
from esign.actions.documents import Owner
from esign.actions.files import FileOf
from esign.core.document import Actor, Origin, Status
from esign.core.errors import Problem
from esign.core.filename import distinct, portable
from esign.core.instant import to_datetime
from esign.runtime import Runtime
from esign.store import blobs

MOST_BYTES = 2**30
NOTE = "Not included.txt"


async def describe(runtime: Runtime, owner: Owner, ids: Sequence[str]) -> list[FileOf]:
    """Of each document the sealed file, or the uploaded one while there is no seal; what is gone is left out."""
    found = []
    for id in ids:
        try:
            document = await documents.get(runtime, owner, id)
            variant = "sealed" if document.status is Status.COMPLETED else "original"
            found.append(await files.describe(runtime, owner, id, variant))
        except Problem as problem:
            if problem.code != "not_found":
                raise
    return found


async def pack(
    runtime: Runtime, wanted: Sequence[FileOf], zone: str, actor: Actor, origin: Origin
) -> AsyncIterator[bytes]:
    """The ZIP piece by piece. PDFs are packed already, so they are only stored.

    What was deleted or damaged meanwhile is named in a text at the end: the rest has left by then.
    """
    pipe, missing = Pipe(), []
    archive = zipfile.ZipFile(pipe, "w", zipfile.ZIP_STORED)
    names = distinct([NOTE, *(portable(file.name) for file in wanted)])[1:]
    for file, name in zip(wanted, names, strict=True):
        try:
            content = await files.read(runtime, file, actor, origin)
        except (Problem, blobs.Missing):
            missing.append(f"{name}: {file.document.title}\r\n")
            continue
        at = to_datetime(file.document.updated_at).astimezone(ZoneInfo(zone))
        await asyncio.to_thread(archive.writestr, entry(name, at), content)
        yield pipe.drain()
    if missing:
        text = "These files were deleted or damaged while the archive was made:\r\n\r\n" + "".join(missing)
        archive.writestr(entry(NOTE, to_datetime(runtime.clock.now())), text.encode())
    archive.close()
    yield pipe.drain()


def entry(name: str, at: datetime) -> zipfile.ZipInfo:
    """A plain file that its owner may read and write."""
    made = zipfile.ZipInfo(name, at.timetuple()[:6])
    made.external_attr = 0o644 << 16
    return made


class Pipe(io.BytesIO):
    """Holds what was not handed on yet: an archive goes back to the head of a file, never further."""

    def __init__(self) -> None:
        super().__init__()
        self._gone = 0

    def tell(self) -> int:
        return self._gone + super().tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._gone + super().seek(offset - self._gone if whence == io.SEEK_SET else offset, whence)

    def drain(self) -> bytes:
        content = self.getvalue()
        self._gone += len(content)
        super().seek(0)
        self.truncate()
        return content
