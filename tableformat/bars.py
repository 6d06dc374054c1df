"""Bars that people see: in a notebook by IPython, on a terminal by rich or else by tqdm.

What draws a bar is loaded when the first bar is drawn, and is not a dependency.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from html import escape
from importlib import import_module
from typing import Any, Protocol

from colonnade.manifests.sizes import size_text

SECONDS = 0.1
"""A bar moves at most once in this time."""


class Bar(Protocol):
    """A bar that is shown until it is closed."""

    def move(self, done: int, total: int | None, seconds: float) -> None:
        """Show what is done of the total after some seconds of work."""

    def close(self) -> None:
        """Remove the bar."""


def are_seen() -> bool:
    """Return whether a bar can be seen: in a notebook, or where standard error is a terminal.

    rich and tqdm have rules of their own, by which a variable such as FORCE_COLOR makes a pipe a
    terminal. Those do not count.
    """
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def open_bar(title: str, unit: str, total: int | None) -> Bar | None:
    """Show a bar. Returns None where neither rich nor tqdm can be imported on a terminal."""
    if _in_notebook():
        return _NotebookBar(title, unit)
    for kind in (_RichBar, _TqdmBar):
        with suppress(ImportError):
            return kind(title, unit, total)
    return None


def amount_text(unit: str, done: int, total: int | None, seconds: float = 0.0) -> str:
    """Return an amount and its total as text for people, with the rate if it took some seconds."""
    said = _count_text(unit, done)
    if total is not None:
        said += f" of {_count_text(unit, total)}"
    if unit != "bytes":
        said += f" {unit}"
    return f"{said}, {_count_text(unit, int(done / seconds))}/s" if done and seconds else said


def _count_text(unit: str, count: int) -> str:
    return size_text(count) if unit == "bytes" else f"{count:,}"


def _in_notebook() -> bool:
    """Return whether a kernel of Jupyter runs this program."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _NotebookBar:
    """HTML that is shown in place of the HTML before; it needs no widgets."""

    def __init__(self, title: str, unit: str) -> None:
        self._title, self._unit = title, unit
        display: Any = import_module("IPython.display").display
        self._handle = display(_bundle("", ""), raw=True, display_id=True)

    def move(self, done: int, total: int | None, seconds: float) -> None:
        value = "" if total is None else f" value='{done}' max='{max(total, 1)}'"
        said = f"{self._title}: {amount_text(self._unit, done, total, seconds)}"
        bar = f"<progress{value} style='vertical-align:middle'></progress> {escape(said)}"
        self._handle.update(_bundle(bar, said), raw=True)

    def close(self) -> None:
        self._handle.update(_bundle("", ""), raw=True)


def _bundle(html: str, text: str) -> dict[str, str]:
    """Return what a front end shows: HTML, or the text where it has no HTML."""
    return {"text/html": html, "text/plain": text}


class _RichBar:
    def __init__(self, title: str, unit: str, total: int | None) -> None:
        rich: Any = import_module("rich.progress")
        self._unit = unit
        self._bars = rich.Progress(
            rich.TextColumn("{task.description}", markup=False),
            rich.BarColumn(24),
            rich.TextColumn("{task.fields[amount]}", markup=False),
            rich.TimeRemainingColumn(),
            console=import_module("rich.console").Console(stderr=True),
            transient=True,
        )
        self._task = self._bars.add_task(title, total=total, amount="")
        self._bars.start()

    def move(self, done: int, total: int | None, seconds: float) -> None:
        amount = amount_text(self._unit, done, total, seconds)
        self._bars.update(self._task, completed=done, total=total, amount=amount)

    def close(self) -> None:
        self._bars.stop()


class _TqdmBar:
    def __init__(self, title: str, unit: str, total: int | None) -> None:
        in_bytes = unit == "bytes"
        self._bar: Any = import_module("tqdm").tqdm(
            desc=title,
            total=total,
            unit="B" if in_bytes else f" {unit}",
            unit_scale=True,
            unit_divisor=1024 if in_bytes else 1000,
            leave=False,
            file=sys.stderr,
        )

    def move(self, done: int, total: int | None, seconds: float) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()
