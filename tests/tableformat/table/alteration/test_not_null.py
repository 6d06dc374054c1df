"""A column is made NOT NULL if no row is NULL in it, also beside concurrent writers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ColonnadeError, ConflictError, InvalidInputError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.table.alteration import AddColumn, DropNotNull, RenameColumn, SetNotNull
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.table.alteration.test_fields import before_next_commit

INNER = pa.struct([("x", pa.int32())])
SCHEMA = pa.schema(
    [
        ("k", pa.int64()),
        ("n", pa.int32()),
        ("s", INNER),
        ("l", pa.list_(INNER)),
        ("m", pa.map_(pa.int32(), INNER)),
    ]
)


def rows(*numbers: int | None, first: int = 1) -> pa.Table:
    """Rows whose every value but `k` is NULL, or holds NULL inside, for each None."""
    inner = [{"x": n} for n in numbers]
    data = {
        "k": range(first, first + len(numbers)),
        "n": numbers,
        "s": inner,
        "l": [[each, each] for each in inner],
        "m": [[(1, each)] for each in inner],
    }
    return pa.table(data, SCHEMA)


def made(path: Path, *parts: pa.Table) -> ArrowTable:
    table = colonnade.create(path, SCHEMA)
    limits = Limits(in_place_bytes=-(2**20), copied_rows=1)
    table._open.log = Log(table._log.store, limits=limits, pause=lambda seconds: None)
    for part in parts:
        table.append(part)
    return table


PATHS = ("n", "s.x", "l.element.x", "m.value.x")


@pytest.mark.parametrize("path", PATHS)
def test_a_column_is_made_not_null_where_no_row_is_null(tmp_path: Path, path: str) -> None:
    table = made(tmp_path / "t", rows(1, 2), rows(3, None, first=3))
    before = table.epoch
    with pytest.raises(InvalidInputError, match=f"^Column '{path}' of table 't' cannot be made"):
        table.alter(SetNotNull(path))
    assert table.refresh().epoch == before
    table.delete("k = 4")
    table.alter(SetNotNull(path))
    assert "not null" in str(table.schema)
    with pytest.raises(InvalidInputError, match="is NOT NULL, but the data has"):
        table.append(rows(5, None, first=5))
    table.append(rows(5, first=5))
    assert table.scan().to_arrow()["k"].to_pylist() == [1, 2, 3, 5]
    assert table.verify(4).is_sound
    assert table.alter(SetNotNull(path)) == table.epoch
    table.alter(DropNotNull(path))
    table.append(rows(None, first=6))
    table.restore(epoch=before)
    assert table.scan().to_arrow().num_rows == 4


def test_values_inside_null_do_not_count(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    nothing = pa.table({"k": [1], "n": [None], "s": [None], "l": [None], "m": [None]}, SCHEMA)
    empty = pa.table({"k": [2], "n": [1], "s": [{"x": 1}], "l": [[None]], "m": [[]]}, SCHEMA)
    table.append(nothing)
    table.append(empty)
    table.alter(*(SetNotNull(path) for path in PATHS[1:]), SetNotNull("k"))
    for path in ("s", "l", "m", "l.element"):
        with pytest.raises(InvalidInputError, match=f"'{path}' of table 't' cannot be made"):
            table.alter(SetNotNull(path))


def test_a_new_column_is_null_in_existing_rows(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    new = SchemaField(name="new", type="int")
    table.alter(AddColumn(new), SetNotNull("new"), RenameColumn(("new",), "first"))
    more = SchemaField(name="more", type="int")
    data = rows(1).append_column("first", pa.array([1], pa.int32()))
    table.append(data)
    with pytest.raises(InvalidInputError, match="because existing rows are NULL in it"):
        table.alter(AddColumn(more), SetNotNull("more"))
    table.alter(AddColumn(more))
    with pytest.raises(InvalidInputError, match="'more' of table 't' cannot be made NOT NULL"):
        table.alter(SetNotNull("more"))


def test_statistics_alone_say_that_no_row_is_null(tmp_path: Path) -> None:
    table = made(tmp_path / "t", rows(1, 2), rows(3, first=3))
    with patch.object(RowSetReader, "__init__", side_effect=AssertionError("a RowSet is opened")):
        table.alter(SetNotNull("n"))


STATEMENTS: dict[str, tuple[Callable[[ArrowTable], object], bool]] = {
    "append of NULL": (lambda t: t.append(rows(None, first=9)), True),
    "append of values": (lambda t: t.append(rows(9, first=9)), False),
    "overwrite by NULL": (lambda t: t.overwrite(rows(None, first=9)), True),
    "update to NULL in place": (lambda t: t.update({"n": None}, "k = 1"), True),
    "update of another column": (lambda t: t.update({"k": 7}, "n = 1"), False),
    "upsert of NULL": (lambda t: t.upsert(rows(None), on="k"), True),
    "delete": (lambda t: t.delete("k = 1"), False),
    "compaction": (lambda t: t.optimize().option("min-rowsets", 2).executeCompaction(), False),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_rows_that_a_concurrent_writer_adds_first_are_looked_at_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    table, other = made(tmp_path / "t", rows(1), rows(2, first=2)), ArrowTable.open(tmp_path / "t")
    run, adds_null = STATEMENTS[statement]
    before_next_commit(lambda: run(other), monkeypatch)
    if adds_null:
        with pytest.raises(InvalidInputError, match="because existing rows are NULL in it"):
            table.alter(SetNotNull("n"))
    else:
        table.alter(SetNotNull("n"))
    _check(table, is_nullable=adds_null)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_no_null_is_added_by_a_statement_that_was_planned_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    table, other = made(tmp_path / "t", rows(1), rows(2, first=2)), ArrowTable.open(tmp_path / "t")
    run, adds_null = STATEMENTS[statement]
    before_next_commit(lambda: other.alter(SetNotNull("n")), monkeypatch)
    refusal: Any = None
    try:
        run(table)
    except ColonnadeError as error:
        refusal = error
    assert isinstance(refusal, InvalidInputError | ConflictError) or not adds_null
    _check(other, is_nullable=False)


def _check(table: ArrowTable, *, is_nullable: bool) -> None:
    table.refresh()
    found = table.scan().to_arrow()
    assert found.schema.field("n").nullable is is_nullable
    assert (found["n"].null_count > 0) is is_nullable
    assert table.verify(4).is_sound


def test_a_concurrent_alteration_is_a_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, other = made(tmp_path / "t", rows(1)), ArrowTable.open(tmp_path / "t")
    before_next_commit(lambda: other.alter(RenameColumn(("k",), "key")), monkeypatch)
    with pytest.raises(ConflictError, match="Table 't' was altered after epoch 2"):
        table.alter(SetNotNull("n"))
    assert table._refresh().tables[table._state.id].schema.field("n").nullable
