"""The audit trail in plain words: one sentence for each kind of entry."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from esign.core.document.audit import AuditEntry
from esign.core.document.challenge import Method
from esign.core.document.document import Document
from esign.core.document.signing_link import LinkRoute
from esign.core.instant import Instant, parse
from esign.web.office.document.document_row import BETWEEN
from esign.web.office.draft.explain_upload import describe_repairs
from esign.web.office.frame.browser_names import name_browser
from esign.web.office.frame.formats import Times
from esign.web.office.frame.name_lists import isolate_name, list_parts
from esign.web.office.frame.words import OfficeWords

# type: picture, tone (good, bad, active or none)
LOOKS: Mapping[str, tuple[str, str]] = {
    "document.created": ("doc", ""),
    "document.updated": ("edit", ""),
    "document.sent": ("send", "a"),
    "document.completed": ("seal", "g"),
    "document.put_back": ("refresh", ""),
    "document.declined": ("stop", "b"),
    "document.expired": ("clock", "b"),
    "document.cancelled": ("stop", "b"),
    "document.deleted": ("trash", ""),
    "document.downloaded": ("download", ""),
    "document.page_not_shown": ("warn", "b"),
    "document.seal_failed": ("warn", "b"),
    "document.seal_retried": ("refresh", ""),
    "recipient.sent": ("send", "a"),
    "recipient.viewed": ("eye", ""),
    "recipient.code_sent": ("mail", ""),
    "recipient.authenticated": ("lock", ""),
    "recipient.authentication_failed": ("warn", "b"),
    "recipient.unblocked": ("lock", ""),
    "recipient.consented": ("check", ""),
    "recipient.completed": ("signature", "g"),
    "recipient.declined": ("stop", "b"),
    "recipient.reminded": ("bell", ""),
    "recipient.corrected": ("edit", ""),
    "recipient.delivery_failed": ("warn", "b"),
    "recipient.link_requested": ("link", ""),
    "link.issued": ("link", ""),
}
UNKNOWN = ("info", "")
MEMBERS = frozenset(
    {
        *("title", "subject", "message", "file", "recipients", "expiresAt", "expiresInDays", "reminders"),
        *("redirectUrl", "locale", "externalId", "metadata"),
    }
)
VARIANTS = frozenset({"original", "sealed", "certificate"})
ROUTES = frozenset({LinkRoute.EMAIL.value, LinkRoute.SENDER.value, LinkRoute.TEST.value})
METHODS = frozenset({Method.LINK.value, Method.EMAIL_CODE.value, Method.ACCESS_CODE.value})
DEEDS = frozenset({"signed", "approved"})
BY_LINK = (
    "recipient.viewed",
    "recipient.authenticated",
    "recipient.authentication_failed",
    "recipient.completed",
    "recipient.declined",
)
SHOWS_ORIGIN = (
    "recipient.viewed",
    "recipient.completed",
    "recipient.declined",
    "recipient.authentication_failed",
)


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """An entry of the audit trail for the page. `more` is the small print below the sentence."""

    seq: int
    at: Instant
    icon: str
    tone: str
    sentence: Markup
    more: Markup


@dataclass(frozen=True, slots=True)
class TimelineDay:
    """The entries of one day."""

    title: str
    entries: tuple[TimelineEntry, ...]


def group_by_day(trail: list[AuditEntry], document: Document, times: Times) -> list[TimelineDay]:
    """Group the entries by day, newest first, without those that only the full trail shows."""
    newest = [describe_entry(line, document, times) for line in reversed(trail) if not is_quiet(line)]
    return [
        TimelineDay(title, tuple(entries))
        for title, entries in groupby(newest, lambda one: times.heading(one.at))
    ]


def is_quiet(line: AuditEntry) -> bool:
    """Return whether an entry appears in the full trail alone.

    These are the authentication by a link that was enough, and the consent that comes with each signature.
    """
    by_link = line.type == "recipient.authenticated" and line.data.get("method") == Method.LINK.value
    return by_link or line.type == "recipient.consented"


def describe_entry(line: AuditEntry, document: Document, times: Times) -> TimelineEntry:
    """Return an entry as a sentence with its small print."""
    icon, tone = LOOKS.get(line.type, UNKNOWN)
    sentence = write_sentence(line, document, times.words)
    more = BETWEEN.join(Markup("<bdi>{}</bdi>").format(note) for note in write_small_print(line, times))
    return TimelineEntry(line.seq, line.at, icon, tone, sentence, more)


def write_sentence(line: AuditEntry, document: Document, t: OfficeWords) -> Markup:
    """Return what an entry says, with the names in bold."""
    data = line.data
    if line.type == "document.seal_failed" and "attempts" in data:
        return t.count("document.timeline.attempts", data["attempts"])
    values = {
        "actor": name_actor(line, t),
        "whom": emphasise(name_recipient(line, document, t)),
        "members": list_parts([name_member(name, t) for name in data.get("members", ())], t),
        "page": data.get("page", ""),
        "type": line.type,
    }
    return t(f"document.timeline.{find_sentence(line)}", **values)


def find_sentence(line: AuditEntry) -> str:
    """Return the name of the sentence of an entry: its type, or what depends on its data."""
    data = line.data
    match line.type:
        case "document.updated" if not data.get("members"):
            return "updated"
        case "document.downloaded":
            variant = data.get("variant")
            return f"downloaded.{variant}" if variant in VARIANTS else "downloaded.other"
        case "recipient.authenticated":
            return f"proof.{name_proof(data)}"
        case "recipient.completed":
            return f"act.{data['act']}" if data.get("act") in DEEDS else "act.finished"
    return line.type if line.type in LOOKS else "unknown"


def name_proof(data: Mapping[str, Any]) -> str:
    """Return the name of how the recipient was authenticated, claiming no more than was recorded."""
    if data.get("result") == "simulated":
        return "simulated"
    method = data.get("method")
    if method == Method.EMAIL_CODE.value and data.get("code") in ROUTES:
        return f"code_{data['code']}"
    return str(method) if method in METHODS else "other"


def name_member(name: str, t: OfficeWords) -> str:
    """Return the name of what was changed."""
    return t(f"document.timeline.member.{name}") if name in MEMBERS else name


def name_actor(line: AuditEntry, t: OfficeWords) -> Markup:
    """Return who acted, with as much of the name as the entry holds."""
    name = ((line.personal or {}).get("actor") or {}).get("name")
    if line.actor_kind == "system":
        by_address = line.type == "document.downloaded"
        return t("document.timeline.by_address") if by_address else Markup("esign")
    known = name or line.actor_id or t("document.timeline.somebody")
    return emphasise(t("document.api_key", name=known) if line.actor_kind == "api_key" else known)


def name_recipient(line: AuditEntry, document: Document, t: OfficeWords) -> str:
    """Return the name of the recipient that an entry is about.

    A name that the entry recorded itself wins over the present one.
    """
    if line.actor_kind == "recipient" and (name := ((line.personal or {}).get("actor") or {}).get("name")):
        return str(name)
    known = (r.name for r in document.recipients if r.id == line.recipient_id)
    return next(known, None) or t("document.timeline.former")


def emphasise(name: str) -> Markup:
    """Return a name for the inside of a sentence, in bold and isolated from the sentence's writing direction."""
    return Markup("<b><bdi>{}</bdi></b>").format(name)


def write_small_print(line: AuditEntry, times: Times) -> Iterator[str]:
    """Yield the notes below the sentence."""
    personal, data, t = line.personal or {}, line.data, times.words
    detail: Mapping[str, Any] = personal.get("detail") or {}
    if line.actor_kind == "system" and line.type in (
        "recipient.viewed",
        "recipient.completed",
        "recipient.declined",
    ):
        yield t("document.timeline.simulated")
    elif line.type in BY_LINK and line.actor_kind == "recipient":
        route = data.get("link", "")
        yield t(f"document.timeline.link_{route if route in ROUTES else 'unknown'}")
    if line.type == "recipient.reminded":
        yield describe_reminder(line, t)
    if detail.get("email"):
        yield str(detail["email"])
    if detail.get("reason"):
        yield t("document.timeline.reason", reason=isolate_name(str(detail["reason"])))
    if "new" in detail:
        yield from describe_correction(detail, t)
    yield from describe_data(line.type, data, times)
    if line.type in SHOWS_ORIGIN:
        yield from (text for text in (personal.get("ip"), name_browser(personal.get("userAgent"), t)) if text)


def describe_reminder(line: AuditEntry, t: OfficeWords) -> Markup:
    """Return who caused a reminder."""
    if line.actor_kind == "system":
        return t("document.timeline.automatic")
    name = ((line.personal or {}).get("actor") or {}).get("name")
    return (
        t("document.timeline.by", name=isolate_name(str(name))) if name else t("document.timeline.by_sender")
    )


def describe_correction(detail: Mapping[str, Any], t: OfficeWords) -> Iterator[Markup]:
    """Yield the name and the email address before and after a correction, if they changed."""
    old, new = detail["old"], detail["new"]
    for name in ("name", "email"):
        if old[name] != new[name]:
            values = {"old": isolate_name(str(old[name])), "new": isolate_name(str(new[name]))}
            yield t("document.timeline.correction", **values)


def describe_data(type: str, data: Mapping[str, Any], times: Times) -> Iterator[str]:
    """Yield what an entry recorded besides."""
    t = times.words
    if changed := describe_repairs(bool(data.get("repaired")), data.get("removed") or (), t):
        yield Markup(" ").join(changed)
    if type == "document.completed" and data.get("level"):
        yield t("document.timeline.level", level=data["level"])
        if data.get("timestamp"):
            yield t("document.timeline.stamp", at=times.second(parse(data["timestamp"])))
        if data.get("levelAsked"):
            yield t("document.timeline.level_missed", level=data["levelAsked"])
    if type == "document.cancelled":
        yield t("document.timeline.told" if data.get("notified") else "document.timeline.not_told")
    if type == "link.issued" and data.get("expiresAt"):
        yield t("document.timeline.until", at=times.moment(parse(data["expiresAt"])))
