"""A database is a mapping of the names of its tables, as they are at the time of the question."""

from __future__ import annotations

from pathlib import Path

import pytest

import colonnade
from colonnade.tableformat.table.opened_database import OpenDatabase
from tests.tableformat.table.trips import SCHEMA


def test_a_database_tells_its_tables_as_they_are_now(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    assert isinstance(database, OpenDatabase)
    assert bool(database)
    assert (list(database), len(database), "t" in database) == ([], 0, False)
    other = colonnade.open_database(tmp_path / "db")
    for name in "ut":
        other.create_table(name, SCHEMA)
    assert (list(database), len(database), "t" in database) == (["t", "u"], 2, True)
    assert database["t"].name == "t"
    assert 5 not in database
    with pytest.raises(colonnade.NotFoundError, match="'x' does not exist"):
        database["x"]
    assert repr(database).startswith("ArrowDatabase(")


def test_a_notebook_completes_the_names_of_tables(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("orders", SCHEMA)
    assert database._ipython_key_completions_() == ["orders"]
