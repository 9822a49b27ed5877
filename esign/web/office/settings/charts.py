"""Work out the charts of the usage page: columns of bars with their axis, and the same numbers as a table.

The template draws them as SVG. Positions are in the units of a view box of `WIDTH` by `HEIGHT`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from esign.web.office.frame.words import OfficeWords

WIDTH, HEIGHT = 300, 190
LEFT, RIGHT, TOP, BOTTOM = 34, 10, 10, 24  # room around the bars, for numbers and labels
ROOM = 0.36  # of the width of a column is left free beside its bars
STEPS = (2, 4, 10)  # tops of the axis, and ten, a hundred ... times as much
LABELS = 4  # at most so many columns are labelled below the axis


@dataclass(frozen=True, slots=True)
class ChartColumn:
    """A column as it is given: its full name, a short one for the axis, and a count for each series."""

    name: str
    short: str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A bar to draw; `series` counts from 0, and `text` says what it stands for."""

    series: int
    x: float
    y: float
    width: float
    height: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart to draw. `ticks` are heights with their numbers, `labels` positions with their names."""

    series: tuple[str, ...]
    columns: tuple[ChartColumn, ...]
    bars: tuple[ChartBar, ...]
    ticks: tuple[tuple[float, int], ...]
    labels: tuple[tuple[float, str], ...]
    totals: tuple[int, ...]

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to show."""
        return not any(self.totals)


def build_chart(series: Sequence[str], columns: Sequence[ChartColumn], t: OfficeWords) -> Chart:
    """Return the chart of at least one column; each has one count for each series."""
    top = choose_top(max(number for column in columns for number in column.counts))
    step = (WIDTH - LEFT - RIGHT) / len(columns)
    every = -(-len(columns) // LABELS)
    last = len(columns) - 1
    return Chart(
        series=tuple(series),
        columns=tuple(columns),
        bars=tuple(
            bar
            for n, column in enumerate(columns)
            for bar in place_bars(series, column, LEFT + n * step, step, top, t)
        ),
        ticks=tuple((measure_height(number, top), number) for number in (0, top // 2, top)),
        labels=tuple(
            (round(LEFT + (n + 0.5) * step, 1), column.short)
            for n, column in enumerate(columns)
            if (last - n) % every == 0
        ),
        totals=tuple(sum(column.counts[n] for column in columns) for n in range(len(series))),
    )


def place_bars(
    series: Sequence[str], column: ChartColumn, left: float, step: float, top: int, t: OfficeWords
) -> list[ChartBar]:
    """Return the bars of one column, side by side; a count of zero has none."""
    width = step * (1 - ROOM) / len(series)
    first = left + step * ROOM / 2
    return [
        ChartBar(
            series=n,
            x=round(first + n * width, 1),
            y=(y := measure_height(number, top)),
            width=round(width - 1, 1),
            height=round(HEIGHT - BOTTOM - y, 1),
            text=t("settings.usage.bar", column=column.name, series=series[n], number=t.group(number)),
        )
        for n, number in enumerate(column.counts)
        if number
    ]


def measure_height(number: int, top: int) -> float:
    """Return where a number stands on the axis, from above."""
    return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * number / top, 1)


def choose_top(most: int) -> int:
    """Return a round and even number that is at least `most`, for the end of the axis."""
    power = 1
    while True:
        for step in STEPS:
            if step * power >= most:
                return step * power
        power *= 10
