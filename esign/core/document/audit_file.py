"""The audit trail as a JSON file with the members of the API.

The file is attached to the sealed document, and its chain can be recomputed from the file alone.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from esign.core.document.audit import ERASED, AuditEntry, Chain
from esign.core.instant import parse, rfc3339

NAME = "audit.json"


def write_audit_file(document_id: str, trail: Sequence[AuditEntry]) -> bytes:
    """Return the whole trail as JSON, including the salts, which are needed to recompute the chain."""
    whole = {
        "documentId": document_id,
        "entries": len(trail),
        "head": trail[-1].hash.hex(),
        "data": [describe_entry(line) for line in trail],
    }
    return json.dumps(whole, ensure_ascii=False, indent=1).encode()


def describe_entry(line: AuditEntry) -> dict[str, object]:
    """Return an entry as the JSON object of contract 3.2."""
    personal = line.personal or {}
    actor = personal.get("actor") or {}
    return {
        "seq": line.seq,
        "at": rfc3339(line.at),
        "type": line.type,
        "actor": {
            "kind": line.actor_kind,
            "id": line.actor_id,
            "name": actor.get("name"),
            "email": actor.get("email"),
        },
        "recipientId": line.recipient_id,
        "ip": personal.get("ip"),
        "userAgent": personal.get("userAgent"),
        "data": dict(line.data),
        "detail": personal.get("detail"),
        "salt": line.salt.hex() if line.salt else None,
        "personalHash": line.personal_hash.hex(),
        "prevHash": line.prev_hash.hex(),
        "hash": line.hash.hex(),
    }


def recompute(content: bytes) -> Chain:
    """Recompute the chain of such a file; the result says how far it goes and the first fault in it."""
    try:
        whole = json.loads(content)
        document_id, lines = whole["documentId"], whole["data"]
        if not isinstance(document_id, str) or not isinstance(lines, list):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        return Chain("", broken="it is not an audit trail")
    chain = Chain(document_id)
    for seq, line in enumerate(lines, 1):
        chain.follow(seq, _read_entry(document_id, line))
    chain.end()
    return chain


def list_entries(content: bytes) -> list[AuditEntry]:
    """Return the entries of such a file, in order. It must have been recomputed without a fault."""
    whole = json.loads(content)
    entries = (_read_entry(whole["documentId"], line) for line in whole["data"])
    return [entry for entry in entries if entry is not None]


def list_completions(content: bytes) -> list[AuditEntry]:
    """Return the entries in which recipients finished, in order. Otherwise like `list_entries`."""
    return [entry for entry in list_entries(content) if entry.type == "recipient.completed"]


def _read_entry(document_id: str, line: Any) -> AuditEntry | None:
    """Return the entry of a JSON object, or None where it is not an entry."""
    try:
        actor, data, salt = line["actor"], line["data"], line["salt"]
        if not has_types(line, actor):
            return None
        personal = {
            "actor": {"name": actor["name"], "email": actor["email"]},
            "ip": line["ip"],
            "userAgent": line["userAgent"],
            "detail": line["detail"],
        }
        return AuditEntry(
            document_id=document_id,
            seq=line["seq"],
            at=parse(line["at"]),
            type=line["type"],
            actor_kind=actor["kind"],
            actor_id=actor["id"],
            recipient_id=line["recipientId"],
            data={**data},
            personal=personal if salt is not None else None,
            salt=bytes.fromhex(salt) if salt is not None else None,
            personal_hash=bytes.fromhex(line["personalHash"]),
            prev_hash=bytes.fromhex(line["prevHash"]),
            hash=bytes.fromhex(line["hash"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return None


def has_types(line: Mapping[str, Any], actor: Mapping[str, Any]) -> bool:
    """Return whether the members of an entry that a chain works with have the types that they are written with."""
    named = line["data"].get("entries", []) if line["type"] == ERASED else []
    return (
        type(line["seq"]) is int
        and isinstance(line["data"], dict)
        and all(isinstance(text, str) for text in (line["type"], line["at"], actor["kind"]))
        and all(text is None or isinstance(text, str) for text in (actor["id"], line["recipientId"]))
        and isinstance(named, list)
        and all(type(number) is int for number in named)
    )
