"""Time several ways of doing the same work in turn, and record the results."""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One measured row. `ours` and `theirs` share a unit; `target` is the limit of `judged`.

    With several rivals, `beside` holds the value of each by name, and `theirs` is the rival that
    the ratio compares with.
    """

    measure: str
    unit: str
    ours: float
    theirs: float | None = None
    ratio: float | None = None
    target: float | None = None
    judged_by_ratio: bool = True
    beside: Mapping[str, float] = field(default_factory=dict)

    @property
    def judged(self) -> float:
        """The number that is compared with the target: the ratio, or Colonnade's own value."""
        return self.ratio if self.judged_by_ratio and self.ratio is not None else self.ours

    @property
    def wanted(self) -> str:
        """The target as text: a ratio, or a value with its unit."""
        if self.target is None:
            return ""
        if self.judged_by_ratio and self.ratio is not None:
            return f"ratio ≤ {self.target:g}"
        return f"≤ {self.target:g} {self.unit}".rstrip()

    @property
    def verdict(self) -> str:
        """`met`, `missed`, or `reported` for a figure without a target."""
        if self.target is None:
            return "reported"
        return "met" if self.judged <= self.target else "missed"


def seconds(work: Callable[[], object]) -> float:
    """Return the wall time of one call, after collecting garbage."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleave(
    ours: Callable[[], object], theirs: Callable[[], object], runs: int
) -> tuple[float, float, float]:
    """Time two works in turn, after one warm-up of each.

    Returns the medians of both in seconds, and the median of the ratios pair by pair. That ratio
    stays valid when the machine's speed drifts.
    """
    a, b = in_turn([ours, theirs], runs)
    return statistics.median(a), statistics.median(b), median_ratio(a, b)


def in_turn(
    works: Sequence[Callable[[], object]],
    runs: int,
    *,
    warm_ups: int = 1,
    before: Callable[[], object] = lambda: None,
) -> list[list[float]]:
    """Time A B C, then C B A, …: seconds of each work's `runs`, after its untimed warm-ups.

    `before` is called, untimed, ahead of every work.
    """
    times: list[list[float]] = [[] for _ in works]
    for turn in range(-warm_ups, runs):
        order = list(enumerate(works))
        for place, work in order if turn % 2 else reversed(order):
            before()
            times[place].append(seconds(work))
    return [each[warm_ups:] for each in times]


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the median of the ratios of times measured in the same turn."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def machine() -> dict[str, str]:
    """Describe the machine and the versions that the figures were measured on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = (line for line in info.read_text().splitlines() if line.startswith("model name"))
        model = next(lines, f": {model}").split(":", 1)[1].strip()
    return {
        "date": date.today().isoformat(),
        "processor": f"{os.cpu_count()} x {model}",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "pyarrow": version("pyarrow"),
        "pyspark": version("pyspark"),
    }


def show(figures: list[Figure]) -> str:
    """Format the figures as a Markdown table."""
    several = list(figures[0].beside)
    heads = ["measure", "Colonnade", *(several or ["compared"]), "ratio", "target", ""]
    rows = ["| " + " | ".join(heads).rstrip() + " |", "|---" * len(heads) + "|"]
    for figure in figures:
        others = [figure.beside.get(name) for name in several] or [figure.theirs]
        cells = [
            figure.measure,
            *(
                "" if each is None else f"{each:.4g} {figure.unit}"
                for each in (figure.ours, *others)
            ),
            "" if figure.ratio is None else f"{figure.ratio:.3f}",
            figure.wanted,
            figure.verdict,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def save(name: str, figures: list[Figure], folder: Path) -> Path:
    """Write the figures and the machine as JSON and return the file."""
    path = folder / f"{name}.json"
    rows = [{**asdict(figure), "verdict": figure.verdict} for figure in figures]
    path.write_text(json.dumps({"machine": machine(), "figures": rows}, indent=1) + "\n")
    return path


def lineitem(folder: Path, scale: float) -> Path:
    """Make TPC-H lineitem once as Parquet by `tpchgen-cli` and return the file."""
    return _tpch(folder, scale, "lineitem")


def orders(folder: Path, scale: float) -> Path:
    """Make TPC-H orders once as Parquet by `tpchgen-cli` and return the file."""
    return _tpch(folder, scale, "orders")


def _tpch(folder: Path, scale: float, table: str) -> Path:
    path = folder / f"tpch-{scale:g}" / f"{table}.parquet"
    if not path.exists():
        command = Path(sys.executable).with_name("tpchgen-cli")
        arguments = ["parquet", "--scale-factor", f"{scale:g}", "--tables", table]
        subprocess.run([command, *arguments, "--output-dir", path.parent], check=True)
    return path
