"""Letters about documents that ended without a seal, and to recipients who are no longer asked."""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.instant import Instant
from esign.mail.letters import LetterPart, SignerProgress, build_note, write_greeting
from esign.mail.sheet import Letter, Letterhead, LetterRow, LetterSheet, draw_letter
from esign.mail.words import LetterWords, write_line


class DeclineReader(StrEnum):
    """Who reads the letter about a refusal: the sender, another recipient, or the person who declined."""

    SENDER = "sender"
    RECIPIENT = "recipient"
    SELF = "self"


@dataclass(frozen=True, slots=True)
class DeclinedFacts:
    head: Letterhead
    to: str | None
    reader: DeclineReader
    sender: str | None
    title: str
    who: str
    at: Instant
    reason: str | None = None
    part: LetterPart = LetterPart.SIGN


@dataclass(frozen=True, slots=True)
class ExpiredFacts:
    """Facts for the sender of an expired document; `signers` are all who were to sign."""

    head: Letterhead
    to: str | None
    title: str
    at: Instant
    signers: tuple[SignerProgress, ...] = ()


@dataclass(frozen=True, slots=True)
class RenewalFacts:
    """Facts for the sender of a document that expired at `at`: `who` asks for a new link."""

    head: Letterhead
    to: str | None
    title: str
    who: str
    email: str
    at: Instant


@dataclass(frozen=True, slots=True)
class CancelledFacts:
    """Facts for a recipient who was asked; `sender` is a person, or None if only the organisation is named."""

    head: Letterhead
    to: str
    sender: str | None
    title: str
    at: Instant
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class CorrectedFacts:
    """Facts for the former address of a recipient; `sender` is a person, or None if only the organisation is named.

    `address` is the new address, already masked.
    """

    head: Letterhead
    to: str | None
    sender: str | None
    title: str
    address: str


def write_declined_letter(facts: DeclinedFacts) -> Letter:
    def write(words: LetterWords) -> LetterSheet:
        sender = facts.sender or facts.head.organisation
        heading = "declined_heading_self" if facts.reader is DeclineReader.SELF else "declined_heading"
        heading = f"{heading}_{facts.part}"
        return LetterSheet(
            subject=words.say("declined_subject", title=facts.title),
            preheader=words.say("declined_preheader"),
            heading=words.say(heading, who=facts.who, title=facts.title),
            greeting=write_greeting(words, facts.to),
            paragraphs=(words.say(f"declined_{facts.reader}", sender=sender),),
            note=build_note(words.say("reason"), facts.reason),
            rows=(LetterRow(words.say("label_declined"), words.moment(facts.at)),),
        )

    return draw_letter(facts.head, write)


def write_expired_letter(facts: ExpiredFacts) -> Letter:
    def write(words: LetterWords) -> LetterSheet:
        return LetterSheet(
            subject=words.say("expired_subject", title=facts.title),
            preheader=words.say("expired_preheader"),
            heading=words.say("expired_heading", title=facts.title),
            greeting=write_greeting(words, facts.to),
            paragraphs=(words.say("expired_lead"),),
            rows=(
                *(
                    LetterRow(write_line(signed.name), _describe_progress(words, signed), is_name=True)
                    for signed in facts.signers
                ),
                LetterRow(words.say("label_expired"), words.moment(facts.at)),
            ),
        )

    return draw_letter(facts.head, write)


def write_renewal_letter(facts: RenewalFacts) -> Letter:
    def write(words: LetterWords) -> LetterSheet:
        return LetterSheet(
            subject=words.say("renewal_subject", who=facts.who, title=facts.title),
            preheader=words.say("renewal_preheader"),
            heading=words.say("renewal_heading", who=facts.who, title=facts.title),
            greeting=write_greeting(words, facts.to),
            paragraphs=(words.say("renewal_lead", who=facts.who), words.say("renewal_how")),
            rows=(
                LetterRow(write_line(facts.who), write_line(facts.email), is_name=True),
                LetterRow(words.say("label_expired"), words.moment(facts.at)),
            ),
            small=(words.say("renewal_small"),),
        )

    return draw_letter(facts.head, write)


def write_cancelled_letter(facts: CancelledFacts) -> Letter:
    def write(words: LetterWords) -> LetterSheet:
        sender = facts.sender or facts.head.organisation
        return LetterSheet(
            subject=words.say("cancelled_subject", title=facts.title),
            preheader=words.say("cancelled_preheader"),
            heading=words.say("cancelled_heading", sender=sender, title=facts.title),
            greeting=write_greeting(words, facts.to),
            paragraphs=(words.say("cancelled_lead"),),
            note=build_note(words.say("reason"), facts.reason),
            rows=(LetterRow(words.say("label_cancelled"), words.moment(facts.at)),),
        )

    return draw_letter(facts.head, write)


def write_corrected_letter(facts: CorrectedFacts) -> Letter:
    def write(words: LetterWords) -> LetterSheet:
        return LetterSheet(
            subject=words.say("corrected_subject", title=facts.title),
            preheader=words.say("corrected_preheader"),
            heading=words.say("corrected_heading", title=facts.title),
            greeting=write_greeting(words, facts.to),
            paragraphs=(
                words.say("corrected_lead", sender=facts.sender or facts.head.organisation),
                words.say("corrected_to", address=facts.address),
            ),
            small=(words.say("corrected_small"),),
        )

    return draw_letter(facts.head, write)


def _describe_progress(words: LetterWords, signed: SignerProgress) -> str:
    if signed.at is None:
        return words.say(f"{signed.part}_missing")
    return words.say(f"{signed.part}_done", at=words.moment(signed.at))
