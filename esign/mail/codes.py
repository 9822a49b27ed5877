"""The letter that brings a code, to be entered on the page that its reader has open."""

from dataclasses import dataclass

from esign.core.instant import Instant
from esign.mail.sheet import Letter, Letterhead, Sheet, draw
from esign.mail.words import Words


@dataclass(frozen=True, slots=True)
class Code:
    """Brings six digits that work for `minutes`, till `until`, to whoever has their link open."""

    head: Letterhead
    to: str
    sender: str | None
    code: str
    minutes: int
    until: Instant


def code(facts: Code) -> Letter:
    """The subject does not hold the code: it is what screens show while they are locked, and what logs keep."""

    def write(words: Words) -> Sheet:
        sender = facts.sender or facts.head.organisation
        spaced = f"{facts.code[:3]}\N{NO-BREAK SPACE}{facts.code[3:]}"
        return Sheet(
            subject=words.say("code_subject", organisation=facts.head.organisation),
            preheader=words.say("code_preheader", minutes=facts.minutes),
            heading=words.say("code_heading"),
            greeting=words.say("hello", name=facts.to),
            paragraphs=(words.say("code_lead"),),
            code=spaced,
            small=(
                words.say("code_until", minutes=facts.minutes, until=words.moment(facts.until)),
                words.say("code_small", sender=sender),
            ),
        )

    return draw(facts.head, write)
