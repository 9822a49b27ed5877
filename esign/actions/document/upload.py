"""Takes in a PDF: inspects and normalises it before the transaction, and stores it within the transaction."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from esign.actions.base.disk_room import require_room
from esign.core.document.document import FOREIGN, File
from esign.core.instant import Instant
from esign.core.polyglot import is_pure
from esign.pdf.inspection import UploadLimits
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import hash_content
from esign.runtime import Runtime
from esign.store.document import blobs
from esign.store.engine.database import Transaction

Source = Callable[[], Awaitable[bytes]]
"""Reads an upload. It is called only after every check that does not need the content (contract 3.1)."""


@dataclass(frozen=True, slots=True)
class Upload:
    """The file as the document refers to it, and the contents that it refers to with their hashes."""

    file: File
    contents: tuple[bytes, ...]
    hashes: tuple[str, ...]

    @property
    def size(self) -> int:
        """Return the number of bytes that are stored. Equal contents count once."""
        return sum(map(len, dict(zip(self.hashes, self.contents, strict=True)).values()))

    async def store(self, tx: Transaction, now: Instant) -> None:
        """Store the contents."""
        for content, sha256 in zip(self.contents, self.hashes, strict=True):
            await blobs.add(tx, content, now, sha256)


async def inspect(runtime: Runtime, organisation_id: str, name: str, source: Source) -> Upload:
    """Return a file that a worker has inspected and normalised.

    Raises the file codes of contract 6, what the queue of the workers refuses with, and `unavailable` if the
    disk has no room for another file.
    """
    require_room(runtime)
    limits, content = runtime.config.limits, await source()
    turn = QueueTurn(PdfJobKind.UPLOAD, organisation_id)
    uploaded = await hash_content(content)
    inspection = await runtime.pdf.inspect(
        content, UploadLimits(limits.file_mib * 2**20, limits.pages), turn=turn, sha256=uploaded
    )
    prepared, removed = await hash_content(inspection.prepared), inspection.removed
    if not is_pure(content):
        # A file that is also a web page or an archive is not stored: recipients get the file that they were shown.
        content, uploaded, removed = inspection.prepared, prepared, (*removed, FOREIGN)
    file = File(
        name=name,
        uploaded=uploaded,
        prepared=prepared,
        pages=inspection.pages,
        repaired=inspection.repaired,
        removed=removed,
    )
    runtime.draw_ahead(organisation_id, file)
    return Upload(file, (content, inspection.prepared), (uploaded, prepared))
