"""Where the seen point of a page lies in its own coordinates."""

import pytest

from esign.pdf.page.geometry import LETTER, VisibleArea, find_visible_area


@pytest.mark.parametrize(
    ("turns", "top_left", "bottom_right"),
    [
        (0, (10, 220), (110, 20)),
        (1, (10, 20), (110, 220)),
        (2, (110, 20), (10, 220)),
        (3, (110, 220), (10, 20)),
    ],
)
def test_the_seen_corners_are_corners_of_the_box(
    turns: int, top_left: tuple[float, float], bottom_right: tuple[float, float]
) -> None:
    seen = VisibleArea(10, 20, 110, 220, turns)
    assert seen.at(0, 0) == top_left
    assert seen.at(seen.width, seen.height) == bottom_right


@pytest.mark.parametrize("turns", range(4))
def test_a_cover_maps_the_corners_of_an_upright_page_to_the_seen_corners(turns: int) -> None:
    seen = VisibleArea(-50, 20, 50, 220, turns)
    a, b, c, d, e, f = seen.build_cover_matrix(30, 40)
    for x, y in ((0, 0), (30, 0), (0, 40), (30, 40), (7, 11)):
        expected = seen.at(x * seen.width / 30, seen.height - y * seen.height / 40)
        assert (a * x + c * y + e, b * x + d * y + f) == pytest.approx(expected)


def test_a_quarter_turn_swaps_the_seen_sides() -> None:
    assert (VisibleArea(0, 0, 100, 200, 0).width, VisibleArea(0, 0, 100, 200, 0).height) == (100, 200)
    assert (VisibleArea(0, 0, 100, 200, 1).width, VisibleArea(0, 0, 100, 200, 1).height) == (200, 100)


@pytest.mark.parametrize(
    ("media", "crop", "seen"),
    [
        (None, None, LETTER),
        ([0, 0, 0, 0], None, LETTER),
        ([1, 2, 3], None, LETTER),
        ([100, 200, 0, 0], None, (0, 0, 100, 200)),
        ([-50, -60, 50, 60], None, (-50, -60, 50, 60)),
        ([0, 0, 100, 200], [10, 20, 30, 40], (10, 20, 30, 40)),
        ([0, 0, 100, 200], [30, 40, 10, 20], (10, 20, 30, 40)),
        ([0, 0, 100, 200], [-10, -10, 500, 500], (0, 0, 100, 200)),
        ([0, 0, 100, 200], [50, 50, 50, 90], (0, 0, 100, 200)),
        ([0, 0, 100, 200], [300, 300, 400, 400], (0, 0, 100, 200)),
        (None, [10, 10, 20, 20], (10, 10, 20, 20)),
    ],
)
def test_the_seen_box_is_the_crop_box_within_the_media_box(
    media: list[float] | None, crop: list[float] | None, seen: tuple[float, float, float, float]
) -> None:
    found = find_visible_area(media, crop, 0)
    assert (found.x0, found.y0, found.x1, found.y1) == seen


@pytest.mark.parametrize(
    ("rotate", "turns"),
    [(0, 0), (90, 1), (180, 2), (270, 3), (360, 0), (-90, 3), (450, 1), (45, 0), (135, 1)],
)
def test_rotation_counts_in_whole_quarter_turns(rotate: float, turns: int) -> None:
    assert find_visible_area(None, None, rotate).turns == turns
