"""Plot measured ratios as SVG text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from html import escape

from benchmarks.measure import Figure

WIDTH, LEFT, RIGHT, TOP, LINE = 860, 250, 760, 78, 30
LOWEST, HIGHEST = 0.05, 12.0
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
# Okabe and Ito's palette, whose colours colour-blind readers can tell apart.
COLOURS = ("#0072b2", "#7f7f7f", "#e69f00", "#009e73")
STYLE = (
    "text { font: 13px system-ui, sans-serif; fill: #222 } .small { font-size: 11px; fill: #666 }"
)


def peers_plot(figures: list[Figure]) -> str:
    """Draw a line for each figure: each engine's value over the better rival's, on a log axis.

    Requires figures with `theirs` and `beside`. A bar in Colonnade's colour marks the target.
    """
    bottom = TOP + LINE * len(figures)
    names = ["Colonnade", *figures[0].beside]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 44}" role="img">',
        f"<title>Spark with {escape(', '.join(names))}</title>",
        f"<style>{STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        *_legend(names),
        *_axis(bottom),
    ]
    for place, figure in enumerate(figures):
        parts += _row(figure, TOP + LINE * place + LINE / 2)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend(names: Iterable[str]) -> Iterator[str]:
    yield _text(16, 24, "Over the better of plain Parquet and Iceberg; further left is better")
    for place, (name, colour) in enumerate(zip(names, COLOURS, strict=True)):
        x = LEFT + 130 * place
        yield _dot(x, 48, colour, ours=place == 0)
        yield _text(x + 12, 52, name)


def _axis(bottom: float) -> Iterator[str]:
    for tick in TICKS:
        x, stroke = _x(tick), "#888" if tick == 1 else "#e2e2e2"
        yield f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="{stroke}"/>'
        yield _text(x, bottom + 18, f"{tick:g}", 'text-anchor="middle" class="small"')
    yield _text(RIGHT + 12, bottom + 18, "1 is", 'class="small"')


def _row(figure: Figure, y: float) -> Iterator[str]:
    assert figure.theirs is not None
    yield _text(LEFT - 16, y + 4, figure.measure, 'text-anchor="end"')
    if figure.target is not None:
        x = _x(figure.target)
        yield f'<path d="M{x:.1f} {y - 10}v20" stroke="{COLOURS[0]}" stroke-width="2"/>'
    ratios = [value / figure.theirs for value in figure.beside.values()]
    for ratio, colour in zip(ratios, COLOURS[1:], strict=True):
        yield _dot(_x(ratio), y, colour)
    ours = figure.ours / figure.theirs if figure.ratio is None else figure.ratio
    yield _dot(_x(ours), y, COLOURS[0], ours=True)
    yield _text(RIGHT + 12, y + 4, f"{figure.theirs:.3g} {figure.unit}", 'class="small"')


def _x(ratio: float) -> float:
    """Return the x position of a ratio; a ratio beyond the axis is drawn at its end."""
    share = math.log(min(max(ratio, LOWEST), HIGHEST) / LOWEST) / math.log(HIGHEST / LOWEST)
    return LEFT + share * (RIGHT - LEFT)


def _dot(x: float, y: float, colour: str, ours: bool = False) -> str:
    radius, edge = (7, "#fff") if ours else (5, colour)
    return f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" fill="{colour}" stroke="{edge}"/>'


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y}" {attributes}>{escape(text)}</text>'
