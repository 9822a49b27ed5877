"""Recomputes audit trails, and compares them with the sealed files.

The hash chain alone shows a change inside it. A trail that was cut off or rewritten is found in two other ways.
The MAC of its last entry needs the application key. The head inside the sealed file cannot be changed even with
that key.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from esign.core.document.audit import Chain
from esign.core.document.document import Document
from esign.core.errors import Problem
from esign.pdf.report import Verification
from esign.pdf.worker.workers import WorkerFailed
from esign.store.document import blobs, documents, trails
from esign.store.engine.database import Database, Transaction
from esign.store.server import installation
from esign.system.vault import Vault

Verifier = Callable[[bytes], Awaitable[Verification]]

BATCH = 200

CUT = "it does not end with the entry that was written last"


async def complete_heads(db: Database, vault: Vault) -> int:
    """Write the MAC of trails from an older version that have none. Return the number of trails completed.

    Each MAC is marked as late, since a trail that lost its end before this moment looks like a whole one. A
    broken trail gets none and stays broken. Does nothing unless the migration of the database found such
    trails.
    """
    if await installation.find(db, installation.HEADS) is None:
        return 0
    place, count = "", 0
    while found := await trails.find_headless(db, place, BATCH):
        ends = [end for document_id in found if (end := await find_end(db, document_id)) is not None]

        async def write(tx: Transaction, ends: Sequence[Chain] = tuple(ends)) -> None:
            for chain in ends:
                end = trails.TrailEnd(chain.document_id, chain.entries, chain.head, late=True)
                await trails.save_head(tx, end, vault)

        await db.write(write)
        place, count = found[-1], count + len(ends)
    await db.write(lambda tx: installation.delete(tx, installation.HEADS))
    return count


async def find_end(db: Database, document_id: str) -> Chain | None:
    """Return the chain of a document's whole trail, or None if it is broken."""
    chain = Chain(document_id)
    async for line in trails.walk(db, document_id):
        chain.follow(line.seq, line.entry)
    chain.end()
    return None if chain.broken else chain


async def recompute(db: Database, vault: Vault, document_id: str | None = None) -> AsyncIterator[Chain]:
    """Yield the chain of every trail, or of one document's, with the first fault that was found in it."""
    chain: Chain | None = None
    last: trails.TrailRow | None = None
    async for line in trails.walk(db, document_id):
        if chain is None or chain.document_id != line.document_id:
            if chain and last:
                yield end_chain(chain, last, vault)
            chain = Chain(line.document_id)
        chain.follow(line.seq, line.entry)
        last = line
    if chain and last:
        yield end_chain(chain, last, vault)


def end_chain(chain: Chain, last: trails.TrailRow, vault: Vault) -> Chain:
    """Complete the chain, and check its last entry against the MAC."""
    chain.end()
    chain.late = last.late
    if not chain.broken and not last.is_last(chain.head, vault):
        chain.broken = CUT
    return chain


async def compare_own_file(
    db: Database, document_id: str, verify: Verifier, *, late: bool = False
) -> tuple[bool, str | None]:
    """Compare the trail with the sealed file of its document. Return whether that was possible, and the fault
    found, if any.

    A trail that an older version began (`late`) may belong to a file that was sealed then. Such files carry no
    head.
    """
    document = await find_document(db, document_id)
    if document is None or document.seal is None:
        return False, None
    try:
        content = await blobs.get(db, document.seal.sha256)
        found = await verify(content)
    except (blobs.MissingBlob, Problem, WorkerFailed) as failure:
        still = await find_document(db, document_id)  # it may have been deleted meanwhile
        return (True, f"its sealed file cannot be checked: {failure}") if still else (False, None)
    if found["audit"] is not None and found["audit"]["documentId"] != document_id:
        return True, f"its sealed file is that of {found['audit']['documentId']}"
    if late and found["audit"] is None and is_sealed_here(found):
        return False, None
    return True, await compare_file(db, found)


async def find_document(db: Database, document_id: str) -> Document | None:
    """Return the document, or None if it does not exist."""
    try:
        return await documents.get(db, document_id)
    except Problem:
        return None


def is_sealed_here(found: Verification) -> bool:
    """Return whether the file was sealed by this installation and has not changed since."""
    return found["result"] != "invalid" and found["issuedHere"]


async def compare_file(db: Database, found: Verification) -> str | None:
    """Return the fault between the trail and a file that was sealed here, or None. The trail itself must be intact."""
    if not is_sealed_here(found):
        return "the file was changed, or was not sealed here"
    head = found["audit"]
    if head is None:
        return "the file carries no head of an audit trail"
    here = await trails.get_hash(db, head["documentId"], head["entries"])
    if here is None:
        return f"entry {head['entries']}, which the sealed file names, is missing"
    if here.hex() != head["hash"]:
        return f"entry {head['entries']} is not the one that the sealed file names"
    return None
