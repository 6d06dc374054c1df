"""Constraints are added and dropped by name, and keep the columns that they read."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import (
    AddColumn,
    AddConstraint,
    ArrowTable,
    DropColumn,
    DropConstraint,
    InvalidInputError,
    MoveColumn,
    NotFoundError,
    RenameColumn,
    SchemaField,
    TableSchema,
    WidenColumn,
)
from tests.tableformat.table.constrained import SCHEMA, contents, only_spark, row, table_of


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    made = colonnade.create(f"{tmp_path}/t", SCHEMA, constraints={"positive": "a > 0"})
    made.append(table_of(row(1), row(2)))
    return made


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (DropColumn(("a",)), r"'a' cannot be dropped: the constraint 'positive', CHECK \(a > 0\)"),
        (WidenColumn(("b",), "double"), "'b' cannot be changed to another type.* 'order'"),
    ],
)
def test_a_column_that_a_constraint_reads_stays_what_it_is(
    table: ArrowTable, change: colonnade.DropColumn, text: str
) -> None:
    table.alter(AddConstraint("place", "at.x >= 0"), AddConstraint("order", "a < b"))
    before = table._state.schema
    with pytest.raises(InvalidInputError, match=text):
        table.alter(change)
    table.refresh()
    assert table._state.schema == before


def test_a_column_and_a_field_that_constraints_read_are_renamed_and_the_conditions_show_it(
    table: ArrowTable,
) -> None:
    table.alter(AddConstraint("place", "at.x >= 0 or A is null"), AddConstraint("order", "a < b"))
    epoch = table.epoch
    table.alter(RenameColumn("a", "x y"), RenameColumn(("at", "x"), "left"), RenameColumn("b", "a"))
    assert table.constraints == {
        "positive": "`x y` > 0",
        "place": "at.`left` >= 0 or `x y` is null",
        "order": "`x y` < `a`",
    }
    with pytest.raises(InvalidInputError, match=r"CHECK \(`x y` > 0\), does not hold.*x y = -5"):
        table.update({"x y": -5}, "TRUE")
    with pytest.raises(InvalidInputError, match="'x y' cannot be dropped: .*`x y` > 0"):
        table.alter(DropColumn("x y"))
    table.restore(epoch)
    assert table.constraints["order"] == "a < b"
    table.append(table_of(row(3)))
    with pytest.raises(InvalidInputError, match="positive"):
        table.update({"a": -5}, "TRUE")


def test_a_column_is_free_once_its_constraints_are_dropped_even_in_the_same_statement(
    table: ArrowTable,
) -> None:
    table.alter(DropColumn(("a",)), DropConstraint("POSITIVE"))
    assert table.constraints == {}
    table.append(table_of(row(3)).drop_columns(["a"]))


def test_a_column_widens_where_a_constraint_compares_it_with_literals(table: ArrowTable) -> None:
    table.alter(WidenColumn(("a",), "long"))
    with pytest.raises(InvalidInputError, match=f"a = {-(2**40)}"):
        table.update({"a": -(2**40)})
    table.update({"a": 2**40})
    table.alter(WidenColumn(("a",), "decimal(30,2)"))
    with pytest.raises(InvalidInputError, match=r"a = -0\.01"):
        table.update({"a": Decimal("-0.01")})
    with pytest.raises(InvalidInputError, match="cannot be dropped"):
        table.alter(DropColumn(("a",)))


@pytest.mark.parametrize("wider", ["varchar(3)", "string"])
def test_a_char_that_a_constraint_reads_stays_char(tmp_path: Path, wider: str) -> None:
    """A comparison ignores the spaces that pad it, and would not once it is another text."""
    fields = (SchemaField(name="c", type="char(3)"),)
    made = colonnade.create(
        f"{tmp_path}/t", TableSchema(fields=fields), constraints={"is_a": "c = 'a'"}
    )
    made.append(pa.table({"c": ["a"]}))
    with pytest.raises(InvalidInputError, match=r"'c' cannot be changed to another type.* 'is_a'"):
        made.alter(WidenColumn("c", wider))
    made.alter(DropConstraint("is_a"), WidenColumn("c", wider))
    assert made.scan().to_arrow()["c"].to_pylist() == ["a  "]


ADD_FIELD = AddColumn(SchemaField(name="y", type="int"), parent="at", first=True)


@pytest.mark.parametrize("sql", ["at <> named_struct('x', 1)", "to_json(at) <> note"])
def test_a_struct_that_a_constraint_reads_as_one_value_keeps_its_fields_in_their_order(
    table: ArrowTable, sql: str
) -> None:
    """Spark compares all fields of two structs, in their order."""
    table.alter(AddColumn(SchemaField(name="z", type="int"), parent="at"))
    only_spark(table, sql, 5)
    before = table._state.schema
    for change in (ADD_FIELD, MoveColumn("at.z", first=True)):
        with pytest.raises(InvalidInputError, match="'at' cannot be changed inside: .* 'spark'"):
            table.alter(change)
    table.refresh()
    assert table._state.schema == before


@pytest.mark.parametrize("sql", ["at.x >= 0", "sign(at.x) >= 0", "at IS NOT NULL"])
def test_a_struct_gets_fields_that_no_constraint_reads(table: ArrowTable, sql: str) -> None:
    only_spark(table, sql, 5)
    table.alter(ADD_FIELD)
    table.alter(MoveColumn("at.y", after="x"))


def test_a_constraint_may_read_a_column_that_the_same_statement_adds(table: ArrowTable) -> None:
    added = AddColumn(SchemaField(name="size", type="long"))
    table.alter(added, AddConstraint("sized", "size >= 0"))
    table.append(table_of(row(3)))
    with pytest.raises(InvalidInputError, match="'sized'.*size = -1"):
        table.update({"size": -1})


def test_a_restore_brings_back_the_constraints_of_its_epoch(table: ArrowTable) -> None:
    before = table.epoch
    with_order = table.alter(AddConstraint("order", "a < b"))
    without = table.alter(DropConstraint("positive"), DropConstraint("order"))
    table.append(table_of(row(3, -1, -2)))
    table.restore(epoch=with_order)
    assert table.constraints == {"positive": "a > 0", "order": "a < b"}
    assert [each["key"] for each in contents(table)] == [1, 2]
    table.restore(epoch=before)
    assert table.constraints == {"positive": "a > 0"}
    table.restore(epoch=without + 1)
    assert table.constraints == {}
    assert contents(table, epoch=before) == contents(table, epoch=with_order)


def test_a_constraint_that_does_not_exist_cannot_be_dropped(table: ArrowTable) -> None:
    with pytest.raises(NotFoundError, match="'none' does not exist; .* are: positive"):
        table.alter(DropConstraint("none"))
    assert table.alter(DropConstraint("none", if_exists=True)) == table.epoch
