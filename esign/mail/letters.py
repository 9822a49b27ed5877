"""Letters about signing: facts in, a letter out. Everything in the facts is data, never markup."""

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from esign.core.instant import Instant
from esign.mail.sheet import Letter, LetterButton, Letterhead, LetterNote, LetterRow, LetterSheet, draw_letter
from esign.mail.words import LetterWords, write_line


class LetterPart(StrEnum):
    """What a letter asks of its reader; the values are parts of the keys of phrases."""

    SIGN = "sign"
    APPROVE = "approve"
    READ = "read"


@dataclass(frozen=True, slots=True)
class InvitationFacts:
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
    part: LetterPart = LetterPart.SIGN


@dataclass(frozen=True, slots=True)
class ReminderFacts:
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
    part: LetterPart = LetterPart.SIGN


@dataclass(frozen=True, slots=True)
class SignerProgress:
    """A recipient who was asked to sign or approve; `at` is None if they have not done so yet."""

    name: str
    at: Instant | None
    is_reader: bool = False
    part: LetterPart = LetterPart.SIGN


@dataclass(frozen=True, slots=True)
class CompletedFacts:
    """Facts for sending the sealed file of `size` octets: attached, by a link that works until `until`, both,
    or neither.

    `copied_by` names the sender of a copy to a recipient who had nothing to do.
    """

    head: Letterhead
    to: str | None
    title: str
    signers: tuple[SignerProgress, ...]
    sealed_at: Instant
    file_name: str
    size: int
    attached: bool
    link: str | None = None
    until: Instant | None = None
    copied_by: str | None = None


def write_invitation(facts: InvitationFacts) -> Letter:
    def write(words: LetterWords) -> LetterSheet:
        sender = facts.sender or facts.head.organisation
        size = {"pages": words.count("pages", facts.pages), "minutes": words.count("minutes", facts.minutes)}
        if facts.fields:
            contents = words.say("invitation_document", fields=words.count("fields", facts.fields), **size)
        else:
            contents = words.say("invitation_document_bare", **size)
        rows = [LetterRow(words.say("label_document"), contents)]
        if facts.until is not None:
            rows.append(LetterRow(words.say("label_until"), words.moment(facts.until)))
        source = f"{facts.sender}, {facts.head.organisation}" if facts.sender else facts.head.organisation
        rows.append(LetterRow(words.say("label_from"), write_line(source)))
        return LetterSheet(
            subject=write_line(facts.subject or "")
            or words.say(f"invitation_subject_{facts.part}", title=facts.title),
            preheader=words.say("invitation_preheader", **size),
            heading=words.say(f"invitation_heading_{facts.part}", sender=sender, title=facts.title),
            greeting=write_greeting(words, facts.to),
            note=build_note(words.say("writes", sender=sender), facts.message),
            button=LetterButton(words.say(f"begin_{facts.part}"), facts.link),
            rows=tuple(rows),
            small=(
                words.say(f"invitation_small_{facts.part}"),
                words.join(_write_link_warning(words, facts.link), words.say("unexpected")),
            ),
        )

    return draw_letter(facts.head, write)


def write_reminder(facts: ReminderFacts) -> Letter:
    def write(words: LetterWords) -> LetterSheet:
        names = {"sender": facts.sender or facts.head.organisation, "title": facts.title}
        filled = words.count("fields_of", facts.fields, filled=facts.filled)
        rows = [LetterRow(words.say("label_filled"), filled)] if facts.filled else []
        preheader = words.say("reminder_preheader_bare", **names)
        if facts.until is not None:
            left = words.days_left(facts.now, facts.until)
            moment = words.say("reminder_until", until=words.moment(facts.until), left=left)
            rows.append(LetterRow(words.say("label_until"), moment))
            key = "reminder_preheader_filled" if facts.filled else "reminder_preheader"
            preheader = words.say(key, filled=filled, until=words.day(facts.until))
        return LetterSheet(
            subject=words.say(f"reminder_subject_{facts.part}", title=facts.title),
            preheader=preheader,
            heading=words.say(f"reminder_heading_{facts.part}"),
            greeting=write_greeting(words, facts.to),
            paragraphs=(words.say(f"reminder_{'kept' if facts.filled else 'lead'}_{facts.part}", **names),),
            note=build_note(words.say("writes", sender=names["sender"]), facts.message),
            button=LetterButton(words.say("carry_on" if facts.filled else f"begin_{facts.part}"), facts.link),
            rows=tuple(rows),
            small=(words.say(f"reminder_small_{facts.part}"), _write_link_warning(words, facts.link)),
        )

    return draw_letter(facts.head, write)


def write_completed_letter(facts: CompletedFacts) -> Letter:
    key = {
        (False, False): "completed_lead",
        (True, False): "completed_attached",
        (False, True): "completed_linked",
        (True, True): "completed_both",
    }[facts.attached, facts.link is not None]

    def write(words: LetterWords) -> LetterSheet:
        size = words.size(facts.size)
        lead = [words.say(key, title=facts.title)]
        if facts.copied_by:
            lead.append(words.say("completed_copy", sender=facts.copied_by))
        small = [words.say("completed_small")]
        if facts.link and facts.until is not None:
            small.append(words.say("completed_until", until=words.moment(facts.until)))
        return LetterSheet(
            subject=words.say("completed_subject", title=facts.title),
            preheader=words.say("completed_preheader"),
            heading=words.say("completed_heading"),
            greeting=write_greeting(words, facts.to),
            paragraphs=tuple(lead),
            button=LetterButton(words.say("download"), facts.link) if facts.link else None,
            rows=(
                *(_build_signed_row(words, signed) for signed in facts.signers if signed.at is not None),
                LetterRow(words.say("label_sealed"), words.moment(facts.sealed_at)),
                LetterRow(
                    words.say("label_file"), words.say("completed_file", name=facts.file_name, size=size)
                ),
            ),
            small=tuple(small),
        )

    return draw_letter(facts.head, write)


def write_greeting(words: LetterWords, name: str | None) -> str:
    return words.say("hello", name=name) if name else words.say("hello_nobody")


def _write_link_warning(words: LetterWords, link: str) -> str:
    return words.say("alone", host=urlsplit(link).netloc)


def _build_signed_row(words: LetterWords, signed: SignerProgress) -> LetterRow:
    at = words.moment(signed.at or 0)
    if signed.is_reader:
        return LetterRow(words.say(f"label_you_{signed.part}"), at)
    if signed.part is LetterPart.APPROVE:
        at = words.say("approve_done", at=at)
    return LetterRow(write_line(signed.name), at, is_name=True)


def build_note(introduction: str, text: str | None) -> LetterNote | None:
    """Return the message of a person: empty lines separate paragraphs, other line ends are kept.

    None if it is blank.
    """
    parts = re.split(r"\n(?:[ \t]*\n)+", "\n".join((text or "").splitlines()))
    paragraphs = tuple(tuple(map(write_line, part.strip("\n").split("\n"))) for part in parts if part.strip())
    return LetterNote(introduction, paragraphs) if paragraphs else None
