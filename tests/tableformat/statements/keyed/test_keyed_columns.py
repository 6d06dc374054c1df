"""Columns of a keyed table change, and rows merge as they did before."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade import AlterProperties, DropColumn, RenameColumn
from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema([("id", pa.int64()), ("at", pa.int64()), ("n", pa.int64()), ("s", pa.string())])
PROPERTIES = {"merge.N": "add", "sequence.s": "AT"}


def table(**properties: str) -> ArrowTable:
    found = made(schema=SCHEMA, key=("id",), properties={**PROPERTIES, **properties})
    found.upsert(pa.table({"id": [1], "at": [5], "n": [10], "s": ["new"]}))
    return found


def test_modes_and_sequences_follow_columns_that_are_renamed() -> None:
    t = table()
    t.alter(RenameColumn("n", "sum"))
    t.alter(RenameColumn("at", "time"), RenameColumn("s", "text"))
    assert t._state.properties == {"merge.sum": "add", "sequence.text": "time"}
    t.upsert(pa.table({"id": [1], "time": [4], "sum": [1], "text": ["late"]}))
    assert t.get(1) == {"id": 1, "time": 5, "sum": 11, "text": "new"}
    # Two columns swap their names.
    t.alter(RenameColumn("sum", "x"), RenameColumn("text", "sum"), RenameColumn("x", "text"))
    assert t._state.properties == {"merge.text": "add", "sequence.sum": "time"}
    t.upsert(pa.table({"id": [1], "time": [6], "text": [1], "sum": ["newest"]}))
    assert t.get(1) == {"id": 1, "time": 6, "text": 12, "sum": "newest"}


def test_the_sequence_of_rows_follows_its_column() -> None:
    t = made(schema=SCHEMA, key=("id",), properties={"sequence": "at"})
    t.alter(RenameColumn("at", "time"))
    assert t._state.properties == {"sequence": "time"}
    t.alter(RenameColumn("time", "at"), AlterProperties({"sequence": "n"}))
    assert t._state.properties == {"sequence": "n"}


def test_the_mode_of_a_dropped_column_goes_with_it_and_a_sequence_is_kept() -> None:
    t = table(sequence="at")
    t.alter(DropColumn("n"))
    for column in ("at", "AT"):
        with pytest.raises(InvalidInputError, match="cannot be dropped: property .* unset the"):
            t.alter(DropColumn(column))
    t.alter(DropColumn("s"))
    assert t._state.properties == {"sequence": "at"}
    t.alter(AlterProperties(remove=("sequence",)), DropColumn("at"))
    assert t._state.schema.names == ("id",)


def test_an_upsert_leaves_out_columns_that_the_table_has_dropped() -> None:
    t = table()
    t.alter(DropColumn("n"))
    rows = pa.table({"id": [1, 2], "n": [1, 1], "other": [0, 0], "AT": [7, 7], "S": ["a", "b"]})
    with pytest.raises(InvalidInputError, match="column 'n', which table 't' does not have"):
        t.upsert(rows)
    t.upsert(rows, ignore_unknown_columns=True)
    assert t.get([1, 2]).to_pylist() == [{"id": 1, "at": 7, "s": "a"}, {"id": 2, "at": 7, "s": "b"}]
    whole = pa.table({"id": [2], "at": [8], "s": ["c"], "n": [1]})
    t.upsert(whole, on="id", ignore_unknown_columns=True)
    assert t.get(2) == {"id": 2, "at": 8, "s": "c"}
