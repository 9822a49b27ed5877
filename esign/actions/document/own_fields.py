"""Makes the file of a draft or template fit the fields that it asks for itself: with or without its marks."""

from dataclasses import replace

from esign.actions.document import upload
from esign.actions.document.detect_fields import find_file_blanks, parse_blanks
from esign.actions.document.upload import Upload
from esign.core.document.document import File
from esign.pdf.inspection import DetectedFields, UploadLimits
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import hash_content
from esign.runtime import Runtime
from esign.store.document import blobs

PLACED, UNDONE = "placed", "undone"


async def take_off_marks(runtime: Runtime, organisation_id: str, file: File, people: int) -> Upload:
    """Return the file as its pages look once its own fields are placed for so many people.

    Marks that become fields are taken off, and dropdowns are empty. Raises what the queue of the workers refuses with.
    """
    uploaded, limits = await blobs.get(runtime.db, file.uploaded), runtime.config.limits
    before = await blobs.get(runtime.db, file.prepared)
    most = UploadLimits(limits.file_mib * 2**20, limits.pages)

    async def read_arguments() -> tuple[object, ...]:
        return uploaded, before, most, people

    prepared = await runtime.pdf.run_task_when_free(
        "blank",
        bytes,
        read_arguments,
        turn=QueueTurn(PdfJobKind.UPLOAD, organisation_id),
        name=f"blank {file.prepared} {people}",
    )
    sha256 = await hash_content(prepared)
    placed = replace(file, prepared=sha256, own_fields=PLACED)
    runtime.draw_ahead(organisation_id, placed)
    return Upload(placed, (uploaded, prepared), (file.uploaded, sha256))


async def put_back_marks(runtime: Runtime, organisation_id: str, file: File) -> Upload:
    """Return the file as it was before its own fields were placed. Raises what `upload.inspect` raises."""

    async def read_uploaded() -> bytes:
        return await blobs.get(runtime.db, file.uploaded)

    again = await upload.inspect(runtime, organisation_id, file.name, read_uploaded)
    return replace(again, file=replace(file, prepared=again.file.prepared, own_fields=UNDONE))


async def find_own_fields(runtime: Runtime, organisation_id: str, file: File) -> DetectedFields:
    """Return the fields that a file asks for."""
    return parse_blanks(await find_file_blanks(runtime, file, organisation_id))
