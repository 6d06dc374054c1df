"""The terminal output of the examples: progress during the work, then a table of measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.filesize import decimal
from rich.progress import track
from rich.table import Table


@dataclass(frozen=True)
class Measure:
    """The cost of one step on one format: wall time, and the bytes of the files it added."""

    seconds: float
    new_bytes: int = 0

    def __add__(self, other: Measure) -> Measure:
        return Measure(self.seconds + other.seconds, self.new_bytes + other.new_bytes)


@dataclass
class Report:
    """The steps so far, each with its rows and its cost on both formats."""

    console: Console
    steps: list[tuple[str, int, Measure, Measure]] = field(default_factory=list)

    def add(self, step: str, row_count: int, colonnade: Measure, parquet: Measure) -> None:
        """Record one step."""
        self.steps.append((step, row_count, colonnade, parquet))

    def print(self) -> None:
        """Print all steps as one table."""
        table = Table(title="The same work on Colonnade and on Parquet (zstd), through Spark")
        table.add_column("step")
        table.add_column("rows", justify="right")
        for what in ("bytes", "seconds"):
            table.add_column(f"Colonnade\n{what}", justify="right")
            table.add_column(f"Parquet\n{what}", justify="right")
        for step, row_count, *costs in self.steps:
            sizes = [decimal(cost.new_bytes) if cost.new_bytes else "" for cost in costs]
            seconds = [f"{cost.seconds:.2f}" for cost in costs]
            table.add_row(step, f"{row_count:,}", *sizes, *seconds)
        self.console.print(table)

    def track(self, title: str, items: Sequence[str]) -> Iterator[str]:
        """Yield the items; print a line for each and, on a terminal, show a progress bar below."""
        for item in track(items, title, console=self.console, disable=not self.console.is_terminal):
            self.console.print(f"{title}: {item}")
            yield item
