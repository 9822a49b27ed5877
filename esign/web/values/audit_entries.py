"""The entries of audit trails as JSON: in full, so that any reader can verify the chain (contract 3.2)."""

from typing import Generic, Literal, TypeVar

from pydantic import JsonValue

from esign.core.document.audit import AuditEntry
from esign.web.values.schema import Moment, Reply

A = TypeVar("A", bound=Reply)


class ActorReply(Reply):
    kind: Literal["member", "api_key", "recipient", "system"]
    id: str | None
    name: str | None
    email: str | None


class EntryReply(Reply, Generic[A]):
    """An entry of a chain: of a document's trail, or of an organisation's log."""

    seq: int
    at: Moment
    type: str
    actor: A
    ip: str | None
    user_agent: str | None
    data: dict[str, JsonValue]
    detail: dict[str, JsonValue] | None
    salt: str | None
    personal_hash: str
    prev_hash: str
    hash: str


class AuditEntryReply(EntryReply[ActorReply]):
    recipient_id: str | None


def present_entry(line: AuditEntry) -> AuditEntryReply:
    return AuditEntryReply.model_validate({**present_chained(line), "recipient_id": line.recipient_id})


def present_chained(line: AuditEntry) -> dict[str, object]:
    """Return the members that entries of both chains share. Personal parts that were erased are null."""
    personal = line.personal or {}
    named = personal.get("actor") or {}
    return {
        "seq": line.seq,
        "at": line.at,
        "type": line.type,
        "actor": {
            "kind": line.actor_kind,
            "id": line.actor_id,
            "name": named.get("name"),
            "email": named.get("email"),
        },
        "ip": personal.get("ip"),
        "user_agent": personal.get("userAgent"),
        "data": dict(line.data),
        "detail": personal.get("detail"),
        "salt": line.salt.hex() if line.salt else None,
        "personal_hash": line.personal_hash.hex(),
        "prev_hash": line.prev_hash.hex(),
        "hash": line.hash.hex(),
    }
