"""A PDF that somebody brings: inspected and normalised once, whatever is made from it."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from esign.core.document import File
from esign.core.instant import Instant
from esign.pdf.inspection import Limits
from esign.runtime import Runtime
from esign.store import blobs
from esign.store.database import Transaction


@dataclass(frozen=True, slots=True)
class Upload:
    """What is known of the file, and its content: as uploaded, normalised, and a picture of each page."""

    file: File
    contents: tuple[bytes, ...]


async def inspect(runtime: Runtime, name: str, content: bytes) -> Upload:
    """The file found fit for sealing; raises the file codes of contract 6."""
    limits = runtime.config.limits
    inspection = await runtime.pdf.inspect(content, Limits(limits.file_mib * 2**20, limits.pages))
    contents = (content, inspection.prepared, *inspection.images)
    uploaded, prepared, *images = await asyncio.to_thread(sha256_of, contents)
    file = File(
        name=name,
        uploaded=uploaded,
        prepared=prepared,
        pages=inspection.pages,
        images=tuple(images),
        repaired=inspection.repaired,
        removed=inspection.removed,
    )
    return Upload(file, contents)


def sha256_of(contents: Sequence[bytes]) -> list[str]:
    return [hashlib.sha256(content).hexdigest() for content in contents]


async def add(tx: Transaction, upload: Upload, now: Instant) -> None:
    """Store its content, in the transaction of what refers to it."""
    hashes = (upload.file.uploaded, upload.file.prepared, *upload.file.images)
    for content, sha256 in zip(upload.contents, hashes, strict=True):
        await blobs.add(tx, content, now, sha256)
