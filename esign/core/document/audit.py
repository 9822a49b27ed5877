"""The audit trail of a document, or of an organisation: a hash chain whose personal half can be erased (contract 3.2).

hash = SHA-256(prevHash ‖ JCS(public) ‖ personalHash), personalHash = SHA-256(salt ‖ JCS(personal)),
JCS = RFC 8785. The trail of an organisation is its administrative log: `document_id` is the organisation's id then, and
the public half has it as `organisationId`.

Erasing nulls `personal` and `salt` and keeps `personal_hash`, so the chain still verifies.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from esign.core.canonical_json import write_canonical_json
from esign.core.document.state.outcome import Event
from esign.core.instant import Instant, rfc3339

START = bytes(32)
LATE = "late\n"
ERASED = "audit.erased"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One entry of a trail; hashes are raw bytes.

    In an administrative log, `document_id` holds the organisation's id.
    """

    document_id: str
    seq: int
    at: Instant
    type: str
    actor_kind: str
    actor_id: str | None
    recipient_id: str | None
    data: Mapping[str, Any]
    personal: Mapping[str, Any] | None
    salt: bytes | None
    personal_hash: bytes
    prev_hash: bytes
    hash: bytes


def make_entry(event: Event, document_id: str, seq: int, prev_hash: bytes, salt: bytes) -> AuditEntry:
    """Return the next entry of a trail, chained to the entry whose hash is `prev_hash`.

    `salt` is 16 random bytes.
    """
    personal: dict[str, object] = {
        "actor": {"name": event.actor.name, "email": event.actor.email},
        "ip": event.origin.ip,
        "userAgent": event.origin.user_agent,
        "detail": dict(event.detail) if event.detail is not None else None,
    }
    unchained = AuditEntry(
        document_id,
        seq,
        event.at,
        event.type,
        event.actor.kind,
        event.actor.id,
        event.recipient_id,
        event.data,
        personal,
        salt,
        hash_personal(salt, personal),
        prev_hash,
        b"",
    )
    return replace(unchained, hash=hash_entry(unchained))


def hash_personal(salt: bytes, personal: Mapping[str, Any]) -> bytes:
    """Return the hash that stands for the personal half in the chain and stays when that half is erased."""
    return hashlib.sha256(salt + write_canonical_json(dict(personal))).digest()


def hash_entry(line: AuditEntry) -> bytes:
    """Return the hash that this entry must carry."""
    public: dict[str, Any] = {
        "seq": line.seq,
        "at": rfc3339(line.at),
        "type": line.type,
        subject_name(line.document_id): line.document_id,
        "actor": {"kind": line.actor_kind, "id": line.actor_id},
        "recipientId": line.recipient_id,
        "data": dict(line.data),
    }
    return hashlib.sha256(
        line.prev_hash + write_canonical_json(public, line.data) + line.personal_hash
    ).digest()


def subject_name(subject: str) -> str:
    """Return the member of the public half that holds the subject's id: `documentId` or `organisationId`."""
    return "organisationId" if is_organisation(subject) else "documentId"


def is_organisation(subject: str) -> bool:
    """Return whether the trail of this subject is the administrative log of an organisation."""
    return subject.startswith("org_")


def has_own_personal(line: AuditEntry) -> bool:
    """Return whether the personal half matches its hash, or was erased together with its salt."""
    if line.salt is None or line.personal is None:
        return line.salt is None and line.personal is None
    return hash_personal(line.salt, line.personal) == line.personal_hash


def find_fault(line: AuditEntry, seq: int, previous: bytes) -> str | None:
    """Return why this entry cannot be number `seq` after the hash `previous`, or None when it can."""
    if line.seq != seq:
        return f"entry {seq} is missing" if line.seq > seq else f"there is another entry {line.seq}"
    if line.prev_hash != previous:
        return "it does not follow from the entry before it"
    try:
        own, personal = hash_entry(line), has_own_personal(line)
    except (ValueError, OverflowError, RecursionError):  # a time beyond datetime, a number beyond JSON
        return "it cannot have been written like this"
    if own != line.hash:
        return "its hash is not the one of what it says"
    return None if personal else "what is personal in it is not what was written"


@dataclass(slots=True)
class Chain:
    """A trail that is checked while it is read: its length, the hash of its last entry, and the first fault.

    `unannounced` holds the numbers of erased entries that no later entry has named yet.
    """

    document_id: str
    entries: int = 0
    head: bytes = START
    broken: str | None = None
    last_type: str = ""
    erased: bool = False
    late: bool = False  # its head was added by an upgrade: the entries before have no older proof
    unannounced: set[int] = field(default_factory=set)

    def follow(self, seq: int, line: AuditEntry | None) -> None:
        """Check the next entry, or None for one that cannot be read. After the first fault, ignore the rest."""
        if self.broken:
            return
        expected = self.entries + 1
        wrong = "it cannot be read" if line is None else find_fault(line, expected, self.head)
        if wrong or line is None:
            self.broken = f"entry {seq}{f' ({line.type})' if line else ''}: {wrong}"
            return
        self.entries, self.head, self.last_type = expected, line.hash, line.type
        self.erased = self.erased or line.personal is None
        if line.personal is None:
            self.unannounced.add(seq)
        if line.type == ERASED:
            self.unannounced.difference_update(line.data.get("entries", ()))

    def end(self) -> None:
        """Check that personal data was erased only as the rules allow; call it after the last entry (D12).

        The personal data of a document goes all at once, when the document is deleted. An administrative log
        loses it entry by entry, and a later entry must name their numbers.
        """
        if is_organisation(self.document_id):
            if not self.broken and self.unannounced:
                number = min(self.unannounced)
                self.broken = f"entry {number}: what is personal was erased, and no later entry says so"
        elif not self.broken and self.erased and self.last_type != "document.deleted":
            self.broken = "what is personal was erased, although the document was not deleted"


def compose_head_message(document_id: str, seq: int, head: bytes, late: bool = False) -> bytes:
    """Return the message whose mac vouches for the end of a trail.

    The message of a `late` head differs, so that its mac cannot pass for that of an ordinary head.
    """
    return f"{document_id}\n{seq}\n{LATE if late else ''}".encode() + head
