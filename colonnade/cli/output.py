"""What a command prints: tables for people, one JSON document for programs.

Results go to standard output and everything else to standard error. Colour is for terminals
only, and not where NO_COLOR is set.
"""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from rich.console import Console, RenderableType
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

_UNLIMITED = 100_000
"""The width of a line where no person looks at a terminal: nothing is cut or wrapped."""

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


def rows_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table; numbers are aligned to the right and get separators, but for ids and epochs."""
    rows = [*rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[place], int | float | None) for row in rows)
        table.add_column(cell(name), justify="right" if numeric else "left", overflow="fold")
    plain = [name == "id" or name.endswith("epoch") for name in columns]
    for row in rows:
        table.add_row(*(cell(v, plain=p) for v, p in zip(row, plain, strict=True)))
    return table


def facts_table(pairs: Iterable[tuple[str, object]]) -> Table:
    """Names and values below one another; those without a value are left out."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None and value != "":
            plain = name.endswith("epoch")
            table.add_row(cell(name), cell(value, plain=plain))
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
