"""The facts of the certificate page: from a document and its trail to the words of the page's templates."""

from collections.abc import Callable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from esign.actions.device import in_words
from esign.actions.drawing import ink_of
from esign.core.account import Organisation
from esign.core.audit import Entry
from esign.core.credential import TEST_MARK
from esign.core.document import Document, Ink, Mode, Recipient, RecipientStatus, Role
from esign.core.instant import Instant, to_datetime

Local = Callable[[Instant | None], str | None]

LANGUAGES = ("en", "de", "fr", "ar")


def up_to_last_act(trail: list[Entry]) -> list[Entry]:
    """The trail as it is printed: what the sealing itself adds comes after it in the chain."""
    last = max(n for n, line in enumerate(trail, 1) if line.type == "recipient.completed")
    return trail[:last]


def facts(
    base_url: str,
    document: Document,
    organisation: Organisation,
    trail: list[Entry],
    pictures: Mapping[str, bytes],
    now: Instant,
) -> dict[str, Any]:
    """The data of the page; times in the organisation's zone."""
    zone = ZoneInfo(organisation.time_zone)

    def local(at: Instant | None) -> str | None:
        return None if at is None else to_datetime(at).astimezone(zone).isoformat()

    lang = (document.locale or organisation.locale).split("-")[0]
    return {
        "schema": 1,
        "paper": "a4",
        "lang": lang if lang in LANGUAGES else "en",
        "mode": document.mode.value,
        "time_zone": organisation.time_zone,
        "organisation": {"name": organisation.name, "colour": organisation.colour, "logo": None},
        "verify": {
            "url": f"{base_url}/verify/{document.id}",
            "short": f"{base_url.partition('://')[2]}/verify",
        },
        "document": of_document(document, organisation, now, local),
        "files": {"uploaded_sha256": document.file.uploaded, "prepared_sha256": document.file.prepared},
        "recipients": [of_recipient(recipient, pictures, local) for recipient in document.recipients],
        "audit": [of_entry(line, local) for line in trail],
        "chain": {"entries": len(trail), "head": trail[-1].hash.hex()},
        **({"watermark": TEST_MARK} if document.mode is Mode.TEST else {}),
    }


def of_document(document: Document, organisation: Organisation, now: Instant, local: Local) -> dict[str, Any]:
    """As it will be once sealed, at `now`."""
    sender = document.created_by
    return {
        "id": document.id,
        "title": document.title,
        "lang": document.locale,
        "file_name": document.file.name,
        "status": "completed",
        "pages": document.page_count,
        "sender": {
            "name": sender.name if sender.kind == "member" else organisation.name,
            "email": sender.email or organisation.reply_to or "",
        },
        "sent_at": local(document.sent_at),
        "closed_at": local(now),
        "close_reason": None,
    }


STATUS_WORDS = {RecipientStatus.COMPLETED: "signed", RecipientStatus.DECLINED: "declined"}


def of_recipient(recipient: Recipient, pictures: Mapping[str, bytes], local: Local) -> dict[str, Any]:
    shown = recipient.ink or next(
        (f.value for f in recipient.fields if f.type == "signature" and isinstance(f.value, Ink)), None
    )
    status = STATUS_WORDS.get(recipient.status, "waiting")
    if status == "signed" and recipient.role is Role.APPROVER:
        status = "approved"
    return {
        "name": recipient.name,
        "lang": recipient.locale,
        "email": recipient.email,
        "role": recipient.role.value,
        "status": status,
        "authentication": {"method": recipient.authentication, "result": "passed"},
        "ip": recipient.origin.ip,
        "device": in_words(recipient.origin.user_agent),
        "consent": recipient.consent.split(" ")[0] if recipient.consent else None,
        "sent_at": local(recipient.sent_at),
        "viewed_at": local(recipient.viewed_at),
        f"{status}_at": local(recipient.completed_at),
        "signature": ink_of(shown, pictures) if shown else None,
    }


def of_entry(line: Entry, local: Local) -> dict[str, Any]:
    personal = line.personal or {}
    detail = personal.get("detail") or {}
    name = (personal.get("actor") or {}).get("name")
    if line.actor_kind == "api_key":
        name = f"API key {name}"
    return {
        "seq": line.seq,
        "at": local(line.at),
        "type": line.type,
        "actor": {"kind": line.actor_kind, "name": name or line.actor_id},
        "ip": personal.get("ip"),
        "note": detail.get("email")
        or detail.get("reason")
        or new_address(detail)
        or removed_words(line.data),
        "hash": line.hash.hex(),
    }


def new_address(detail: Mapping[str, Any]) -> str | None:
    """Where a corrected recipient is reached now."""
    return detail["new"]["email"] if "new" in detail else None


def removed_words(data: Mapping[str, Any]) -> str | None:
    """What normalising dropped from the uploaded file."""
    return ", ".join(data["removed"]) if data.get("removed") else None
