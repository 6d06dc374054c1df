"""Rows that share a primary key, although no writer may add them, are found at depth 4."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade import ArrowDatabase, ArrowTable
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.statements import change

SCHEMA = pa.schema([("a", pa.float64()), ("b", pa.string())])


def careless(monkeypatch: pytest.MonkeyPatch) -> tuple[ArrowDatabase, ArrowTable]:
    """A table with a key, and a writer that compares nothing."""
    store = MemoryStore()
    database = ArrowDatabase(store, Log(store), create_database(store, lone_table=False))
    monkeypatch.setattr(change, "complete", lambda statement, *_: statement)
    return database, database.create_table("t", SCHEMA, primary_key=["a", "b"])


def test_rows_that_share_a_key_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    database, table = careless(monkeypatch)
    table.append(pa.table([[1.0, 1.0, 2.0], ["x", "y", "x"]], SCHEMA))
    assert database.verify(4).findings == ()
    table.append(pa.table([[3.0, 1.0], ["x", "x"]], SCHEMA))
    assert database.verify(3).findings == ()
    [found] = database.verify(4).findings
    assert (found.kind, found.table) == ("damage", "t")
    said = "2 rows of table 't' share the primary key a = 1.0, b = 'x', in RowSets 0, 1."
    assert found.problem == said
    assert database.verify(4, epoch=2).findings == ()
    table.delete("a = 3 or b = 'x' and a = 1")
    assert database.verify(4).findings == ()


def test_nan_in_a_key_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    database, table = careless(monkeypatch)
    table.append(pa.table([[float("nan")], ["x"]], SCHEMA))
    [found] = database.verify(4).findings
    assert "Column 'a' is a key and is NaN" in found.problem
