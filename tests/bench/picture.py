"""A growth curve as SVG: both axes logarithmic, readable on light and on dark, each line with a mark of its own."""

from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10
from pathlib import Path

WIDTH, HEIGHT = 760, 470
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 150
COLOURS = (  # on light, on dark: told apart by people who see fewer colours too
    ("#0072b2", "#56b4e9"),
    ("#b34700", "#e69f00"),
    ("#00795c", "#2fc79b"),
    ("#a3457f", "#e29ac4"),
    ("#5b4ba8", "#b3a6f2"),
    ("#5f5f5f", "#b8b8b8"),
)
STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-weight: 600; font-size: 15px }
    .grid { stroke: #d4d9df; stroke-width: 1 }
    path { fill: none; stroke-width: 2 }
    @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .grid { stroke: #3d444d } }
"""


def draw(path: Path, title: str, curves: Mapping[str, Mapping[int, float]]) -> None:
    """`curves` holds milliseconds by the number of documents, by name."""
    sizes = sorted(next(iter(curves.values())))
    values = [value for curve in curves.values() for value in curve.values()]
    lowest, highest = floor(log10(min(values))), floor(log10(max(values))) + 1

    def across(size: int) -> float:
        share = (log10(size) - log10(sizes[0])) / (log10(sizes[-1]) - log10(sizes[0]))
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def down(value: float) -> float:
        share = (log10(value) - lowest) / (highest - lowest)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
        f"<style>{STYLE}{''.join(shades())}</style>",
        f'<text class="title" x="{LEFT}" y="22">{title}</text>',
    ]
    for power in range(lowest, highest + 1):
        y = down(10.0**power)
        lines.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} ms</text>')
    for size in sizes:
        anchor = "start" if size == sizes[0] else "end" if size == sizes[-1] else "middle"
        lines.append(
            f'<text x="{across(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="{anchor}">{size:,}</text>'
        )
    for n, (name, curve) in enumerate(curves.items()):
        points = [(across(size), down(curve[size])) for size in sizes]
        lines += line(n, name, points)
    path.write_text("\n".join([*lines, "</svg>", ""]), "utf-8")


def shades() -> Iterator[str]:
    for n, (light, dark) in enumerate(COLOURS):
        yield f"    .c{n} {{ stroke: {light} }} .c{n}.dot {{ fill: {light} }}\n"
        yield f"    @media (prefers-color-scheme: dark) {{ .c{n} {{ stroke: {dark} }} .c{n}.dot {{ fill: {dark} }} }}\n"


def line(n: int, name: str, points: Sequence[tuple[float, float]]) -> Iterator[str]:
    """A curve with its marks, and its name in one of two columns below."""
    steps = " ".join(f"{'L' if m else 'M'}{x:.1f} {y:.1f}" for m, (x, y) in enumerate(points))
    yield f'<path class="c{n}" d="{steps}"/>'
    yield from (mark(n, x, y) for x, y in points)
    x, y = LEFT + n % 2 * 340, HEIGHT - BOTTOM + 52 + n // 2 * 26
    yield f'<path class="c{n}" d="M{x} {y}h34"/>{mark(n, x + 17, y)}'
    yield f'<text x="{x + 44}" y="{y + 4}">{name}</text>'


def mark(n: int, x: float, y: float) -> str:
    if n % 3 == 0:
        return f'<circle class="c{n} dot" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    if n % 3 == 1:
        return f'<rect class="c{n} dot" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>'
    return f'<path class="c{n} dot" d="M{x:.1f} {y - 5:.1f}l5 9h-10z"/>'
