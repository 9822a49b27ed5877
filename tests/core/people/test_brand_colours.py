"""Whatever colour an organisation chooses, text in it and on it can be read."""

import pytest

from esign.core.people.account import COLOUR
from esign.core.people.brand_colours import (
    DARK_DESK,
    DARK_PAPER,
    DEFAULT,
    LIGHT_DESK,
    READABLE,
    WHITE,
    choose_ink,
    choose_rule,
    choose_tones,
    contrast,
)

SHADES = ("00", "33", "66", "7f", "99", "cc", "ff")
COLOURS = [f"#{red}{green}{blue}" for red in SHADES for green in SHADES for blue in SHADES]


@pytest.mark.parametrize("colour", [*COLOURS, COLOUR])
def test_text_is_readable_in_and_on_any_colour(colour: str) -> None:
    tones = choose_tones(colour)
    for tone, grounds in ((tones.light, (WHITE, LIGHT_DESK)), (tones.dark, (DARK_PAPER, DARK_DESK))):
        for ground in (*grounds, tone.wash):
            assert contrast(tone.ground, ground) >= READABLE, ground
        assert contrast(tone.ink, tone.ground) >= READABLE and contrast(tone.ink, tone.strong) >= READABLE
    assert contrast(choose_ink(colour), colour) >= READABLE
    assert contrast(choose_rule(colour), WHITE) >= READABLE


def test_a_colour_that_can_be_read_stays_as_it_is() -> None:
    assert choose_tones("#7A4A1D").light.ground == "#7a4a1d"
    assert choose_tones("#ffe100").dark.ground == "#ffe100"
    assert choose_rule("#7a4a1d") == "#7a4a1d"


def test_the_default_and_what_is_no_colour_keep_the_accent_of_esign() -> None:
    for colour in (COLOUR, "red", "#fff", "red;background:url(x)"):
        assert choose_tones(colour) == DEFAULT


def test_contrast_is_that_of_the_guidelines() -> None:
    assert round(contrast("#000000", "#ffffff"), 2) == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48
