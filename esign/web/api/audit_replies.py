"""What the audit trail of a document shows: all of it, so that anybody can verify the chain (contract 3.2)."""

from typing import Any, Literal

from pydantic import ConfigDict, JsonValue

from esign.core.audit import Entry
from esign.web.api import examples
from esign.web.schema import Moment, Reply


class ActorReply(Reply):
    kind: Literal["member", "api_key", "recipient", "system"]
    id: str | None
    name: str | None
    email: str | None


class AuditEntryReply(Reply):
    seq: int
    at: Moment
    type: str
    actor: ActorReply
    recipient_id: str | None
    ip: str | None
    user_agent: str | None
    data: dict[str, JsonValue]
    detail: dict[str, JsonValue] | None
    salt: str | None
    personal_hash: str
    prev_hash: str
    hash: str


class AuditPage(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.TRAIL]})

    data: list[AuditEntryReply]
    has_more: bool
    next_cursor: str | None


def present_trail(found: dict[str, Any]) -> AuditPage:
    return AuditPage(
        data=[present_entry(line) for line in found["data"]],
        has_more=found["next"] is not None,
        next_cursor=found["next"],
    )


def present_entry(line: Entry) -> AuditEntryReply:
    personal = line.personal or {}
    actor = personal.get("actor") or {}
    return AuditEntryReply(
        seq=line.seq,
        at=line.at,
        type=line.type,
        actor=ActorReply(
            kind=line.actor_kind,  # type: ignore[arg-type]  # the kinds of an actor
            id=line.actor_id,
            name=actor.get("name"),
            email=actor.get("email"),
        ),
        recipient_id=line.recipient_id,
        ip=personal.get("ip"),
        user_agent=personal.get("userAgent"),
        data=dict(line.data),
        detail=personal.get("detail"),
        salt=line.salt.hex() if line.salt else None,
        personal_hash=line.personal_hash.hex(),
        prev_hash=line.prev_hash.hex(),
        hash=line.hash.hex(),
    )
