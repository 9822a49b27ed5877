"""The colours of tokens.css can be read on their grounds, in light and dark: computed as WCAG 2.2 does."""

import re
from pathlib import Path

import pytest

import esign.web

CSS = Path(esign.web.__file__).with_name("static").joinpath("tokens.css").read_text("utf-8")
LIGHT, DARK = CSS.split("@media (prefers-color-scheme: dark)")
TEXT = [
    *((ink, ground) for ink in ("ink", "ink-soft", "ink-faint", "accent") for ground in ("paper", "desk")),
    *((tone, f"{tone}-wash") for tone in ("good", "warn", "bad")),
    *((f"{tone}-ink", tone) for tone in ("accent", "bad")),
    ("accent-ink", "accent-strong"),
    ("ink", "accent-wash"),
    ("accent", "accent-wash"),
    ("bad", "paper"),
]
EDGES = [(edge, ground) for edge in ("control", "focus") for ground in ("paper", "desk")] + [
    (f"r{n}", "paper") for n in range(1, 9)
]


def colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", css))


SCHEMES = {"light": colours(LIGHT), "dark": {**colours(LIGHT), **colours(DARK)}}


def luminance(colour: str) -> float:
    def linear(at: int) -> float:
        channel = int(colour[at : at + 2], 16) / 255
        return float(channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5)


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("least", "pairs"), [pytest.param(4.5, TEXT, id="text"), pytest.param(3, EDGES, id="edges")]
)
def test_what_is_to_be_seen_stands_out_from_its_ground(
    scheme: str, least: float, pairs: list[tuple[str, str]]
) -> None:
    tokens = SCHEMES[scheme]
    weak = {pair: contrast(tokens[pair[0]], tokens[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < least} == {}


def test_black_on_white_is_the_strongest() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
