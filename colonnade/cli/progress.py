"""Progress of long work: a bar with its rate on a terminal, and no output elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from colonnade.cli.output import Output
from colonnade.manifests.sizes import size_text

Unit = Literal["rows", "bytes"]
Advance = Callable[[int], None]


class _Rate(ProgressColumn):
    """The amount done, the total, and the rate in a second."""

    def render(self, task: Task) -> Text:
        in_bytes = task.fields["unit"] == "bytes"

        def amount(count: float) -> str:
            return size_text(int(count)) if in_bytes else f"{int(count):,}"

        total = "" if task.total is None else f" of {amount(task.total)}"
        speed = task.finished_speed or task.speed
        rate = f", {amount(speed)}/s" if speed else ""
        unit = "" if in_bytes else " rows"
        return Text(f"{amount(task.completed)}{total}{unit}{rate}", no_wrap=True)


class Meter:
    """Receives the progress of work: the work calls it with each amount that it has done."""

    def __init__(self, bars: Progress, task: TaskID) -> None:
        self._bars = bars
        self._task = task

    def __call__(self, amount: int) -> None:
        self._bars.advance(self._task, amount)

    def reached(self, done: int, total: int) -> None:
        """Set the amount done and the total."""
        self._bars.update(self._task, completed=done, total=total)


@contextmanager
def progress(output: Output, title: str, unit: Unit, total: int | None) -> Iterator[Meter]:
    """Show a progress bar while the block runs; yields the meter that moves the bar."""
    columns = (TextColumn("{task.description}"), BarColumn(24), _Rate(), TimeRemainingColumn())
    console = output.notes
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        yield Meter(bars, bars.add_task(title, total=total, unit=unit))
