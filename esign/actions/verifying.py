"""Checking the signatures of any PDF for an organisation: nothing of it is kept."""

from esign.actions.documents import Owner
from esign.core.errors import Problem
from esign.pdf.verification import Verification
from esign.runtime import Runtime
from esign.store import documents


async def verify(runtime: Runtime, owner: Owner, file: bytes) -> Verification:
    """The verdict by this installation's own roots; no more files at once than there are PDF workers.

    `documentId` only where the very file is the sealed one, or the certificate, of a document of the owner.
    Raises `file_too_large`, `too_many_pages`, `invalid_file`, `file_encrypted`.
    """
    limits = runtime.config.limits
    if len(file) > limits.file_mib * 2**20:
        raise Problem("file_too_large", f"The file is larger than {limits.file_mib} MiB.")
    found = await runtime.pdf.verify(file, (), runtime.clock.now(), runtime.roots)
    if found["pageCount"] > limits.pages:
        raise Problem("too_many_pages", f"The file has more than {limits.pages} pages.")
    if found["issuedHere"]:
        found["documentId"] = await documents.find_sealed(
            runtime.db, owner.organisation_id, owner.mode, found["sha256"]
        )
    return found
