"""The letter with a code, which its recipient enters on the page that they have open."""

from dataclasses import dataclass

from esign.core.instant import Instant
from esign.mail.sheet import Letter, Letterhead, LetterSheet, draw_letter
from esign.mail.words import LetterWords


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """Facts of the letter with a six-digit code that is valid for `minutes`, until `until`."""

    head: Letterhead
    to: str
    sender: str | None
    code: str
    minutes: int
    until: Instant


def write_code_letter(facts: CodeFacts) -> Letter:
    """Return the letter. Its subject does not contain the code, because locked screens show it and logs keep it."""

    def write(words: LetterWords) -> LetterSheet:
        sender = facts.sender or facts.head.organisation
        spaced = f"{facts.code[:3]}\N{NO-BREAK SPACE}{facts.code[3:]}"
        return LetterSheet(
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

    return draw_letter(facts.head, write)
