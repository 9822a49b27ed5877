"""Streams the files of several documents as one ZIP. At most a MiB of them is in memory at a time.

Each file is read twice. The first pass computes the checksum, which stands before the file, so that a program
that unpacks the stream knows it.
"""

import asyncio
import hashlib
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.actions.document import documents, files
from esign.actions.document.files import DocumentFile
from esign.core.actor import Author, Owner
from esign.core.document.document import Status
from esign.core.document.filename import make_distinct, make_portable
from esign.core.document.zip_archive import ZipEntry, write_directory
from esign.core.errors import Problem
from esign.core.instant import to_datetime
from esign.runtime import Runtime
from esign.store.document import blobs
from esign.store.engine.database import Reader, Transaction

MOST_BYTES = 2**30


@dataclass(frozen=True, slots=True)
class ZipNote:
    """The text file about what is missing: its name, and the sentence above the names of the files."""

    name: str = "Not included.txt"
    sentence: str = "These files were deleted or damaged while the archive was made:"


NOTE = ZipNote()


async def list_files(runtime: Runtime, owner: Owner, ids: Sequence[str]) -> list[DocumentFile]:
    """Return the sealed file of each document, or the uploaded one while there is no seal.

    Missing documents are left out.
    """
    found = []
    for id in ids:
        try:
            document = await documents.get(runtime, owner, id)
            variant: files.FileVariant = "sealed" if document.status is Status.COMPLETED else "original"
            found.append(await files.describe_variant(runtime, document, variant))
        except Problem as problem:
            if problem.code != "not_found":
                raise
    return found


async def log_export(runtime: Runtime, caller: Caller, wanted: Sequence[DocumentFile]) -> None:
    """Enter in the administrative audit log that these files are about to leave as one ZIP."""
    ids = [file.document.id for file in wanted]
    owner, now = caller.owner, runtime.clock.now()
    act = AdminAct("documents.exported", now, {"documents": ids, "mode": owner.mode.value})

    async def write(tx: Transaction) -> None:
        await audit_log.log_act(tx, runtime.vault, caller, act)

    await runtime.db.write(write)


async def pack(
    runtime: Runtime, author: Author, wanted: Sequence[DocumentFile], zone: str, note: ZipNote = NOTE
) -> AsyncIterator[bytes]:
    """Yield the ZIP piece by piece. PDFs are compressed already, so they are stored without compression.

    Files that were deleted or damaged meanwhile are named in a text file at the end, `note`, since the rest has
    been sent by then.
    """
    entries, missing, sent = list[ZipEntry](), list[str](), 0
    names = make_distinct([note.name, *(make_portable(file.name) for file in wanted)])[1:]
    for file, name in zip(wanted, names, strict=True):
        try:
            size, crc = await measure_content(runtime.db, file.sha256)
            await files.note_download(runtime, file, author)
        except (Problem, blobs.MissingBlob):
            missing.append(f"{name}: {file.document.title}\r\n")
            continue
        at = to_datetime(file.document.updated_at).astimezone(ZoneInfo(zone))
        entries.append(entry := ZipEntry(name, at, size, crc, sent))
        yield entry.head()
        sent += len(entry.head()) + size
        async for piece in blobs.read_pieces(runtime.db, file.sha256):
            yield piece
    if missing:
        text = f"{note.sentence}\r\n\r\n{''.join(missing)}".encode()
        entries.append(
            ZipEntry(note.name, to_datetime(runtime.clock.now()), len(text), zlib.crc32(text), sent)
        )
        yield entries[-1].head() + text
        sent += len(entries[-1].head()) + len(text)
    yield write_directory(entries, sent)


async def measure_content(reader: Reader, sha256: str) -> tuple[int, int]:
    """Return size and CRC-32 of a content after checking its hash. Raises `MissingBlob`."""
    size, crc, found = 0, 0, hashlib.sha256()
    async for piece in blobs.read_pieces(reader, sha256):
        size, crc = size + len(piece), await asyncio.to_thread(zlib.crc32, piece, crc)
        await asyncio.to_thread(found.update, piece)
    if found.hexdigest() != sha256:
        reader.damage.note("blob", sha256, blobs.MISSING)
        raise blobs.MissingBlob(f"stored content {sha256} is missing or was changed")
    return size, crc
