"""A PDF on its way in: inspected and normalised before the transaction, stored within it."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from esign.core.document import File
from esign.core.instant import Instant
from esign.pdf.inspection import Limits
from esign.runtime import Runtime
from esign.store import blobs
from esign.store.database import Transaction

Source = Callable[[], Awaitable[bytes]]
"""Reads an upload once everything that is refused before its content is has been asked (contract 3.1)."""


@dataclass(frozen=True, slots=True)
class Upload:
    """The file as the document keeps it, and the contents it refers to with their hashes."""

    file: File
    contents: tuple[bytes, ...]
    hashes: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of all that is stored of it."""
        return sum(map(len, dict(zip(self.hashes, self.contents, strict=True)).values()))

    async def store(self, tx: Transaction, now: Instant) -> None:
        for content, sha256 in zip(self.contents, self.hashes, strict=True):
            await blobs.add(tx, content, now, sha256)


async def inspect(runtime: Runtime, name: str, source: Source) -> Upload:
    """Raises the file codes of contract 6."""
    limits, content = runtime.config.limits, await source()
    inspection = await runtime.pdf.inspect(content, Limits(limits.file_mib * 2**20, limits.pages))
    contents = (content, inspection.prepared, *inspection.images)
    hashes = await asyncio.to_thread(sha256_of, contents)
    file = File(
        name=name,
        uploaded=hashes[0],
        prepared=hashes[1],
        pages=inspection.pages,
        images=tuple(hashes[2:]),
        repaired=inspection.repaired,
        removed=inspection.removed,
    )
    return Upload(file, contents, tuple(hashes))


def sha256_of(contents: Sequence[bytes]) -> list[str]:
    return [hashlib.sha256(content).hexdigest() for content in contents]
