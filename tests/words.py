"""The page of words that people know: its rows, which tests try, here and through Spark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

TEXT = (Path(__file__).parents[1] / "docs" / "words-you-know.md").read_text("utf-8")
_CODE = r"(`+) ?(.+?) ?\{}"
"""Code in a cell; code that has backticks itself is between two of them."""

_ROW = re.compile(rf"^\| (?:=|{_CODE.format(1)}) \| {_CODE.format(3)} \| (.*?) ?\|$", re.MULTILINE)
_LINE = re.compile(r"^\| [^-].*\|$", re.MULTILINE)
_MADE = re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)


class WordRow(NamedTuple):
    """A row of a table: the title of its section, the word (`=`: as here), and the code here."""

    section: str
    word: str
    code: str

    @property
    def through_spark(self) -> bool:
        return self.section.startswith("Delta")


def _rows() -> list[WordRow]:
    found = []
    for section in TEXT.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        rows = [WordRow(title, row[1] or "=", row[3]) for row in _ROW.findall(text)]
        assert len(rows) == len(_LINE.findall(text)) - 1, f"a line of {title} is no row"
        found += rows
    return found


ROWS = _rows()


def make_database(names: dict[str, Any]) -> None:
    """Run the code by which the page makes its database; the names of it are put into `names`."""
    assert _MADE is not None
    exec(_MADE[1], names)


def untried(checks: dict[str, Any], through_spark: bool) -> set[str]:
    """The code of rows without a check, and of checks without a row."""
    return set(checks) ^ {row.code for row in ROWS if row.through_spark == through_spark}
