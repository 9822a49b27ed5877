"""Letters about signing: facts in, a letter out. Everything in the facts is data, never markup."""

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from esign.core.instant import Instant
from esign.mail.sheet import Button, Letter, Letterhead, Note, Row, Sheet, draw
from esign.mail.words import Words, line


class Part(StrEnum):
    """What a letter asks of its reader; the values are parts of the keys of phrases."""

    SIGN = "sign"
    APPROVE = "approve"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Invitation:
    """Facts for asking `to` to sign, approve or read; `sender` is a person, or None if only the organisation asks."""

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
    part: Part = Part.SIGN


@dataclass(frozen=True, slots=True)
class Reminder:
    """Facts for reminding `to`, who has filled in `filled` of `fields`, to sign or to approve."""

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
    part: Part = Part.SIGN


@dataclass(frozen=True, slots=True)
class Signed:
    """A recipient who was asked to sign or approve; `at` is None if they have not done so yet."""

    name: str
    at: Instant | None
    is_reader: bool = False
    part: Part = Part.SIGN


@dataclass(frozen=True, slots=True)
class Completed:
    """Facts for sending the sealed file of `size` octets: attached, by a link that works until `until`, both,
    or neither.

    `copied_by` names the sender of a copy to a recipient who had nothing to do.
    """

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
    copied_by: str | None = None


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
            subject=line(facts.subject or "")
            or words.say(f"invitation_subject_{facts.part}", title=facts.title),
            preheader=words.say("invitation_preheader", **size),
            heading=words.say(f"invitation_heading_{facts.part}", sender=sender, title=facts.title),
            greeting=greeting(words, facts.to),
            note=note(words.say("writes", sender=sender), facts.message),
            button=Button(words.say(f"begin_{facts.part}"), facts.link),
            rows=tuple(rows),
            small=(
                words.say(f"invitation_small_{facts.part}"),
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
            subject=words.say(f"reminder_subject_{facts.part}", title=facts.title),
            preheader=preheader,
            heading=words.say(f"reminder_heading_{facts.part}"),
            greeting=greeting(words, facts.to),
            paragraphs=(words.say(f"reminder_{'kept' if facts.filled else 'lead'}_{facts.part}", **names),),
            note=note(words.say("writes", sender=names["sender"]), facts.message),
            button=Button(words.say("carry_on" if facts.filled else f"begin_{facts.part}"), facts.link),
            rows=tuple(rows),
            small=(words.say(f"reminder_small_{facts.part}"), _alone(words, facts.link)),
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
        lead = [words.say(key, title=facts.title)]
        if facts.copied_by:
            lead.append(words.say("completed_copy", sender=facts.copied_by))
        small = [words.say("completed_small")]
        if facts.link and facts.until is not None:
            small.append(words.say("completed_until", until=words.moment(facts.until)))
        return Sheet(
            subject=words.say("completed_subject", title=facts.title),
            preheader=words.say("completed_preheader"),
            heading=words.say("completed_heading"),
            greeting=greeting(words, facts.to),
            paragraphs=tuple(lead),
            button=Button(words.say("download"), facts.link) if facts.link else None,
            rows=(
                *(_signed_row(words, signed) for signed in facts.signers if signed.at is not None),
                Row(words.say("label_sealed"), words.moment(facts.sealed_at)),
                Row(words.say("label_file"), words.say("completed_file", name=facts.file_name, size=size)),
            ),
            small=tuple(small),
        )

    return draw(facts.head, write)


def greeting(words: Words, name: str | None) -> str:
    return words.say("hello", name=name) if name else words.say("hello_nobody")


def _alone(words: Words, link: str) -> str:
    return words.say("alone", host=urlsplit(link).netloc)


def _signed_row(words: Words, signed: Signed) -> Row:
    at = words.moment(signed.at or 0)
    if signed.is_reader:
        return Row(words.say(f"label_you_{signed.part}"), at)
    if signed.part is Part.APPROVE:
        at = words.say("approve_done", at=at)
    return Row(line(signed.name), at, is_name=True)


def note(introduction: str, text: str | None) -> Note | None:
    """Return the message of a person: empty lines separate paragraphs, other line ends are kept.

    None if it is blank.
    """
    parts = re.split(r"\n(?:[ \t]*\n)+", "\n".join((text or "").splitlines()))
    paragraphs = tuple(tuple(map(line, part.strip("\n").split("\n"))) for part in parts if part.strip())
    return Note(introduction, paragraphs) if paragraphs else None
