"""Adapt the colour of an organisation so that text in it and on it can be read, on light and on dark pages.

Text has a contrast of at least 4.5 (WCAG 1.4.3). A colour that is too light for light pages is darkened, one that is
too dark for dark pages is lightened; its hue stays.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from esign.core.people.account import COLOUR

READABLE = 4.5
WHITE, INK, BLACK = "#ffffff", "#1b2330", "#000000"
# Grounds of pages and mails, as in tokens.css: the desk is the one on which text has less contrast in the light.
LIGHT_DESK, DARK_PAPER, DARK_DESK = "#f4f2ee", "#1c212b", "#12151b"
STEP, WASH, STRONG = 0.04, 0.1, 0.18  # shares of the colour mixed in
PATTERN = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class Tone:
    """An accent: its ground, the ink on it, a stronger ground for what is pointed at, and a wash behind text."""

    ground: str
    ink: str
    strong: str
    wash: str


@dataclass(frozen=True, slots=True)
class BrandTones:
    """The accent of an organisation on light pages and on dark ones."""

    light: Tone
    dark: Tone


DEFAULT = BrandTones(
    Tone("#2546d8", WHITE, "#1b36b0", "#e8ecfd"), Tone("#8fa4ff", "#0d1330", "#aebcff", "#232c52")
)


@lru_cache(maxsize=256)
def choose_tones(colour: str) -> BrandTones:
    """Return the accents made of the colour; those of esign for the default colour and for what is no colour."""
    if colour.lower() == COLOUR or not PATTERN.fullmatch(colour):
        return DEFAULT
    light = adapt(colour.lower(), BLACK, LIGHT_DESK, WHITE)
    dark = adapt(colour.lower(), WHITE, DARK_PAPER, DARK_PAPER)
    return BrandTones(
        Tone(light, WHITE, mix(light, BLACK, STRONG), mix(WHITE, light, WASH)),
        Tone(dark, DARK_DESK, mix(dark, WHITE, STRONG), mix(DARK_PAPER, dark, WASH)),
    )


def adapt(colour: str, toward: str, ground: str, paper: str) -> str:
    """Return the colour, mixed with `toward` until it can be read on the ground and on its own wash on the paper."""
    share, mixed = 0.0, colour
    while min(contrast(mixed, ground), contrast(mixed, mix(paper, mixed, WASH))) < READABLE:
        share += STEP
        mixed = mix(colour, toward, min(share, 1.0))
    return mixed


def choose_rule(colour: str) -> str:
    """Return the colour of lines and names on paper: as it is where it can be read on white, else darkened."""
    return colour if contrast(colour, WHITE) >= READABLE else adapt(colour, BLACK, LIGHT_DESK, WHITE)


def choose_ink(ground: str) -> str:
    """Return the colour of text on the ground: white, else a dark grey, else black."""
    return next((ink for ink in (WHITE, INK) if contrast(ink, ground) >= READABLE), BLACK)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    darker, lighter = sorted((measure_luminance(one), measure_luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def measure_luminance(colour: str) -> float:
    """Return the relative luminance, from 0 to 1."""
    red, green, blue = (linearise(channel / 255) for channel in split_channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def linearise(channel: float) -> float:
    """Return an sRGB channel between 0 and 1 as linear light."""
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)


def mix(one: str, other: str, share: float) -> str:
    """Return the first colour with a share of the second mixed in."""
    pairs = zip(split_channels(one), split_channels(other), strict=True)
    # Not round(): the page that tries a colour rounds halves up.
    return "#" + "".join(f"{int(a + (b - a) * share + 0.5):02x}" for a, b in pairs)


def split_channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of `#rrggbb`, from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
