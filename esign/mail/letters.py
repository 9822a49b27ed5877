"""What each letter says: facts in, a letter out. Everything in the facts is data, never markup."""

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from esign.core.instant import Instant
from esign.mail.sheet import Button, Letter, Letterhead, Note, Row, Sheet, draw
from esign.mail.words import Words, line


@dataclass(frozen=True, slots=True)
class Invitation:
    """Asks `to` to sign; `sender` is a person, None when only the organisation asks."""

    head: Letterhead
    to: str
    sender: str | None
    title: str
    link: str
    pages: int
    fields: int
    minutes: int
    until: Instant | None = None
    subject: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Reminder:
    """Asks `to` again, who has filled in `filled` of `fields`."""

    head: Letterhead
    to: str
    sender: str | None
    title: str
    link: str
    filled: int
    fields: int
    now: Instant
    until: Instant | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Signed:
    """Somebody who was asked; `at` is None for who has not signed."""

    name: str
    at: Instant | None
    is_reader: bool = False


@dataclass(frozen=True, slots=True)
class Completed:
    """Brings the sealed file of `size` octets: attached, by a link that works till `until`, both, neither."""

    head: Letterhead
    to: str | None
    title: str
    signers: tuple[Signed, ...]
    sealed_at: Instant
    file_name: str
    size: int
    attached: bool
    link: str | None = None
    until: Instant | None = None


class Reader(StrEnum):
    """Whom the news of a refusal reaches: who sent it, who was asked too, who refused."""

    SENDER = "sender"
    RECIPIENT = "recipient"
    SELF = "self"


@dataclass(frozen=True, slots=True)
class Declined:
    head: Letterhead
    to: str | None
    reader: Reader
    sender: str | None
    title: str
    who: str
    at: Instant
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Expired:
    """For the sender; `signers` are all who were to sign."""

    head: Letterhead
    to: str | None
    title: str
    at: Instant
    signers: tuple[Signed, ...] = ()


@dataclass(frozen=True, slots=True)
class Cancelled:
    """For somebody who was asked; `sender` is a person, None when only the organisation withdrew it."""

    head: Letterhead
    to: str
    sender: str | None
    title: str
    at: Instant
    reason: str | None = None


def invitation(facts: Invitation) -> Letter:
    def write(words: Words) -> Sheet:
        sender = facts.sender or facts.head.organisation
        size = {"pages": words.count("pages", facts.pages), "minutes": words.count("minutes", facts.minutes)}
        if facts.fields:
            contents = words.say("invitation_document", fields=words.count("fields", facts.fields), **size)
        else:
            contents = words.say("invitation_document_bare", **size)
        rows = [Row(words.say("label_document"), contents)]
        if facts.until is not None:
            rows.append(Row(words.say("label_until"), words.moment(facts.until)))
        source = f"{facts.sender}, {facts.head.organisation}" if facts.sender else facts.head.organisation
        rows.append(Row(words.say("label_from"), line(source)))
        return Sheet(
            subject=line(facts.subject or "") or words.say("invitation_subject", title=facts.title),
            preheader=words.say("invitation_preheader", **size),
            heading=words.say("invitation_heading", sender=sender, title=facts.title),
            greeting=_greeting(words, facts.to),
            note=_note(words.say("writes", sender=sender), facts.message),
            button=Button(words.say("read_and_sign"), facts.link),
            rows=tuple(rows),
            small=(
                words.say("invitation_small"),
                words.join(_alone(words, facts.link), words.say("unexpected")),
            ),
        )

    return draw(facts.head, write)


def reminder(facts: Reminder) -> Letter:
    def write(words: Words) -> Sheet:
        names = {"sender": facts.sender or facts.head.organisation, "title": facts.title}
        filled = words.count("fields_of", facts.fields, filled=facts.filled)
        rows = [Row(words.say("label_filled"), filled)] if facts.filled else []
        preheader = words.say("reminder_preheader_bare", **names)
        if facts.until is not None:
            left = words.days_left(facts.now, facts.until)
            moment = words.say("reminder_until", until=words.moment(facts.until), left=left)
            rows.append(Row(words.say("label_until"), moment))
            key = "reminder_preheader_filled" if facts.filled else "reminder_preheader"
            preheader = words.say(key, filled=filled, until=words.day(facts.until))
        return Sheet(
            subject=words.say("reminder_subject", title=facts.title),
            preheader=preheader,
            heading=words.say("reminder_heading"),
            greeting=_greeting(words, facts.to),
            paragraphs=(words.say("reminder_kept" if facts.filled else "reminder_lead", **names),),
            note=_note(words.say("writes", sender=names["sender"]), facts.message),
            button=Button(words.say("carry_on" if facts.filled else "read_and_sign"), facts.link),
            rows=tuple(rows),
            small=(words.say("reminder_small"), _alone(words, facts.link)),
        )

    return draw(facts.head, write)


def completed(facts: Completed) -> Letter:
    key = {
        (False, False): "completed_lead",
        (True, False): "completed_attached",
        (False, True): "completed_linked",
        (True, True): "completed_both",
    }[facts.attached, facts.link is not None]

    def write(words: Words) -> Sheet:
        size = words.size(facts.size)
        small = [words.say("completed_small")]
        if facts.link and facts.until is not None:
            small.append(words.say("completed_until", until=words.moment(facts.until)))
        return Sheet(
            subject=words.say("completed_subject", title=facts.title),
            preheader=words.say("completed_preheader"),
            heading=words.say("completed_heading"),
            greeting=_greeting(words, facts.to),
            paragraphs=(words.say(key, title=facts.title),),
            button=Button(words.say("download"), facts.link) if facts.link else None,
            rows=(
                *(_signed_row(words, signed) for signed in facts.signers if signed.at is not None),
                Row(words.say("label_sealed"), words.moment(facts.sealed_at)),
                Row(words.say("label_file"), words.say("completed_file", name=facts.file_name, size=size)),
            ),
            small=tuple(small),
        )

    return draw(facts.head, write)


def declined(facts: Declined) -> Letter:
    def write(words: Words) -> Sheet:
        sender = facts.sender or facts.head.organisation
        heading = "declined_heading_self" if facts.reader is Reader.SELF else "declined_heading"
        return Sheet(
            subject=words.say("declined_subject", title=facts.title),
            preheader=words.say("declined_preheader"),
            heading=words.say(heading, who=facts.who, title=facts.title),
            greeting=_greeting(words, facts.to),
            paragraphs=(words.say(f"declined_{facts.reader}", sender=sender),),
            note=_note(words.say("reason"), facts.reason),
            rows=(Row(words.say("label_declined"), words.moment(facts.at)),),
        )

    return draw(facts.head, write)


def expired(facts: Expired) -> Letter:
    def write(words: Words) -> Sheet:
        return Sheet(
            subject=words.say("expired_subject", title=facts.title),
            preheader=words.say("expired_preheader"),
            heading=words.say("expired_heading", title=facts.title),
            greeting=_greeting(words, facts.to),
            paragraphs=(words.say("expired_lead"),),
            rows=(
                *(Row(line(signed.name), _progress(words, signed), is_name=True) for signed in facts.signers),
                Row(words.say("label_expired"), words.moment(facts.at)),
            ),
        )

    return draw(facts.head, write)


def cancelled(facts: Cancelled) -> Letter:
    def write(words: Words) -> Sheet:
        sender = facts.sender or facts.head.organisation
        return Sheet(
            subject=words.say("cancelled_subject", title=facts.title),
            preheader=words.say("cancelled_preheader"),
            heading=words.say("cancelled_heading", sender=sender, title=facts.title),
            greeting=_greeting(words, facts.to),
            paragraphs=(words.say("cancelled_lead"),),
            note=_note(words.say("reason"), facts.reason),
            rows=(Row(words.say("label_cancelled"), words.moment(facts.at)),),
        )

    return draw(facts.head, write)


def _greeting(words: Words, name: str | None) -> str:
    return words.say("hello", name=name) if name else words.say("hello_nobody")


def _alone(words: Words, link: str) -> str:
    return words.say("alone", host=urlsplit(link).netloc)


def _signed_row(words: Words, signed: Signed) -> Row:
    at = words.moment(signed.at or 0)
    return (
        Row(words.say("label_you_signed"), at)
        if signed.is_reader
        else Row(line(signed.name), at, is_name=True)
    )


def _progress(words: Words, signed: Signed) -> str:
    return (
        words.say("not_signed") if signed.at is None else words.say("signed_at", at=words.moment(signed.at))
    )


def _note(introduction: str, text: str | None) -> Note | None:
    """What a person wrote: empty lines part paragraphs, other line ends are kept."""
    parts = re.split(r"\n(?:[ \t]*\n)+", "\n".join((text or "").splitlines()))
    paragraphs = tuple(tuple(map(line, part.strip("\n").split("\n"))) for part in parts if part.strip())
    return Note(introduction, paragraphs) if paragraphs else None
