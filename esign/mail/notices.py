"""Letters to members of an organisation that consist of phrases and a few facts."""

from esign.mail.letters import write_greeting
from esign.mail.outgoing_mail import Notice
from esign.mail.sheet import LetterButton, LetterRow, LetterSheet
from esign.mail.words import LetterWords, write_line

PARTS = ("subject", "preheader", "heading", "lead", "small")


def write_notice(notice: Notice, words: LetterWords) -> LetterSheet:
    """Write the phrases `<letter>_subject`, `_preheader`, `_heading`, `_lead` and `_small` of a notice.

    Its facts are inserted into the phrases by name. A fact that has a phrase `label_<name>` also gets a row of
    its own. A fact whose name ends in `_at` is an instant. With a link there is a button, labelled
    `<letter>_button`.
    """
    facts = {name: write_fact(words, name, fact) for name, fact in notice.facts.items()}
    said = {part: words.say(f"{notice.letter}_{part}", **facts) for part in PARTS}
    return LetterSheet(
        subject=said["subject"],
        preheader=said["preheader"],
        heading=said["heading"],
        greeting=write_greeting(words, notice.to.name),
        paragraphs=(said["lead"],),
        button=LetterButton(words.say(f"{notice.letter}_button"), notice.link) if notice.link else None,
        rows=tuple(
            LetterRow(words.say(f"label_{name}"), fact)
            for name, fact in facts.items()
            if f"label_{name}" in words.phrases
        ),
        small=(said["small"],),
    )


def write_fact(words: LetterWords, name: str, fact: str | int) -> str:
    return words.moment(int(fact)) if name.endswith("_at") else write_line(str(fact))
