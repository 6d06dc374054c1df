"""What a command prints: tables for people, one JSON document for programs.

Results are printed to standard output, and everything else to standard error. Only terminals get
thousands separators, and colour unless NO_COLOR is set.
"""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

_UNLIMITED = 100_000
"""The line width where the output is not a terminal: nothing is cut or wrapped."""

_LONG_WORD = 32
"""A longer word may be folded; it does not keep rows from being shown as a table."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters except the tab and the line feed."""


class Output:
    """The output of one command; created when the command runs."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self._results = _console(stderr=False)
        self.notes = _console(stderr=True)

    def show(self, facts: object, *view: RenderableType) -> None:
        """Print `facts` (dataclasses, dicts or lists) as JSON, or the `view` without --json."""
        if self.as_json:
            sys.stdout.write(to_json(facts).decode() + "\n")
            return
        for each in view:
            self._results.print(each)

    def show_line(self, facts: object, *view: RenderableType) -> None:
        """Print like `show`, for commands that print repeatedly: each JSON document is one line."""
        if self.as_json:
            sys.stdout.write(to_json(facts, indent=False).decode() + "\n")
            sys.stdout.flush()
        else:
            self.show(facts, *view)

    def note(self, text: str) -> None:
        """Print a note for people to standard error."""
        self.notes.print(Text(text, style="dim"))

    def fail(self, code: str, sentence: str) -> None:
        """Print why the command failed to standard error."""
        if self.as_json:
            error = {"error": {"kind": code, "message": sentence}}
            sys.stderr.write(to_json(error).decode() + "\n")
            return
        text = Text("Error: ", style="bold red").append(_harmless(sentence), style="not bold")
        self.notes.print(text)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = _UNLIMITED
    return console


def to_json(facts: object, *, indent: bool = True) -> bytes:
    """Return a JSON document; bytes become base64, and other types that JSON lacks become text."""
    option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)
    return orjson.dumps(facts, default=_jsonable, option=option)


def _jsonable(value: Any) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return str(value)


def rows_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> RenderableType:
    """Lay rows out as a table, with numbers aligned to the right.

    On a terminal numbers get thousands separators, except ids and epochs. Cells are folded between
    words. If the terminal is too narrow for the longest words, each row is printed as a list of
    names and values, so that nothing is cut.
    """
    grouped = _is_terminal()
    plain = [not grouped or name == "id" or name.endswith("epoch") for name in columns]
    found = [*rows]
    return _Rows(
        tuple(map(cell, columns)),
        tuple(
            bool(found) and all(isinstance(row[place], int | float | None) for row in found)
            for place in range(len(columns))
        ),
        [[cell(v, plain=p) for v, p in zip(row, plain, strict=True)] for row in found],
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows that are drawn as a table if it fits, and else as lists of names and values."""

    names: Sequence[Text]
    numeric: Sequence[bool]
    rows: Sequence[Sequence[Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = [*zip(self.names, *self.rows, strict=True)]
        words = [max(map(_word_width, column)) for column in columns]
        wholes = [max(each.cell_len for each in column) for column in columns]
        widths = fitted_widths(words, wholes, options.max_width - 2 * (len(columns) - 1))
        if widths is not None:
            yield self._table(widths)
            return
        if not self.rows:
            yield Text("  ", style="bold").join(self.names)
        for number, row in enumerate(self.rows):
            if number:
                yield ""
            yield _names_and_values(zip(self.names, row, strict=True))

    def _table(self, widths: Sequence[int]) -> Table:
        named = any(name.plain for name in self.names)
        table = Table(box=None, pad_edge=False, header_style="bold", show_header=named)
        for name, numeric, width in zip(self.names, self.numeric, widths, strict=True):
            justify: JustifyMethod = "right" if numeric else "left"
            table.add_column(name, justify=justify, overflow="fold", width=width)
        for row in self.rows:
            table.add_row(*row)
        return table


def fitted_widths(words: Sequence[int], wholes: Sequence[int], width: int) -> list[int] | None:
    """Divide `width` among columns, given their longest words and their longest cells.

    As many columns as possible get room for whole cells. Returns None if the words do not fit.
    """
    left = width - sum(words)
    if left < 0:
        return None
    widths = [*words]
    for place in sorted(range(len(words)), key=lambda place: wholes[place] - words[place]):
        more = min(left, wholes[place] - words[place])
        widths[place] += more
        left -= more
    return widths


def _word_width(text: Text) -> int:
    """Return the width of the longest word; words longer than `_LONG_WORD` may be folded."""
    return min(_LONG_WORD, max(map(cell_len, text.plain.split()), default=0))


def facts_table(pairs: Iterable[tuple[str, object]]) -> Table:
    """Lay out names and values, one pair per line; pairs without a value are left out."""
    grouped = _is_terminal()
    return _names_and_values(
        (cell(name), cell(value, plain=not grouped or name.endswith("epoch")))
        for name, value in pairs
        if value is not None and value != ""
    )


def _names_and_values(pairs: Iterable[tuple[Text, Text]]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for pair in pairs:
        table.add_row(*pair)
    return table


def cell(value: object, *, plain: bool = False) -> Text:
    """Format one value for people; a `plain` number has no thousands separators."""
    if value is None:
        return Text("NULL", style="dim")
    if isinstance(value, Text):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and not plain:
        return Text(f"{value:,}")
    return Text(_harmless(str(value)))


def number(value: float) -> str:
    """Format a whole number: with thousands separators on a terminal, else without."""
    return f"{value:,.0f}" if _is_terminal() else f"{value:.0f}"


def _is_terminal() -> bool:
    return _console(stderr=False).is_terminal


def _harmless(text: str) -> str:
    """Escape control characters, such as `\\x1b`, so that no text can command the terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
