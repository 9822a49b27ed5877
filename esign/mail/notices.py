"""Letters to members of an organisation that consist of phrases and a few facts."""

from collections.abc import Mapping
from dataclasses import dataclass

from esign.mail.sheet import Letter, LetterButton, Letterhead, LetterRow, LetterSheet, draw_letter
from esign.mail.words import LetterWords, write_line


@dataclass(frozen=True, slots=True)
class NoticeFacts:
    """The letter named `letter`, with its phrases `<letter>_subject`, `_preheader`, `_heading`, `_lead` and
    `_small`.

    `facts` are inserted into the phrases by name. A fact that has a phrase `label_<name>` also gets a row of
    its own. A fact whose name ends in `_at` is an instant. With a `link` there is a button, labelled
    `<letter>_button`.
    """

    head: Letterhead
    to: str | None
    letter: str
    facts: Mapping[str, str | int]
    link: str | None = None


def write_notice(given: NoticeFacts) -> Letter:
    def write(words: LetterWords) -> LetterSheet:
        facts = {name: write_fact(words, name, fact) for name, fact in given.facts.items()}
        said = {part: words.say(f"{given.letter}_{part}", **facts) for part in PARTS}
        return LetterSheet(
            subject=said["subject"],
            preheader=said["preheader"],
            heading=said["heading"],
            greeting=words.say("hello", name=given.to) if given.to else words.say("hello_nobody"),
            paragraphs=(said["lead"],),
            button=LetterButton(words.say(f"{given.letter}_button"), given.link) if given.link else None,
            rows=tuple(
                LetterRow(words.say(f"label_{name}"), fact)
                for name, fact in facts.items()
                if f"label_{name}" in words.phrases
            ),
            small=(said["small"],),
        )

    return draw_letter(given.head, write)


PARTS = ("subject", "preheader", "heading", "lead", "small")


def write_fact(words: LetterWords, name: str, fact: str | int) -> str:
    return words.moment(int(fact)) if name.endswith("_at") else write_line(str(fact))
