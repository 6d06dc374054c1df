"""Progress of long work: a bar with its rate on a terminal, and nothing elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from rich.filesize import decimal
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from colonnade.cli.output import Output

Unit = Literal["rows", "bytes"]
Advance = Callable[[int], None]


class _Rate(ProgressColumn):
    """What is done of what there is, and how much of it in a second."""

    def render(self, task: Task) -> Text:
        in_bytes = task.fields["unit"] == "bytes"

        def amount(count: float) -> str:
            return decimal(int(count)) if in_bytes else f"{int(count):,}"

        total = "" if task.total is None else f" of {amount(task.total)}"
        speed = task.finished_speed or task.speed
        rate = f", {amount(speed)}/s" if speed else ""
        unit = "" if in_bytes else " rows"
        return Text(f"{amount(task.completed)}{total}{unit}{rate}", no_wrap=True)


@contextmanager
def progress(output: Output, title: str, unit: Unit, total: int | None) -> Iterator[Advance]:
    """Show how far work is; the work calls what this yields with each amount that is done."""
    columns = (TextColumn("{task.description}"), BarColumn(24), _Rate(), TimeRemainingColumn())
    console = output.notes
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        task = bars.add_task(title, total=total, unit=unit)
        yield lambda amount: bars.advance(task, amount)
