"""Draw a letter: one sheet of words becomes HTML and its plain-text twin."""

import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from esign.core.people import brand_colours
from esign.core.people.account import COLOUR, is_wide
from esign.mail.words import LetterWords, LoadWords, load_words, write_line

if TYPE_CHECKING:
    from jinja2 import Template

WIDTH = 72
LABELS = 24
TEST_PREFIX = "[TEST] "

LOGO = (160, 40)  # the largest size in which a logo is shown, in pixels


@dataclass(frozen=True, slots=True)
class InlinePicture:
    """A PNG inside the letter, with its size in pixels; the HTML refers to it as `cid:` and its `name`."""

    name: str
    png: bytes
    width: int
    height: int

    @property
    def is_wide(self) -> bool:
        """Return whether the logo is wide enough to contain the name, which then does not stand beside it."""
        return is_wide(self.width, self.height)


@dataclass(frozen=True, slots=True)
class Letterhead:
    """The organisation that writes; `colour` is `#rrggbb`, `locale` a BCP 47 tag, `test` is true in test mode.

    Without a `logo` the initials of the organisation are shown.
    """

    organisation: str
    colour: str | None = None
    locale: str = "en"
    time_zone: str = "UTC"
    test: bool = False
    logo: InlinePicture | None = None


@dataclass(frozen=True, slots=True)
class Letter:
    subject: str
    text: str
    html: str
    inlines: tuple[InlinePicture, ...] = ()


@dataclass(frozen=True, slots=True)
class LetterRow:
    """A labelled fact; `is_name` if the label is a person's name, which may be long."""

    label: str
    value: str
    is_name: bool = False


@dataclass(frozen=True, slots=True)
class LetterNote:
    """The message of a person, as paragraphs of lines; the introduction is for the text twin."""

    introduction: str
    paragraphs: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class LetterButton:
    label: str
    link: str


@dataclass(frozen=True, slots=True)
class LetterSheet:
    """The parts that every letter shares, from top to bottom."""

    subject: str
    preheader: str
    heading: str
    greeting: str
    paragraphs: tuple[str, ...] = ()
    code: str | None = None
    note: LetterNote | None = None
    button: LetterButton | None = None
    rows: tuple[LetterRow, ...] = ()
    small: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InitialsMark:
    """The organisation's initials on its colour."""

    letters: str
    ground: str
    ink: str


def draw_letter(
    head: Letterhead, write: Callable[[LetterWords], LetterSheet], load: LoadWords = load_words
) -> Letter:
    """Return the letter. `write` is called twice, to fill a plain and a rich sheet."""
    plain, rich = (load(head.locale, head.time_zone, rich=rich) for rich in (False, True))
    sheet = write(plain)
    subject = (TEST_PREFIX if head.test else "") + sheet.subject
    inlines = (head.logo,) if head.logo else ()
    return Letter(subject, _draw_text(head, sheet, plain), _draw_html(head, write(rich), rich), inlines)


def _draw_html(head: Letterhead, sheet: LetterSheet, words: LetterWords) -> str:
    return _load_template().render(
        sheet=sheet,
        language=words.language.tag,
        direction=words.language.direction,
        start="right" if words.language.direction == "rtl" else "left",
        organisation=write_line(head.organisation),
        mark=build_mark(head.organisation, head.colour),
        tones=brand_colours.choose_tones(head.colour or COLOUR),
        logo=head.logo,
        shown=fit_logo(head.logo) if head.logo else None,
        test=words.say("test") if head.test else None,
        foot=words.say("foot", organisation=head.organisation),
    )


@cache
def _load_template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # 0.08 s, and few commands write mail

    environment = Environment(loader=PackageLoader("esign.mail"), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("letter.html")


def _draw_text(head: Letterhead, sheet: LetterSheet, words: LetterWords) -> str:
    blocks = [sheet.heading, sheet.greeting, *sheet.paragraphs]
    if head.test:
        blocks.insert(0, words.say("test"))
    blocks = [_wrap(block) for block in blocks]
    if sheet.code:
        blocks.append(f"    {sheet.code}")
    if sheet.note:
        blocks.append(_draw_note(sheet.note))
    if sheet.button:
        blocks.append(f"{sheet.button.label}:\n{sheet.button.link}")
    if sheet.rows:
        blocks.append("\n".join(_draw_rows(sheet.rows)))
    blocks += [_wrap(block) for block in sheet.small]
    blocks.append("--\n" + _wrap(words.say("foot", organisation=head.organisation)))
    return "\n\n".join(blocks) + "\n"


def _wrap(text: str, first: str = "", later: str = "") -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _draw_note(note: LetterNote) -> str:
    paragraphs = ("\n".join(_wrap(line, "  ", "  ") for line in lines) for lines in note.paragraphs)
    return _wrap(note.introduction) + "\n" + "\n\n".join(paragraphs)


def _draw_rows(rows: tuple[LetterRow, ...]) -> Iterator[str]:
    column = min(max(len(row.label) for row in rows), LABELS) + 2
    for row in rows:
        yield _wrap(row.value, row.label.ljust(column - 2) + "  ", " " * column)


def fit_logo(logo: InlinePicture) -> tuple[int, int]:
    """Return the width and height in which to show the logo: inside `LOGO`, and never enlarged."""
    scale = min(LOGO[0] / logo.width, LOGO[1] / logo.height, 1)
    return round(logo.width * scale), round(logo.height * scale)


def build_mark(organisation: str, colour: str | None) -> InitialsMark:
    """Return two initials, dark or white, whichever is legible on the colour."""
    initials = [letter for word in organisation.split() for letter in [re.search(r"[^\W_]", word)] if letter]
    ground = colour if colour and brand_colours.PATTERN.fullmatch(colour) else COLOUR
    letters = "".join(letter[0] for letter in initials[:2]).upper()
    return InitialsMark(letters, ground, brand_colours.choose_ink(ground))
