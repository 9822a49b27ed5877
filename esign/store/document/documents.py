"""Documents with their recipients: one joined read, one guarded write."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from esign.core.actor import Actor, Mode, Origin, Owner
from esign.core.document.attention import find_trouble
from esign.core.document.document import (
    Document,
    DocumentVersion,
    Field,
    FieldType,
    File,
    Ink,
    MailDelivery,
    PageGeometry,
    Recipient,
    RecipientStatus,
    Role,
    Seal,
    Status,
)
from esign.core.errors import NO_DOCUMENT, Problem
from esign.core.people.account import Reminders
from esign.store.engine import search_index
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.sql import dumps, insert, load_object
from esign.store.engine.unreadable_rows import UNREADABLE, UnreadableRow, refuse_bytes

# The columns are the members of the dataclasses; `order` is a word of SQL.
DOCUMENT_COLUMNS = tuple(name for name in Document.__slots__ if name != "recipients")
WRITTEN = (*DOCUMENT_COLUMNS, "attention", "sender_id")  # derived from the rest, for indexes
RECIPIENT_COLUMNS = (
    "document_id",
    "position",
    *("turn" if name == "order" else name for name in Recipient.__slots__),
)

SELECT = (
    "SELECT "
    + ", ".join(f"d.{c} AS d_{c}" for c in DOCUMENT_COLUMNS)
    + ", "
    + ", ".join(f"r.{c} AS r_{c}" for c in RECIPIENT_COLUMNS)
)
JOIN = "LEFT JOIN recipient r ON r.document_id = d.id"


async def exists(reader: Reader, document_id: str) -> bool:
    """Return whether there is a document of this id."""
    return await reader.one("SELECT 1 FROM document WHERE id = :id", id=document_id) is not None


async def get(reader: Reader, document_id: str) -> Document:
    """Return the document, for callers who already hold a right to it; raise `not_found` if there is none."""
    rows = await reader.all(
        f"{SELECT} FROM document d {JOIN} WHERE d.id = :id ORDER BY r.position", id=document_id
    )
    if not rows:
        raise Problem("not_found", NO_DOCUMENT)
    return load_one(reader, document_id, rows)


async def get_own(reader: Reader, owner: Owner, document_id: str) -> Document:
    """Return the document of this owner; raise `not_found` for any other id (I5)."""
    rows = await reader.all(
        f"{SELECT} FROM document d {JOIN}"
        " WHERE d.id = :id AND d.organisation_id = :organisation_id AND d.mode = :mode ORDER BY r.position",
        id=document_id,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    if not rows:
        raise Problem("not_found", NO_DOCUMENT)
    return load_one(reader, document_id, rows)


async def get_version(reader: Reader, owner: Owner, document_id: str) -> DocumentVersion:
    """Return the version of this owner's document; raise `not_found` for any other id (I5)."""
    row = await reader.one(
        "SELECT revision, status, expires_at FROM document"
        " WHERE id = :id AND organisation_id = :organisation_id AND mode = :mode",
        id=document_id,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    if row is None:
        raise Problem("not_found", NO_DOCUMENT)
    return DocumentVersion(row["revision"], Status(row["status"]), row["expires_at"])


async def get_change_mark(reader: Reader, owner: Owner, document_id: str) -> tuple[int, int]:
    """Return the revision and the length of the audit trail; every change to the document raises one of the two."""
    row = await reader.one(
        """
        SELECT d.revision, (SELECT max(seq) FROM audit WHERE document_id = d.id) AS entries FROM document d
        WHERE d.id = :id AND d.organisation_id = :organisation_id AND d.mode = :mode
        """,
        id=document_id,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    if row is None:
        raise Problem("not_found", NO_DOCUMENT)
    return row["revision"], row["entries"]


async def find_sealed(reader: Reader, owner: Owner, sha256: str) -> str | None:
    """Return the id of the document whose sealed file or certificate page has this hash.

    None if this owner has no such document.
    """
    rows = await reader.all(  # CROSS JOIN: the hash first, not every completed document
        """
        SELECT d.id, d.seal FROM document_blob b CROSS JOIN document d
        WHERE b.sha256 = :sha256 AND d.id = b.document_id AND d.organisation_id = :organisation_id AND d.mode = :mode
        AND d.status = 'completed'
        """,
        sha256=sha256,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    for row in rows:
        seal = orjson.loads(row["seal"])
        if sha256 in (seal["sha256"], seal["certificate_sha256"]):
            return str(row["id"])
    return None


async def add(tx: Transaction, document: Document) -> None:
    """Add a new document with its recipients, and index its words."""
    await tx.run(insert("document", WRITTEN), **dump_document(document))
    await tx.run_many(insert("recipient", RECIPIENT_COLUMNS), list(dump_recipients(document)))
    await search_index.index_document(tx, document)


async def save(tx: Transaction, document: Document, before: Document) -> None:
    """Write what changed since `before`, if it was not changed meanwhile.

    The caller has raised `revision` by one. Raises `revision_mismatch`, with the status the document has now.
    """
    changed = await tx.run_by_key(
        "UPDATE document SET "
        + ", ".join(f"{c} = :{c}" for c in WRITTEN if c != "id")
        + " WHERE id = :id AND status = :from_status AND revision = :from_revision",
        **dump_document(document),
        from_status=before.status.value,
        from_revision=before.revision,
    )
    if not changed:
        row = await tx.one("SELECT status FROM document WHERE id = :id", id=document.id)
        if row is None:
            raise Problem("not_found", NO_DOCUMENT)
        raise Problem("revision_mismatch", current_status=row["status"])
    await save_recipients(tx, document, before)
    await search_index.index_document(tx, document, before)


async def save_recipients(tx: Transaction, document: Document, before: Document) -> None:
    """Write the recipients that changed, were added or removed.

    Where positions change, all rows are moved out of the way first, because positions are unique.
    """
    old = {row["id"]: row for row in dump_recipients(before)}
    new = {row["id"]: row for row in dump_recipients(document)}
    if list(old) != list(new):
        for gone in old.keys() - new.keys():
            await tx.run("DELETE FROM recipient WHERE id = :id", id=gone)
        await tx.run("UPDATE recipient SET position = -1 - position WHERE document_id = :id", id=document.id)
        await tx.run_many(insert("recipient", RECIPIENT_COLUMNS), [new[id] for id in new if id not in old])
    for id in new.keys() & old.keys():
        if new[id] != old[id] or list(old) != list(new):
            await tx.run_by_key(
                "UPDATE recipient SET "
                + ", ".join(f"{c} = :{c}" for c in RECIPIENT_COLUMNS if c != "id")
                + " WHERE id = :id",
                **new[id],
            )


async def delete(tx: Transaction, document: Document) -> None:
    """Delete a document in exactly this state; rows that refer to it are deleted with it.

    Raises `revision_mismatch`.
    """
    await search_index.forget(tx, document.id)
    if not await tx.run(
        "DELETE FROM document WHERE id = :id AND status = :status AND revision = :revision",
        id=document.id,
        status=document.status.value,
        revision=document.revision,
    ):
        raise Problem("revision_mismatch", current_status=document.status)


# ---------- rows to dataclasses and back ----------


def load_one(reader: Reader, document_id: str, rows: Sequence[Row]) -> Document:
    """Load the document that was asked for; note damage and raise `UnreadableRow` if it cannot be read."""
    try:
        document = load(rows)
    except UNREADABLE as error:
        reader.damage.note("document", document_id, error)
        raise UnreadableRow(f"document {document_id} cannot be read") from error
    reader.damage.forget("document", document_id)
    return document


def load(rows: Sequence[Row]) -> Document:
    """Return one document from the rows of its join."""
    row = rows[0]
    for each in rows:
        refuse_bytes(each)
    members = {name: row[f"d_{name}"] for name in DOCUMENT_COLUMNS}
    seal = members["seal"]
    members |= {
        "mode": Mode(members["mode"]),
        "status": Status(members["status"]),
        "file": load_file(members["file"]),
        "reminders": Reminders(**orjson.loads(members["reminders"])),
        "metadata": load_object(members["metadata"]),
        "created_by": Actor(**orjson.loads(members["created_by"])),
        "seal": Seal(**orjson.loads(seal)) if seal else None,
    }
    recipients = tuple(load_recipient(each) for each in rows if each["r_id"] is not None)
    return Document(**members, recipients=recipients)


def load_file(stored: str) -> File:
    """Return the File of its JSON column."""
    file = orjson.loads(stored)
    return File(
        **{
            **file,
            "pages": tuple(PageGeometry(*page) for page in file["pages"]),
            "removed": tuple(file["removed"]),
        }
    )


async def save_proof(tx: Transaction, document_id: str, recipient: Recipient) -> None:
    """Save how the link and the code reached a recipient who has proved it.

    It raises the revision of the document if that changes anything: what the API shows of one revision is always
    the same.
    """
    changed = await tx.run(
        "UPDATE recipient SET link = :link, code = :code"
        " WHERE id = :id AND (COALESCE(link, '') <> COALESCE(:link, '') OR COALESCE(code, '') <> COALESCE(:code, ''))",
        id=recipient.id,
        link=recipient.link,
        code=recipient.code,
    )
    if changed:
        await tx.run("UPDATE document SET revision = revision + 1 WHERE id = :id", id=document_id)


def load_recipient(row: Row) -> Recipient:
    """Return the recipient of one row of the join."""
    members = {name: row[f"r_{'turn' if name == 'order' else name}"] for name in Recipient.__slots__}
    ink = members["ink"]
    return Recipient(
        **members
        | {
            "role": Role(members["role"]),
            "status": RecipientStatus(members["status"]),
            "fields": tuple(load_field(stored) for stored in orjson.loads(members["fields"])),
            "delivery": MailDelivery(members["delivery"]),
            "ink": Ink(**orjson.loads(ink)) if ink else None,
            "origin": Origin(**orjson.loads(members["origin"])),
        }
    )


def load_field(stored: Mapping[str, Any]) -> Field:
    """Return the Field of its JSON object."""
    value = stored["value"]
    return Field(
        **{
            **stored,
            "type": FieldType(stored["type"]),
            "value": Ink(**value) if isinstance(value, dict) else value,
        }
    )


def dump_document(document: Document) -> dict[str, object]:
    """Return the columns of a document."""
    members = dump_members(document)
    del members["recipients"]
    return members | {
        "file": dump_file(document.file),
        "reminders": dumps(dump_members(document.reminders)),
        "metadata": dumps(dict(document.metadata)),
        "created_by": dumps(dump_members(document.created_by)),
        "seal": dumps(dump_members(document.seal)) if document.seal else None,
        "attention": int(find_trouble(document) is not None),
        "sender_id": document.created_by.id,
    }


def dump_file(file: File) -> str:
    """Return a File as the JSON of its column."""
    pages = [(page.width, page.height, page.rotation) for page in file.pages]
    return dumps({**dump_members(file), "pages": pages})


def dump_recipients(document: Document) -> Iterable[dict[str, object]]:
    """Yield the columns of each recipient."""
    for position, recipient in enumerate(document.recipients):
        members = dump_members(recipient)
        yield members | {
            "document_id": document.id,
            "position": position,
            "turn": members.pop("order"),
            "fields": dumps([dump_field(field) for field in recipient.fields]),
            "ink": dumps(dump_members(recipient.ink)) if recipient.ink else None,
            "origin": dumps(dump_members(recipient.origin)),
        }


def dump_field(field: Field) -> dict[str, object]:
    """Return a Field as a JSON object."""
    value = field.value
    return {**dump_members(field), "value": dump_members(value) if isinstance(value, Ink) else value}


def dump_members(frozen: Any) -> dict[str, object]:
    """Return the members of a slotted dataclass; nested values are not converted."""
    return {name: getattr(frozen, name) for name in frozen.__slots__}
