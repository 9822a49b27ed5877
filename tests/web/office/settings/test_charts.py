from itertools import pairwise

import pytest

from esign.web.office.frame.words import load_words
from esign.web.office.settings.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    ChartColumn,
    build_chart,
    choose_top,
)

ENGLISH = load_words("en")


@pytest.mark.parametrize(
    ("most", "top"),
    [(0, 2), (1, 2), (2, 2), (3, 4), (5, 10), (11, 20), (21, 40), (41, 100), (12_345, 20_000)],
)
def test_the_axis_ends_at_a_round_even_number(most: int, top: int) -> None:
    assert choose_top(most) == top


def test_bars_stand_on_the_axis_beside_one_another_and_inside_the_picture() -> None:
    columns = [ChartColumn(f"Week {n}", str(n), (n, 10 - n)) for n in range(11)]
    chart = build_chart(("Sent", "Completed"), columns, ENGLISH)
    assert len(chart.bars) == 20, "a count of zero has no bar"
    for bar in chart.bars:
        assert bar.y + bar.height == pytest.approx(HEIGHT - BOTTOM)
        assert bar.x >= LEFT and bar.x + bar.width <= WIDTH - RIGHT and bar.height > 0
    ends = sorted((bar.x, bar.x + bar.width) for bar in chart.bars)
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    assert chart.totals == (55, 55) and [number for _, number in chart.ticks] == [0, 5, 10]


def test_the_newest_column_is_always_labelled_and_only_some_others() -> None:
    chart = build_chart(("Sent",), [ChartColumn(f"Week {n}", str(n), (n,)) for n in range(12)], ENGLISH)
    assert [text for _, text in chart.labels] == ["2", "5", "8", "11"]


def test_a_chart_without_anything_is_empty() -> None:
    assert build_chart(("Sent",), [ChartColumn("Week 1", "1", (0,))], ENGLISH).is_empty
