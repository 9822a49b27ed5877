"""Letters about documents that ended without a seal, and to recipients who are no longer asked."""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.instant import Instant
from esign.mail.letters import Part, Signed, greeting, note
from esign.mail.sheet import Letter, Letterhead, Row, Sheet, draw
from esign.mail.words import Words, line


class Reader(StrEnum):
    """Who reads the letter about a refusal: the sender, another recipient, or the person who declined."""

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
    part: Part = Part.SIGN


@dataclass(frozen=True, slots=True)
class Expired:
    """Facts for the sender of an expired document; `signers` are all who were to sign."""

    head: Letterhead
    to: str | None
    title: str
    at: Instant
    signers: tuple[Signed, ...] = ()


@dataclass(frozen=True, slots=True)
class Renewal:
    """Facts for the sender of a document that expired at `at`: `who` asks for a new link."""

    head: Letterhead
    to: str | None
    title: str
    who: str
    email: str
    at: Instant


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Facts for a recipient who was asked; `sender` is a person, or None if only the organisation is named."""

    head: Letterhead
    to: str
    sender: str | None
    title: str
    at: Instant
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Corrected:
    """Facts for the former address of a recipient; `sender` is a person, or None if only the organisation is named.

    `address` is the new address, already masked.
    """

    head: Letterhead
    to: str | None
    sender: str | None
    title: str
    address: str


def declined(facts: Declined) -> Letter:
    def write(words: Words) -> Sheet:
        sender = facts.sender or facts.head.organisation
        heading = "declined_heading_self" if facts.reader is Reader.SELF else "declined_heading"
        heading = f"{heading}_{facts.part}"
        return Sheet(
            subject=words.say("declined_subject", title=facts.title),
            preheader=words.say("declined_preheader"),
            heading=words.say(heading, who=facts.who, title=facts.title),
            greeting=greeting(words, facts.to),
            paragraphs=(words.say(f"declined_{facts.reader}", sender=sender),),
            note=note(words.say("reason"), facts.reason),
            rows=(Row(words.say("label_declined"), words.moment(facts.at)),),
        )

    return draw(facts.head, write)


def expired(facts: Expired) -> Letter:
    def write(words: Words) -> Sheet:
        return Sheet(
            subject=words.say("expired_subject", title=facts.title),
            preheader=words.say("expired_preheader"),
            heading=words.say("expired_heading", title=facts.title),
            greeting=greeting(words, facts.to),
            paragraphs=(words.say("expired_lead"),),
            rows=(
                *(Row(line(signed.name), _progress(words, signed), is_name=True) for signed in facts.signers),
                Row(words.say("label_expired"), words.moment(facts.at)),
            ),
        )

    return draw(facts.head, write)


def renewal(facts: Renewal) -> Letter:
    def write(words: Words) -> Sheet:
        return Sheet(
            subject=words.say("renewal_subject", who=facts.who, title=facts.title),
            preheader=words.say("renewal_preheader"),
            heading=words.say("renewal_heading", who=facts.who, title=facts.title),
            greeting=greeting(words, facts.to),
            paragraphs=(words.say("renewal_lead", who=facts.who), words.say("renewal_how")),
            rows=(
                Row(line(facts.who), line(facts.email), is_name=True),
                Row(words.say("label_expired"), words.moment(facts.at)),
            ),
            small=(words.say("renewal_small"),),
        )

    return draw(facts.head, write)


def cancelled(facts: Cancelled) -> Letter:
    def write(words: Words) -> Sheet:
        sender = facts.sender or facts.head.organisation
        return Sheet(
            subject=words.say("cancelled_subject", title=facts.title),
            preheader=words.say("cancelled_preheader"),
            heading=words.say("cancelled_heading", sender=sender, title=facts.title),
            greeting=greeting(words, facts.to),
            paragraphs=(words.say("cancelled_lead"),),
            note=note(words.say("reason"), facts.reason),
            rows=(Row(words.say("label_cancelled"), words.moment(facts.at)),),
        )

    return draw(facts.head, write)


def corrected(facts: Corrected) -> Letter:
    def write(words: Words) -> Sheet:
        return Sheet(
            subject=words.say("corrected_subject", title=facts.title),
            preheader=words.say("corrected_preheader"),
            heading=words.say("corrected_heading", title=facts.title),
            greeting=greeting(words, facts.to),
            paragraphs=(
                words.say("corrected_lead", sender=facts.sender or facts.head.organisation),
                words.say("corrected_to", address=facts.address),
            ),
            small=(words.say("corrected_small"),),
        )

    return draw(facts.head, write)


def _progress(words: Words, signed: Signed) -> str:
    if signed.at is None:
        return words.say(f"{signed.part}_missing")
    return words.say(f"{signed.part}_done", at=words.moment(signed.at))
