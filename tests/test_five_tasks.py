"""The page of five tasks says the same in each library: all of them find equal rows."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.setup import lakes

PAGE = (Path(__file__).parents[1] / "docs" / "five-tasks.md").read_text("utf-8")
TASKS = PAGE.split("\n## ")[1:]
CODE = re.compile(r'^```python title="([\w-]+)"\n(.*?)^```$', re.M | re.S)
COMMON = re.search(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
HERE = ("Colonnade", "DuckDB")
LIBRARIES = ("Colonnade", "delta-rs", "PyIceberg", "Lance", "DuckDB")
UPSERTED = {1: ("pen", 2.0), 2: ("ink", 4.5), 3: ("pen", 1.0), 4: ("cap", 0.5), 5: ("pad", 3.0)}
CHANGED = {1: ("pen", 3.0), 2: ("ink", 4.5), 3: ("pen", 2.0), 5: ("pad", 3.0)}
ALL: dict[str, Callable[[Any], pa.Table]] = {
    "Colonnade": lambda names: names["table"].to_arrow(),
    "delta-rs": lambda names: names["table"].to_pyarrow_table(),
    "PyIceberg": lambda names: names["table"].scan().to_arrow(),
    "Lance": lambda names: names["table"].to_table(),
    "DuckDB": lambda names: names["shop"].sql("FROM orders").to_arrow_table(),
}


def test_each_of_the_five_tasks_is_in_the_words_of_the_five_libraries() -> None:
    assert [tuple(name for name, _ in CODE.findall(task)) for task in TASKS] == [LIBRARIES] * 5


@pytest.mark.parametrize(
    "library",
    [pytest.param(each, marks=() if each in HERE else pytest.mark.long) for each in LIBRARIES],
)
def test_the_words_of_a_library_find_and_change_these_rows(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library not in HERE:  # behind all others, so that each package keeps Colonnade's version
        monkeypatch.setattr(sys, "path", [*sys.path, str(lakes.installed())])
    monkeypatch.chdir(tmp_path)
    assert COMMON is not None
    names: dict[str, Any] = {}
    exec(COMMON[1], names)
    write, read, upsert, change, earlier = (dict(CODE.findall(task))[library] for task in TASKS)
    exec(write, names)
    assert by_id(ALL[library](names)) == by_id(names["rows"])
    exec(read, names)
    assert by_id(names["found"]) == {1: (2.0,), 2: (5.0,)}
    exec(upsert, names)
    assert by_id(ALL[library](names)) == UPSERTED
    exec(change, names)
    assert by_id(ALL[library](names)) == CHANGED
    exec(earlier, names)
    assert by_id(names["earlier"]) == UPSERTED


def by_id(rows: pa.Table) -> dict[int, tuple[Any, ...]]:
    """The values of each row by its id, which no two rows share."""
    found = {id: values for id, *values in (tuple(row.values()) for row in rows.to_pylist())}
    assert len(found) == rows.num_rows
    return {id: tuple(values) for id, values in found.items()}
