"""Checks every content against its hash, and notes which documents the sealed files belong to."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from esign.store.engine.sql import load_object
from esign.store.server.fault import Check, Fault, Inspection

EMPTY = hashlib.sha256(b"").hexdigest()
HOMELESS = "its content is there, and no row says of which size"


@dataclass(slots=True)
class ContentWalk:
    """One content that is read chunk by chunk; chunks of one content mostly follow each other on the disk."""

    sha256: str
    size: int | None
    next: int = 0
    length: int = 0
    in_order: bool = True
    hash: Any = field(default_factory=hashlib.sha256)
    parts: list[bytes] = field(default_factory=list)

    def add(self, number: int, content: bytes) -> None:
        """Take the next chunk."""
        self.in_order = self.in_order and number == self.next
        self.next, self.length = number + 1, self.length + len(content)
        self.hash.update(content)
        self.parts.append(content)


def check_contents(found: Inspection) -> Iterator[Fault]:
    """Read every chunk in the order of the disk; compare each content with its hash and its size.

    Contents whose chunks lie elsewhere are read again by their key.
    """
    walk: ContentWalk | None = None
    again: set[str] = set()
    for rows in found.reader.walk_chunks():
        for row in rows:
            sha256 = str(row["sha256"])
            if walk is None or walk.sha256 != sha256:
                yield from end_content(found, walk, again)
                walk = ContentWalk(sha256, row["size"])
            walk.add(row["number"], row["content"])
    yield from end_content(found, walk, again)
    for sha256 in sorted(again):
        words, _ = read_content(found, sha256)
        if words is not None:
            yield Fault(Check.CONTENTS, f"blob {sha256}", words)
    for rows in found.reader.walk(
        "blob", "sha256, (SELECT 1 FROM blob_chunk c WHERE c.sha256 = blob.sha256) AS has"
    ):
        found.read["contents"] += len(rows)
        for row in rows:
            if not row["has"] and row["sha256"] != EMPTY and is_still_there(found, str(row["sha256"])):
                yield Fault(Check.CONTENTS, f"blob {row['sha256']}", "the content is missing")


def end_content(found: Inspection, walk: ContentWalk | None, again: set[str]) -> Iterator[Fault]:
    """Judge a content whose chunks were read, or note that it has to be read `again`."""
    if walk is None:
        return
    if walk.size is None:
        if not is_still_there(found, walk.sha256):
            yield Fault(Check.CONTENTS, f"blob {walk.sha256}", HOMELESS)
        return
    found.read["bytes"] += walk.length
    if not walk.in_order or walk.length != walk.size or walk.hash.hexdigest() != walk.sha256:
        again.add(walk.sha256)
        return
    again.discard(walk.sha256)
    note_sealed(found, walk.sha256, b"".join(walk.parts))


def is_still_there(found: Inspection, sha256: str) -> bool:
    """Return whether the row of a content exists now: it may have been pruned since."""
    return bool(found.reader.all("SELECT 1 FROM blob WHERE sha256 = :sha256", sha256=sha256))


def read_content(found: Inspection, sha256: str) -> tuple[str | None, bytes]:
    """Read a content by its key. Return what is wrong with it, or None, and the content."""
    with found.reader.snapshot():
        blob = found.reader.all("SELECT size FROM blob WHERE sha256 = :sha256", sha256=sha256)
        rows = found.reader.all(
            "SELECT content FROM blob_chunk WHERE sha256 = :sha256 ORDER BY number", sha256=sha256
        )
    content = b"".join(row["content"] for row in rows)
    if not blob:
        return None if not rows else HOMELESS, content
    if hashlib.sha256(content).hexdigest() != sha256:
        return "the content is missing or was changed", content
    return None if blob[0]["size"] == len(content) else "its row says another size than it has", content


def note_sealed(found: Inspection, sha256: str, content: bytes) -> None:
    """Note the document whose sealed file this is, if the file names the entry that its trail has."""
    head = found.find_head(content)
    if head is None:
        return
    document_id, number, expected = head
    rows = found.reader.all(
        "SELECT d.seal, a.hash FROM document d JOIN audit a ON a.document_id = d.id AND a.seq = :number"
        " WHERE d.id = :id",
        id=document_id,
        number=number,
    )
    if not rows or find_sealed_hash(rows[0]["seal"]) != sha256:
        return  # the certificate of completion names the same entry, and is not the sealed file
    if bytes(rows[0]["hash"]).hex() == expected:
        found.whole_seals.add(document_id)


def find_sealed_hash(seal: object) -> str | None:
    """Return the hash of the sealed file from the column of a document, or None if it has none."""
    try:
        return str(load_object(str(seal))["sha256"]) if seal is not None else None
    except (ValueError, KeyError):
        return None


def read_content_here(found: Inspection, sha256: str) -> tuple[str | None, bytes]:
    """Read a content inside the snapshot of the batch. Return what is wrong with it, or None, and the content."""
    rows = found.reader.all(
        "SELECT content FROM blob_chunk WHERE sha256 = :sha256 ORDER BY number", sha256=sha256
    )
    content = b"".join(row["content"] for row in rows)
    is_whole = hashlib.sha256(content).hexdigest() == sha256
    return None if is_whole else "it is missing or was changed", content
