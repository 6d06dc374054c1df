"""What a command prints: tables for people, one JSON document for programs.

Results go to standard output and everything else to standard error. Colour is for terminals
only, and not where NO_COLOR is set.
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
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

_UNLIMITED = 100_000
"""The width of a line where no person looks at a terminal: nothing is cut or wrapped."""

_LONG_WORD = 32
"""A word of more characters is no reason to give a table up."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, but for the tab and the end of a line."""


class Output:
    """Where one command prints; made when it runs."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self._results = _console(stderr=False)
        self.notes = _console(stderr=True)

    def show(self, facts: object, *view: RenderableType) -> None:
        """Print `facts` (dataclasses, dicts, lists of them) as JSON, or else the `view` of them."""
        if self.as_json:
            sys.stdout.write(to_json(facts).decode() + "\n")
            return
        for each in view:
            self._results.print(each)

    def show_line(self, facts: object, *view: RenderableType) -> None:
        """Like `show`, for commands that go on: each JSON document is a line of its own."""
        if self.as_json:
            sys.stdout.write(to_json(facts, indent=False).decode() + "\n")
            sys.stdout.flush()
        else:
            self.show(facts, *view)

    def note(self, text: str) -> None:
        """Tell people what is going on."""
        self.notes.print(Text(text, style="dim"))

    def fail(self, code: str, sentence: str) -> None:
        """Say why the command failed."""
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
    """A JSON document. Bytes become base64; decimals and what JSON lacks become text."""
    option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)
    return orjson.dumps(facts, default=_jsonable, option=option)


def _jsonable(value: Any) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return str(value)


def rows_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> RenderableType:
    """A table; numbers are aligned to the right and get separators, but for ids and epochs.

    Cells are folded between words. Where not even words fit side by side, as on a phone, each row
    is printed name by name instead, so that nothing is cut.
    """
    plain = [name == "id" or name.endswith("epoch") for name in columns]
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
    """Rows as a table where there is room for one, else one below the other."""

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
    """Widths of columns that have the words, and the whole cells, that are so wide.

    As many columns as can be have room for whole cells. None where not even the words have.
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
    """The width of the longest word; names of files and the like may be folded anywhere."""
    return min(_LONG_WORD, max(map(cell_len, text.plain.split()), default=0))


def facts_table(pairs: Iterable[tuple[str, object]]) -> Table:
    """Names and values below one another; those without a value are left out."""
    return _names_and_values(
        (cell(name), cell(value, plain=name.endswith("epoch")))
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
    """One value as people read it; a `plain` number has no separators."""
    if value is None:
        return Text("NULL", style="dim")
    if isinstance(value, Text):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and not plain:
        return Text(f"{value:,}")
    return Text(_harmless(str(value)))


def _harmless(text: str) -> str:
    """Text of which no character is an order to a terminal; these are shown as `\\x1b`."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def size(byte_count: int) -> str:
    """Bytes as people read them, such as 12.3 MB."""
    return decimal(byte_count)


def share(part: int, whole: int) -> str:
    """A part of a whole in per cent; nothing where there is none."""
    if not part:
        return ""
    percent = 100 * part / whole
    return f"{percent:.1f} %" if percent >= 0.1 else "< 0.1 %"
