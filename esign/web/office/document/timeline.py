"""The audit trail in plain words: one sentence for each kind of entry."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from esign.actions.base.browser_name import describe_browser
from esign.core.document.audit import AuditEntry
from esign.core.document.challenge import Method
from esign.core.document.document import Document
from esign.core.document.signing_link import LinkRoute
from esign.core.instant import Instant, parse
from esign.web.office.draft.explain_upload import describe_repairs
from esign.web.office.frame.formats import Times

# type: picture, tone (good, bad, active or none), sentence
SENTENCES: Mapping[str, tuple[str, str, str]] = {
    "document.created": ("doc", "", "{actor} created it"),
    "document.updated": ("edit", "", "{actor} changed {members}"),
    "document.sent": ("send", "a", "{actor} sent the document"),
    "document.completed": ("seal", "g", "The document was sealed"),
    "document.declined": ("stop", "b", "The document ended, because {actor} declined"),
    "document.expired": ("clock", "b", "The time to sign was over"),
    "document.cancelled": ("stop", "b", "{actor} cancelled the document"),
    "document.deleted": ("trash", "", "{actor} deleted the document"),
    "document.downloaded": ("download", "", "{actor} downloaded {variant}"),
    "document.page_not_shown": ("warn", "b", "Page {page} could not be shown"),
    "document.seal_failed": ("warn", "b", "Sealing has failed {attempts} times"),
    "document.seal_retried": ("refresh", "", "{actor} had the seal tried again"),
    "recipient.sent": ("send", "a", "{whom} was invited"),
    "recipient.viewed": ("eye", "", "{whom} opened the document"),
    "recipient.code_sent": ("mail", "", "{whom} asked for a code"),
    "recipient.authenticated": ("lock", "", "{whom} {proof}"),
    "recipient.authentication_failed": ("warn", "b", "A wrong code was entered at the link of {whom}"),
    "recipient.unblocked": ("lock", "", "{actor} let {whom} try the code again"),
    "recipient.consented": ("check", "", "{whom} agreed to do this electronically"),
    "recipient.completed": ("signature", "g", "{whom} {act}"),
    "recipient.declined": ("stop", "b", "{whom} declined"),
    "recipient.reminded": ("bell", "", "A reminder was written to {whom}"),
    "recipient.corrected": ("edit", "", "{actor} corrected {whom}"),
    "recipient.delivery_failed": ("warn", "b", "The address of {whom} was refused"),
    "recipient.link_requested": ("link", "", "{whom} asked for a new link"),
    "link.issued": ("link", "", "{actor} fetched a signing link for {whom}"),
}
UNKNOWN = ("info", "", "{actor}: {type}")
MEMBERS: Mapping[str, str] = {
    "title": "the title",
    "subject": "the subject",
    "message": "the message",
    "file": "the file",
    "recipients": "the recipients",
    "expiresAt": "the expiry date",
    "expiresInDays": "the days to sign",
    "reminders": "the reminders",
    "redirectUrl": "the page after signing",
    "locale": "the language",
    "externalId": "the reference",
    "metadata": "the notes",
}
VARIANTS = {"original": "the original", "sealed": "the sealed PDF", "certificate": "the audit certificate"}
LINKS = {
    LinkRoute.EMAIL.value: "By the link sent by e-mail",
    LinkRoute.SENDER.value: "By a link that was given to the sender",
    LinkRoute.TEST.value: "By a link of test mode",
}
NO_LINK = "By a link; how it reached them was not recorded"
CODES = {
    LinkRoute.EMAIL.value: "entered the code from the e-mail",
    LinkRoute.SENDER.value: "entered a code that was not e-mailed but kept on this server",
    LinkRoute.TEST.value: "entered a code of test mode",
}
PROOFS = {
    Method.LINK.value: "came by a link",
    Method.EMAIL_CODE.value: "entered a code",
    Method.ACCESS_CODE.value: "entered the access code",
}
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
    icon, tone, sentence = SENTENCES.get(line.type, UNKNOWN)
    data = line.data
    words = Markup(sentence).format(  # noqa: S704  (the sentences stand above; what is put in is escaped)
        actor=name_actor(line),
        whom=format_name(name_recipient(line, document)),
        members=join_words([MEMBERS.get(name, name) for name in data.get("members", ())]),
        variant=VARIANTS.get(data.get("variant", ""), "a file"),
        attempts=data.get("attempts", "several"),
        page=data.get("page", ""),
        proof=describe_proof(data),
        act=data.get("act", "finished"),
        type=line.type,
    )
    more = Markup(" · ").join(write_small_print(line, times))
    return TimelineEntry(line.seq, line.at, icon, tone, words, more)


def describe_proof(data: Mapping[str, Any]) -> str:
    """Return how the recipient was authenticated, claiming no more than was recorded."""
    if data.get("result") == "simulated":
        return "was simulated"
    code = CODES.get(data.get("code", "")) if data.get("method") == Method.EMAIL_CODE else None
    return code or PROOFS.get(data.get("method", ""), "showed who they are")


def name_actor(line: AuditEntry) -> Markup:
    """Return who acted, with as much of the name as the entry holds."""
    name = ((line.personal or {}).get("actor") or {}).get("name")
    if line.actor_kind == "system":
        by_address = line.type == "document.downloaded"
        return Markup("Somebody with a download address") if by_address else Markup("esign")
    known = name or line.actor_id or "Somebody"
    return format_name(f"API key {known}" if line.actor_kind == "api_key" else known)


def name_recipient(line: AuditEntry, document: Document) -> str:
    """Return the name of the recipient that an entry is about.

    A name that the entry recorded itself wins over the present one.
    """
    if line.actor_kind == "recipient" and (name := ((line.personal or {}).get("actor") or {}).get("name")):
        return str(name)
    return next((r.name for r in document.recipients if r.id == line.recipient_id), "a former recipient")


def format_name(name: str) -> Markup:
    """Return a name for the inside of a sentence, isolated from the sentence's writing direction."""
    return Markup("<b><bdi>{}</bdi></b>").format(name)


def join_words(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or "nothing"


def write_small_print(line: AuditEntry, times: Times) -> list[Markup]:
    personal, data = line.personal or {}, line.data
    detail: Mapping[str, Any] = personal.get("detail") or {}
    notes: list[str] = []
    if line.actor_kind == "system" and line.type in (
        "recipient.viewed",
        "recipient.completed",
        "recipient.declined",
    ):
        notes.append("Simulated")
    elif line.type in BY_LINK and line.actor_kind == "recipient":
        notes.append(LINKS.get(data.get("link", ""), NO_LINK))
    if line.type == "recipient.reminded":
        notes.append("Automatically" if line.actor_kind == "system" else f"By {name_sender(personal)}")
    if detail.get("email"):
        notes.append(str(detail["email"]))
    if detail.get("reason"):
        notes.append(f"“{detail['reason']}”")
    if "new" in detail:
        notes.append(describe_correction(detail))
    notes += describe_data(line.type, data, times)
    if line.type in SHOWS_ORIGIN:
        notes += [text for text in (personal.get("ip"), describe_browser(personal.get("userAgent"))) if text]
    return [Markup("<bdi>{}</bdi>").format(note) for note in notes]


def name_sender(personal: Mapping[str, Any]) -> str:
    return str((personal.get("actor") or {}).get("name") or "the sender")


def describe_correction(detail: Mapping[str, Any]) -> str:
    """Return the name and email address before and after a correction, as far as they changed."""
    old, new = detail["old"], detail["new"]
    return ", ".join(f"{old[name]} → {new[name]}" for name in ("name", "email") if old[name] != new[name])


def describe_data(type: str, data: Mapping[str, Any], times: Times) -> list[str]:
    changed = describe_repairs(bool(data.get("repaired")), data.get("removed") or ())
    notes = [" ".join(changed)] if changed else []
    if type == "document.completed" and data.get("level"):
        notes.append(f"Level {data['level']}")
        if data.get("timestamp"):
            notes.append(f"Time stamp of {times.second(parse(data['timestamp']))}")
        if data.get("levelAsked"):
            notes.append(f"Level {data['levelAsked']} was asked for, but no authority gave a time stamp")
    if type == "document.cancelled":
        notes.append("Recipients were told" if data.get("notified") else "Recipients were not told")
    if type == "link.issued" and data.get("expiresAt"):
        notes.append(f"Works until {times.moment(parse(data['expiresAt']))}")
    return notes
