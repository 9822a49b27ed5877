"""A language made of English for tests alone: accented, and longer by two fifths, as translations are.

`translate` makes a catalogue of it. Words grow by their vowels, so that also buttons of one word become wider. What
stands in no catalogue stays plain English, and so does what people wrote.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

ACCENTS = str.maketrans(
    "aceginosuyzACDEGHINOSUYZ",
    "áçéĝíñóşúýžÁÇĎÉĜĤÍÑÓŞÚÝŽ",
)
LONGER = 0.4
VOWEL = re.compile("[aeiouy]", re.IGNORECASE)
VOWEL_RUN = re.compile(r"([aeiouy])(\1*)", re.IGNORECASE)
KEPT = re.compile(r"(\{\w*\}|</?\w+>|&\w+;)")  # places and marks
FILLER = "öñé ţŵö ţĥŕéé föüŕ fívé şíẋ şévéñ éíĝĥţ"


def translate(catalogue: Mapping[str, Any]) -> dict[str, Any]:
    """The catalogue in that language: every text in it, at any depth."""
    return {key: translate_value(value) for key, value in catalogue.items()}


def translate_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return translate(value)
    if isinstance(value, list):
        return [translate_value(one) for one in value]
    return stretch(value) if isinstance(value, str) else value


def stretch(sentence: str) -> str:
    """The sentence with accents and two fifths longer; its places and marks stay."""
    parts = KEPT.split(sentence)
    words = [part for part in parts[::2] if any(character.isalpha() for character in part)]
    if not words:
        return sentence
    missing = math.ceil(sum(map(len, words)) * LONGER)
    grown = {}
    for part in words:
        grown[part], missing = stretch_words(part, missing)
    end = f" {FILLER[:missing].strip()}" if missing > 0 else ""
    return "".join(grown.get(part, part) for part in parts) + end


def stretch_words(text: str, missing: int) -> tuple[str, int]:
    """Draw out the vowels, each by up to two letters, until no letter is missing; return what is missing then."""
    vowels = len(VOWEL.findall(text))
    for _ in range(2):
        more = min(missing, vowels)
        text = VOWEL_RUN.sub(r"\1\1\2", text, count=more) if more else text
        missing -= more
    return text.translate(ACCENTS), missing
