"""Draw the charts of the report as SVG text, which scales with the page.

Colours are CSS classes, so that the page can have a dark theme. Each drawing has a title for
screen readers, and each mark has a title that a pointer shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

from colonnade.manifests.sizes import size_text
from colonnade.tableformat.table.report.chart_data import (
    DELETED_EDGES,
    AgeCell,
    Bin,
    KeyOverlap,
    Step,
)

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 76, 8, 14, 34
_INNER_WIDTH = WIDTH - LEFT - RIGHT
_INNER_HEIGHT = HEIGHT - TOP - BOTTOM
_BASE = TOP + _INNER_HEIGHT

FAMILIES = {
    "write": ("append", "overwrite", "overwrite_partitions", "replace_table"),
    "change": ("delete", "update", "upsert", "merge", "transaction", "repair"),
    "compaction": ("compact",),
    "keep": ("tag", "untag", "pin", "unpin", "restore", "vacuum", "lease"),
}
"""Operations by their colour on the line of epochs; other operations have the colour `table`."""


def family(operation: str) -> str:
    """Return the family of an operation: a key of `FAMILIES`, or `table`."""
    return next((name for name, known in FAMILIES.items() if operation in known), "table")


def epoch_line(steps: Sequence[Step]) -> str:
    """Draw one bar for each epoch; its height is the number of rows written, on a log scale."""
    most = max((step.rows for step in steps), default=0)
    width = _INNER_WIDTH / max(len(steps), 1)
    marks = []
    for place, step in enumerate(steps):
        height = 5 + (_INNER_HEIGHT - 5) * _log_share(step.rows, most)
        title = (
            f"epoch {step.facts.epoch}, {step.facts.timestamp:%Y-%m-%d %H:%M:%S}:"
            f" {step.facts.operation} {', '.join(step.facts.tables)}, {step.rows:,} rows written"
        )
        x = LEFT + place * width
        bar = _bar(x, _BASE - height, width, height, title, family(step.facts.operation))
        marks.append(bar)
    ticks = [(tick, _log_share(tick, most)) for tick in _powers(most)]
    first, last = (steps[0].facts.epoch, steps[-1].facts.epoch) if steps else (0, 0)
    ends = (f"epoch {first}", f"epoch {last}")
    return _drawing("Epochs and the rows that each wrote", [*_rules(ticks), *marks, *_ends(ends)])


def size_histogram(bins: Sequence[Bin], target_bytes: int) -> str:
    """Draw the number of RowSets by size; a RowSet of half the target size or more is `full`."""
    most = max((each.rowsets for each in bins), default=0)
    width = _INNER_WIDTH / max(len(bins), 1)
    marks = []
    for place, each in enumerate(bins):
        height = _INNER_HEIGHT * each.rowsets / most
        title = f"{each.rowsets:,} RowSets from {_span(each.low_bytes, each.high_bytes)}"
        kind = "full" if each.low_bytes * 2 >= target_bytes else "small"
        marks.append(_bar(LEFT + place * width, _BASE - height, width, height, title, kind))
    ticks = [(count, count / most) for count in _steps(most)]
    ends = (size_text(bins[0].low_bytes), size_text(bins[-1].high_bytes)) if bins else ("", "")
    return _drawing("RowSets by size", [*_rules(ticks), *marks, *_ends(ends)])


def age_map(cells: Sequence[AgeCell]) -> str:
    """Draw RowSets by size and by the epoch that added them.

    A larger dot means more RowSets, and a redder dot a greater share of deleted rows.
    """
    if not cells:
        return _drawing("RowSets by age and size", [])
    first, last = min(c.first_epoch for c in cells), max(c.last_epoch for c in cells)
    low = math.log(max(1, min(c.low_bytes for c in cells)))
    high = math.log(max(c.high_bytes for c in cells))
    most = max(c.rowsets for c in cells)
    marks = []
    for cell in cells:
        middle = (cell.first_epoch + cell.last_epoch) / 2
        x = LEFT + 12 + (_INNER_WIDTH - 24) * (middle - first) / max(1, last - first)
        level = math.log(max(1, math.sqrt(cell.low_bytes * cell.high_bytes)))
        y = _BASE - 8 - (_INNER_HEIGHT - 16) * (level - low) / max(0.01, high - low)
        title = (
            f"{cell.rowsets:,} RowSets from {_span(cell.low_bytes, cell.high_bytes)}, added by"
            f" epochs {cell.first_epoch} to {cell.last_epoch},"
            f" {100 * cell.deleted_share:.1f} % of their rows deleted"
        )
        radius = 3 + 5 * _log_share(cell.rowsets, most)
        kind = _deleted_class(cell.deleted_share)
        marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="{kind}">'
            f"<title>{escape(title)}</title></circle>"
        )
    levels = [
        (size_text(power), (math.log(power) - low) / max(0.01, high - low))
        for power in (2**exponent for exponent in range(5, 45, 5))
        if low <= math.log(power) <= high
    ]
    ends = (f"epoch {first}", f"epoch {last}")
    return _drawing("RowSets by age and size", [*_rules(levels), *marks, *_ends(ends)])


def deleted_bars(counts: Sequence[int]) -> str:
    """Draw the number of RowSets by their share of deleted rows."""
    edges = [f"{100 * edge:g}" for edge in DELETED_EDGES]
    labels = ["none", *(f"{a} to {b} %" for a, b in pairwise(edges))]
    kinds = ["full", *(_deleted_class(edge) for edge in DELETED_EDGES[1:])]
    most, height, marks = max(counts, default=0) or 1, 24, []
    for place, (label, count, kind) in enumerate(zip(labels, counts, kinds, strict=True)):
        y = TOP + place * (height + 6)
        width = (WIDTH - 234) * count / most
        marks += [
            f'<text x="140" y="{y + 16}" text-anchor="end">{label}</text>',
            _bar(148, y, max(width, 1 if count else 0), height, f"{count:,} RowSets", kind, gap=0),
            f'<text x="{156 + width:.1f}" y="{y + 16}">{count:,}</text>',
        ]
    return _drawing("RowSets by deleted share", marks)


def overlap_curve(overlap: KeyOverlap, max_overlap: int) -> str:
    """Draw how many RowSets may hold each key, along the keys, and the limit of the policy."""
    most = max(*overlap.depths, max_overlap)
    width = _INNER_WIDTH / len(overlap.depths)
    marks = []
    for place, depth in enumerate(overlap.depths):
        height = _INNER_HEIGHT * depth / most
        kind = "full" if depth <= max_overlap else "small"
        title = f"{depth:,} RowSets may hold one key here"
        x = LEFT + place * width
        marks.append(_bar(x, _BASE - height, width, height, title, kind, gap=0))
    y = _BASE - _INNER_HEIGHT * max_overlap / most
    limit = f'<path class="limit" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"><title>policy</title></path>'
    ticks = [(count, count / most) for count in _steps(most)]
    ends = (f"first {overlap.column}", "last")
    return _drawing("Overlap of keys", [*_rules(ticks), *marks, limit, *_ends(ends)])


def _drawing(title: str, parts: Iterable[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        + "".join(parts)
        + "</svg>"
    )


def _bar(
    x: float, y: float, width: float, height: float, title: str, kind: str, gap: float = 1
) -> str:
    inner = max(width - gap, width * 0.7)
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{inner:.2f}" height="{height:.2f}"'
        f' class="{kind}"><title>{escape(title)}</title></rect>'
    )


def _rules(ticks: Iterable[tuple[object, float]]) -> Iterable[str]:
    """Draw horizontal lines with their labels; each tick is a value and its share of the height."""
    for value, part in ticks:
        y = _BASE - _INNER_HEIGHT * part
        label = f"{value:,}" if isinstance(value, int) else escape(str(value))
        yield f'<path class="rule" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'


def _ends(labels: tuple[str, str]) -> Iterable[str]:
    y = HEIGHT - 12
    yield f'<text x="{LEFT}" y="{y}">{escape(labels[0])}</text>'
    yield f'<text x="{WIDTH - RIGHT}" y="{y}" text-anchor="end">{escape(labels[1])}</text>'


def _steps(most: int) -> list[int]:
    """Return round numbers in equal steps up to `most`, at most six."""
    if not most:
        return []
    power = 10 ** int(math.log10(most))
    step = next(s for s in (power // 5, power // 2, power, 2 * power) if s and most <= 5 * s)
    return [*range(step, most + 1, step)]


def _powers(most: int) -> list[int]:
    """Return at most five powers of ten up to `most`; below 10, `most` itself."""
    if most < 10:
        return [most] if most else []
    exponents = range(1, int(math.log10(most)) + 1)
    return [10**each for each in exponents[:: -(-len(exponents) // 5)]]


def _log_share(count: int, most: int) -> float:
    return math.log1p(count) / math.log1p(most) if most else 0.0


def _span(low: int, high: int) -> str:
    return f"{size_text(low)} to {size_text(high)}"


def _deleted_class(share: float) -> str:
    if not share:
        return "full"
    return "few" if share <= 0.1 else "some" if share <= 0.25 else "many"
