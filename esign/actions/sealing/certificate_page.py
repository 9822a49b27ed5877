"""Gathers the facts of the certificate page from a document and its audit trail, as the page's templates read them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from esign.actions.base.browser_name import parse_user_agent
from esign.actions.base.drawn_fields import encode_ink
from esign.core.actor import Mode
from esign.core.document.audit import AuditEntry
from esign.core.document.challenge import Method
from esign.core.document.document import FOREIGN, INVITED, Document, File, Ink, Recipient, RecipientStatus
from esign.core.document.printed_trail import Gap, choose_entries
from esign.core.document.signing_link import LinkRoute
from esign.core.document.state import lifecycle
from esign.core.instant import Instant, to_datetime
from esign.core.language import choose_language
from esign.core.people.account import Organisation
from esign.core.seal_credential import TEST_MARK

BY_LINK = ("recipient.viewed", "recipient.completed", "recipient.declined")
ROUTES = frozenset(route.value for route in LinkRoute)

Local = Callable[[Instant | None], str | None]


def cut_after_last_act(trail: list[AuditEntry]) -> list[AuditEntry]:
    """Return the entries that are printed, up to the last completion. What the sealing itself adds comes after them."""
    last = max(n for n, line in enumerate(trail, 1) if line.type == "recipient.completed")
    return trail[:last]


@dataclass(frozen=True, slots=True)
class CertificateSource:
    """What the certificate page is made from. `pictures` maps SHA-256 hashes of signatures to PNG files."""

    document: Document
    organisation: Organisation
    trail: list[AuditEntry]
    pictures: Mapping[str, bytes]
    logo: Mapping[str, object] | None = None


def gather_facts(source: CertificateSource, base_url: str, now: Instant) -> dict[str, object]:
    """Return the data of the page. Times are in the time zone of the organisation."""
    document, organisation, trail = source.document, source.organisation, source.trail
    zone = ZoneInfo(organisation.time_zone)

    def local(at: Instant | None) -> str | None:
        return None if at is None else to_datetime(at).astimezone(zone).isoformat()

    names = {recipient.id: recipient.name for recipient in document.recipients}
    return {
        "schema": 1,
        "paper": "a4",
        "lang": choose_language(document.locale, organisation.locale).tag,
        "mode": document.mode.value,
        "time_zone": organisation.time_zone,
        "organisation": {"name": organisation.name, "colour": organisation.colour, "logo": source.logo},
        "verify": {
            "url": f"{base_url}/verify/{document.id}",
            "short": f"{base_url.partition('://')[2]}/verify",
        },
        "document": describe_document(document, organisation, now, local),
        "files": list_hashes(document.file),
        "recipients": [
            describe_recipient(recipient, source.pictures, trail, local) for recipient in document.recipients
        ],
        "audit": [describe_line(line, local, names) for line in choose_entries(trail)],
        "chain": {"entries": len(trail), "head": trail[-1].hash.hex()},
        **({"watermark": TEST_MARK} if document.mode is Mode.TEST else {}),
    }


def list_hashes(file: File) -> dict[str, str]:
    """Return the hash of the file that the signers saw, and of the uploaded file if that is the one stored."""
    as_uploaded = {} if FOREIGN in file.removed else {"uploaded_sha256": file.uploaded}
    return {**as_uploaded, "prepared_sha256": file.prepared}


def describe_document(
    document: Document, organisation: Organisation, now: Instant, local: Local
) -> dict[str, object]:
    """Return the facts of the document as it will be once it is sealed at `now`."""
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


def has_authenticated(recipient: Recipient, trail: list[AuditEntry]) -> bool:
    """Return whether the recipient opened the link and passed the authentication that was required."""
    return any(
        line.type == "recipient.authenticated"
        and line.recipient_id == recipient.id
        and line.data.get("result") == "passed"
        for line in trail
    )


def name_status(recipient: Recipient) -> str:
    """Return the word for what the recipient did. It is `copied` for the recipient of a copy."""
    if not recipient.acting and recipient.status is RecipientStatus.CREATED:
        return "copied"
    if recipient.status is RecipientStatus.COMPLETED:
        return lifecycle.DONE[recipient.role]
    if recipient.status is RecipientStatus.VIEWED and not recipient.acting:
        return "viewed"
    return "declined" if recipient.status is RecipientStatus.DECLINED else "waiting"


def describe_recipient(
    recipient: Recipient, pictures: Mapping[str, bytes], trail: list[AuditEntry], local: Local
) -> dict[str, object]:
    """Return the facts of a recipient."""
    shown = recipient.ink or next(
        (f.value for f in recipient.fields if f.type == "signature" and isinstance(f.value, Ink)), None
    )
    status = name_status(recipient)
    asked = recipient.role in INVITED or recipient.authentication != "link"
    return {
        "name": recipient.name,
        "lang": recipient.locale,
        "email": recipient.email,
        "role": recipient.role.value,
        "status": status,
        "authentication": describe_authentication(recipient, trail) if asked else None,
        "ip": recipient.origin.ip,
        "device": describe_device(recipient.origin.user_agent),
        "consent": recipient.consent.split(" ")[0] if recipient.consent else None,
        "sent_at": local(recipient.sent_at),
        "viewed_at": local(recipient.viewed_at),
        **({f"{status}_at": local(recipient.completed_at)} if recipient.completed_at else {}),
        "signature": encode_ink(shown, pictures) if shown else None,
    }


def describe_authentication(recipient: Recipient, trail: list[AuditEntry]) -> dict[str, object]:
    """Return how the recipient authenticated.

    - `links` are the ways by which the used links came, in the order of their first use.
    - `code` is the way by which the code came, or None if none was entered.
    - `handed` says that the sender had a link too, so that the link says less about who opened it.
    """
    shown, handed = has_authenticated(recipient, trail), was_handed(recipient, trail)
    own = [line for line in trail if line.recipient_id == recipient.id]
    entered = [line for line in own if line.type == "recipient.authenticated" and line.data.get("result")]
    by_mail = recipient.authentication == Method.EMAIL_CODE and shown
    return {
        "method": recipient.authentication,
        "result": "passed" if shown else "none",
        "handed": handed,
        "links": list(
            dict.fromkeys(name_route(line.data.get("link")) for line in own if line.type in BY_LINK)
        ),
        "code": name_route(entered[-1].data.get("code")) if by_mail else None,
    }


def name_route(route: object) -> str:
    """Return the way by which a link or code came, as the labels name it.

    If an old trail does not say, it is `unknown`.
    """
    return route if isinstance(route, str) and route in ROUTES else "unknown"


def was_handed(recipient: Recipient, trail: list[AuditEntry]) -> bool:
    """Return whether a link of the recipient was issued to the sender."""
    return any(line.type == "link.issued" and line.recipient_id == recipient.id for line in trail)


def describe_device(user_agent: str | None) -> dict[str, str | None] | None:
    """Return browser and system, which the template joins in the page's language. The raw header is never returned."""
    if not user_agent:
        return None
    browser, system = parse_user_agent(user_agent)
    return {"browser": browser, "system": system}


def describe_line(line: AuditEntry | Gap, local: Local, names: Mapping[str, str]) -> dict[str, object]:
    """Return the facts of a printed line: an entry, or the numbers of entries that are left out."""
    if isinstance(line, Gap):
        return {"gap": {"first": line.first, "last": line.last}}
    return describe_entry(line, local, names)


def describe_entry(line: AuditEntry, local: Local, names: Mapping[str, str]) -> dict[str, object]:
    """Return the facts of an entry."""
    personal = line.personal or {}
    detail = personal.get("detail") or {}
    name = (personal.get("actor") or {}).get("name")
    whom = names.get(line.recipient_id or "") if line.recipient_id != line.actor_id else None
    return {
        "seq": line.seq,
        "at": local(line.at),
        "type": line.type,
        "actor": {"kind": line.actor_kind, "name": name or line.actor_id},
        "ip": personal.get("ip"),
        **({"word": f"recipient.{line.data['act']}"} if "act" in line.data else {}),
        **({"method": line.data["method"]} if "result" in line.data else {}),
        **({name: name_route(line.data[name]) for name in ("link", "code") if name in line.data}),
        **({"changed": changed} if (changed := describe_repairs(line.data)) else {}),
        "note": detail.get("email") or detail.get("reason") or whom,
        **({"corrections": found} if (found := list_corrections(detail)) else {}),
        "hash": line.hash.hex(),
    }


def list_corrections(detail: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the name and the address of a corrected recipient before and after, as far as they differ."""
    old, new = detail.get("old") or {}, detail.get("new") or {}
    parts = (part for part in ("name", "email") if part in new and part in old and new[part] != old[part])
    return [{"old": old[part], "new": new[part]} for part in parts]


def describe_repairs(data: Mapping[str, object]) -> dict[str, object]:
    """Return what normalising did to the uploaded file."""
    return {name: data[name] for name in ("repaired", "removed") if data.get(name)}
