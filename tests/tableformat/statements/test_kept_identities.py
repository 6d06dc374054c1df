"""An upsert keeps the value of each row that it replaces, and gives new rows the next ones."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, IdentityColumn, InvalidInputError
from colonnade.tableformat.statements.kept_identities import (
    with_identities,
    with_identity_columns,
)

COLUMNS = pa.schema([("k", pa.string()), ("id", pa.int32()), ("v", pa.int64())])


def make(path: Path, *, always: bool) -> ArrowTable:
    table = colonnade.create(str(path), COLUMNS, identity={"id": IdentityColumn(always=always)})
    table.append(pa.table({"k": ["a", "b", "c"], "v": [1, 2, 3]}))
    return table


def rows(**by_key: int) -> pa.Table:
    return pa.table({"k": list(by_key), "v": list(by_key.values())})


def found(table: ArrowTable) -> list[tuple[str, int, int]]:
    return sorted((r["k"], r["id"], r["v"]) for r in table.scan().to_arrow().to_pylist())


@pytest.mark.parametrize("always", [True, False])
def test_replaced_rows_keep_their_values_and_new_rows_get_the_next(
    tmp_path: Path, always: bool
) -> None:
    table = make(tmp_path / "t", always=always)
    table.append(rows(b=20))  # the same key twice: each of the rows is replaced
    table.upsert(rows(d=4, c=30, b=21, e=5), on="k")
    assert found(table) == [
        ("a", 1, 1), ("b", 2, 21), ("b", 4, 21), ("c", 3, 30), ("d", 5, 4), ("e", 6, 5)
    ]  # fmt: skip
    table.upsert(rows(f=6), on="k")
    table.upsert(rows(f=7), on="k")
    assert found(table)[-1] == ("f", 7, 7)


def test_users_give_values_only_where_they_may(tmp_path: Path) -> None:
    given = rows(a=10, z=9).append_column("id", pa.array([50, 60], pa.int32()))
    free, fixed = make(tmp_path / "f", always=False), make(tmp_path / "a", always=True)
    free.upsert(given, on="k")
    assert found(free) == [("a", 50, 10), ("b", 2, 2), ("c", 3, 3), ("z", 60, 9)]
    for wrong in (given, given.slice(0, 1), given.slice(1)):
        with pytest.raises(InvalidInputError, match="GENERATED ALWAYS AS IDENTITY"):
            fixed.upsert(wrong, on="k")
    assert len(found(fixed)) == 3


def test_a_replaced_row_may_be_null_in_a_struct_whose_fields_are_not(tmp_path: Path) -> None:
    inner = pa.struct([pa.field("a", pa.int32(), nullable=False)])
    columns = pa.schema([("k", pa.string()), ("id", pa.int64()), ("s", pa.struct([("in", inner)]))])
    path = str(tmp_path / "t")
    table = colonnade.create(path, columns, identity={"id": IdentityColumn()})
    # `take` puts NULL under the NULL struct, too, as most computed arrays have it.
    structs = pa.array([{"in": {"a": 1}}], columns.field("s").type).take(pa.array([0, None]))
    for s in (structs, structs.take(pa.array([1, 0]))):
        table.upsert(pa.table({"k": ["a", "b"], "s": s}), on="k")
    read = table.scan().to_arrow().sort_by("k").to_pylist()
    assert read == [{"k": "a", "id": 1, "s": None}, {"k": "b", "id": 2, "s": {"in": {"a": 1}}}]


def test_the_column_as_the_key_finds_rows_and_inserts_none_that_the_table_must_number(
    tmp_path: Path,
) -> None:
    table = make(tmp_path / "t", always=True)
    key = pa.table({"k": ["b"], "v": [7], "id": pa.array([2], pa.int32())})
    table.upsert(key, on="id")
    assert found(table)[1] == ("b", 2, 7)
    with pytest.raises(InvalidInputError, match="gives it the value 9"):
        table.upsert(key.set_column(2, "id", pa.array([9], pa.int32())), on="id")


def test_rows_of_a_table_without_identity_columns_are_returned_unchanged(tmp_path: Path) -> None:
    table = colonnade.create(str(tmp_path / "t"), COLUMNS)
    data = rows(a=1)
    assert with_identity_columns(data, table._state.schema) is data
    assert (
        with_identities(table._log, table._state, "ab" * 8, data, (), table._state.schema) is data
    )
