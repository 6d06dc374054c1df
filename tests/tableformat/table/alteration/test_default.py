"""A default is a literal of its column's type, kept as its user wrote it, or it is refused."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ConflictError, InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    DropDefault,
    SetDefault,
)
from colonnade.tableformat.table.table import ArrowTable
from tests.default_values import add_column, first, older_rowsets


def column(table: ArrowTable, **scan: Any) -> list[Any]:
    """The column `c` in the order of `k`."""
    table.refresh()
    return list(table.scan(**scan).to_arrow().sort_by("k")["c"].to_pylist())


def test_two_changes_of_one_default_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, other = older_rowsets(tmp_path / "t", 0), ArrowTable.open(tmp_path / "t")
    add_column(table, "int", 5)
    other.refresh()
    first(lambda: other.alter(SetDefault(("c",), 7)), monkeypatch)
    with pytest.raises(ConflictError):
        table.alter(SetDefault(("c",), 8))


@pytest.mark.parametrize(
    ("name", "stated", "sql"),
    [
        ("int", "-5", "-5"),
        ("int", 5, "5"),
        ("boolean", "TRUE", "TRUE"),
        ("date", "DATE '2026-01-31'", "DATE '2026-01-31'"),
        ("date", date(2026, 1, 31), "CAST('2026-01-31' AS DATE)"),
        ("timestamp", "TIMESTAMP '2026-01-31 00:00:00Z'", "TIMESTAMP '2026-01-31 00:00:00Z'"),
        ("char(3)", "'a'", "'a'"),
        ("decimal(9,2)", Decimal("12.5"), "CAST('12.50' AS DECIMAL(9,2))"),
        ("float", 0.1, "CAST('0.10000000149011612' AS FLOAT)"),
    ],
)
def test_a_default_keeps_the_text_that_the_user_wrote(
    tmp_path: Path, name: str, stated: Any, sql: str
) -> None:
    table = older_rowsets(tmp_path / "t", 1, 1)
    add_column(table, name, stated)
    default = table._state.schema.fields[1].default
    assert default is not None
    assert (default.sql, default.value) == (sql, table._state.schema.fields[1].initial)


@pytest.mark.parametrize("given", ["NULL", "CAST(NULL AS INT)"])
def test_null_is_no_default(tmp_path: Path, given: str) -> None:
    table = older_rowsets(tmp_path / "t", 1, 1)
    add_column(table, "int", given)
    assert column(table) == [None]
    table.alter(SetDefault(("c",), 5))
    table.alter(SetDefault(("c",), None))
    assert table._state.schema.fields[1] == SchemaField(id=2, name="c", type="int")


INT = SchemaField(name="c", type="int")
NOT_NULL = SchemaField(name="c", type="int", nullable=False)
LIST = colonnade.ArrayType(element=SchemaField(name="element", type="int"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (AddColumn(INT, default="'text'"), "Column 'c' is int and cannot be set to string text"),
        (AddColumn(INT, default=2**31), "Column 'c' is int and cannot be set to integer 21474"),
        (AddColumn(INT, default="k"), "default 'k' of column 'c' is not a literal"),
        (AddColumn(INT, default="k = 1"), "default 'k = 1' of column 'c' is not a literal"),
        (AddColumn(INT, default="1 +"), "default '1 +' of column 'c' is not a literal"),
        (
            AddColumn(INT, default="current_date()"),
            "'current_date()' of column 'c' is not a literal",
        ),
        (AddColumn(NOT_NULL), "'c' cannot be added as NOT NULL"),
        (AddColumn(NOT_NULL, default="NULL"), "'c' is NOT NULL and cannot have the default NULL"),
        (
            AddColumn(SchemaField(name="c", type="varchar(3)"), default="'four'"),
            "Column 'c' is varchar(3), but the data has a value of 4 characters",
        ),
        (
            AddColumn(SchemaField(name="c", type="decimal(3,1)"), default="100.0"),
            "Column 'c' is decimal(3,1) and cannot be set to decimal 100.0",
        ),
        (
            AddColumn(SchemaField(name="c", type="interval year"), default="INTERVAL '1' MONTH"),
            "Column 'c' is interval year, which cannot hold 1 months",
        ),
        (
            AddColumn(SchemaField(name="c", type=LIST), default=[1]),
            "Column 'c' is array<int> and cannot have a default",
        ),
        (
            AddColumn(SchemaField(name="c", type="string"), default=f"'{'x' * 2**16}'"),
            "The default of column 'c' has more than 65536 bytes",
        ),
        (SetDefault(("k",), "NULL"), "'k' is NOT NULL and cannot have the default NULL"),
        (SetDefault(("k", "x"), 1), "Field 'k.x' cannot have a default: only whole columns can"),
        (SetDefault(("other",), 1), "Column 'other' does not exist"),
        (DropDefault(("other",)), "Column 'other' does not exist"),
        (SetDefault((), 1), "The path of a column must have at least one name"),
    ],
)
def test_an_impossible_default_is_refused_and_nothing_changes(
    tmp_path: Path, change: Alteration, said: str
) -> None:
    schema = pa.schema([pa.field("k", pa.int64(), nullable=False)])
    table = colonnade.create(tmp_path / "t", schema)
    with pytest.raises((InvalidInputError, NotFoundError), match=re.escape(said)):
        table.alter(change)
    assert table.refresh().epoch == 1
