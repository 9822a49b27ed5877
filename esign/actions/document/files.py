"""Serves the three files of a document, as bytes or through a short-lived address."""

import base64
import binascii
import struct
from dataclasses import dataclass
from typing import Literal

from esign.actions.document.documents import get
from esign.core.actor import Author, Owner
from esign.core.document.document import Document
from esign.core.document.filename import name_file
from esign.core.document.state import Act, require
from esign.core.document.state.outcome import Event
from esign.core.errors import NO_FILE, Problem
from esign.core.instant import SECOND, Instant
from esign.runtime import Runtime
from esign.store.document import blobs, documents, outcomes
from esign.store.document.blobs import StoredContent
from esign.store.engine.database import Transaction

PURPOSE = "download"
MAC = 16  # bytes of it that an address carries
FileVariant = Literal["original", "sealed", "certificate"]
VARIANTS: tuple[FileVariant, ...] = ("original", "sealed", "certificate")


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """One variant of a document's file: `size` in bytes, `sha256` in hex."""

    document: Document
    variant: FileVariant
    name: str
    size: int
    sha256: str


async def describe_file(runtime: Runtime, owner: Owner, document_id: str, variant: str) -> DocumentFile:
    """Return a variant of the document's file.

    Raises `not_found` for an unknown variant, and `document_not_completed` before there is a seal.
    """
    document = await get(runtime, owner, document_id)
    known = next((one for one in VARIANTS if one == variant), None)
    if known is None:
        raise Problem("not_found", NO_FILE)
    return await describe_variant(runtime, document, known)


async def describe_variant(runtime: Runtime, document: Document, variant: FileVariant) -> DocumentFile:
    """Return a variant of the file of a document that is already read."""
    sha256 = find_hash(document, variant)
    size = await blobs.get_size(runtime.db, sha256)
    return DocumentFile(document, variant, name_file(document, variant), size, sha256)


async def read(runtime: Runtime, file: DocumentFile, author: Author) -> StoredContent:
    """Return the content of the file, and record the download in the audit trail."""
    content = await blobs.open_content(runtime.db, file.sha256)
    await note_download(runtime, file, author)
    return content


async def note_download(runtime: Runtime, file: DocumentFile, author: Author) -> None:
    """Record a download in the audit trail. Raises `not_found` if the document is gone."""
    now = runtime.clock.now()
    fact = Event(
        "document.downloaded", now, author.actor, origin=author.origin, data={"variant": file.variant}
    )

    async def write(tx: Transaction) -> None:
        await outcomes.record_fact(tx, file.document.id, fact, runtime.vault)

    await runtime.db.write(write)


def find_hash(document: Document, variant: str) -> str:
    """Return the SHA-256 of a variant in hex. Raises `document_not_completed` before there is a seal."""
    if variant == "original":
        return document.file.uploaded
    require(document, Act.DOWNLOAD_SEALED)
    assert document.seal is not None
    return document.seal.sha256 if variant == "sealed" else document.seal.certificate_sha256


# ---------- short-lived addresses ----------


def make_ticket(runtime: Runtime, file: DocumentFile) -> tuple[str, Instant]:
    """Return a token that gives access to this file only, and when the token ends.

    The token holds its end, the variant and the id of the document, and a MAC over them. Nothing is stored.
    """
    expires_at = runtime.clock.now() + runtime.config.limits.download_seconds * SECOND
    body = struct.pack(">QB", expires_at, VARIANTS.index(file.variant)) + file.document.id.encode()
    mac = runtime.vault.compute_mac(PURPOSE, body)[:MAC]
    return base64.urlsafe_b64encode(mac + body).rstrip(b"=").decode(), expires_at


async def redeem(runtime: Runtime, token: str) -> DocumentFile:
    """Return the file of a token that has not ended. Raises `not_found` for any other text."""
    try:
        packed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        body = packed[MAC:]
        expires_at, number = struct.unpack(">QB", body[:9])
        document_id = body[9:].decode()
    except (binascii.Error, ValueError, struct.error):
        raise Problem("not_found") from None
    if not runtime.vault.is_mac(PURPOSE, body, packed[:MAC], MAC) or runtime.clock.now() >= expires_at:
        raise Problem("not_found")
    return await describe_variant(runtime, await documents.get(runtime.db, document_id), VARIANTS[number])
