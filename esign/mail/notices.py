"""Letters to those who look after an organisation: each is made of its phrases and the facts named in them."""

from collections.abc import Mapping
from dataclasses import dataclass

from esign.mail.sheet import Button, Letter, Letterhead, Row, Sheet, draw
from esign.mail.words import Words, line


@dataclass(frozen=True, slots=True)
class Notice:
    """`letter` names its phrases: `<letter>_subject`, `_preheader`, `_heading`, `_lead`, `_small`.

    `facts` stand in the phrases by name, those that have a phrase `label_<name>` also below them in a row each;
    one whose name ends in `_at` is an instant. With a `link` there is a button, which says `<letter>_button`.
    """

    head: Letterhead
    to: str | None
    letter: str
    facts: Mapping[str, str | int]
    link: str | None = None


def notice(given: Notice) -> Letter:
    def write(words: Words) -> Sheet:
        facts = {name: told(words, name, fact) for name, fact in given.facts.items()}
        said = {part: words.say(f"{given.letter}_{part}", **facts) for part in PARTS}
        return Sheet(
            subject=said["subject"],
            preheader=said["preheader"],
            heading=said["heading"],
            greeting=words.say("hello", name=given.to) if given.to else words.say("hello_nobody"),
            paragraphs=(said["lead"],),
            button=Button(words.say(f"{given.letter}_button"), given.link) if given.link else None,
            rows=tuple(
                Row(words.say(f"label_{name}"), fact)
                for name, fact in facts.items()
                if f"label_{name}" in words.phrases
            ),
            small=(said["small"],),
        )

    return draw(given.head, write)


PARTS = ("subject", "preheader", "heading", "lead", "small")


def told(words: Words, name: str, fact: str | int) -> str:
    return words.moment(int(fact)) if name.endswith("_at") else line(str(fact))
