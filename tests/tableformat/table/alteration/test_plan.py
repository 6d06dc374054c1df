"""What cannot be altered is refused by name, and what changes nothing makes no epoch."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import (
    ColonnadeError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.model.schema import (
    SchemaField,
)
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    DropColumn,
    DropNotNull,
    MoveColumn,
    RenameColumn,
    WidenColumn,
)
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.table.alteration.points import added

REFUSED: dict[str, tuple[tuple[Alteration, ...], type[ColonnadeError], str]] = {
    "not null": (
        (AddColumn(SchemaField(name="n", type="int", nullable=False)),),
        InvalidInputError,
        "'n' cannot be added as NOT NULL",
    ),
    "taken": ((added("NAME"),), InvalidInputError, "'name' and 'NAME' are the same name"),
    "reserved": ((added("_Row_Handler"),), InvalidInputError, "'_Row_Handler' is reserved"),
    "a name of Spark's": (
        (RenameColumn(("id",), "__row_id"),),
        InvalidInputError,
        "'__row_id' is reserved",
    ),
    "unknown": ((RenameColumn(("nom",), "x"),), NotFoundError, "'nom' does not exist"),
    "unknown field": (
        (DropNotNull(("point", "z")),),
        NotFoundError,
        "Field 'point.z' does not exist; the fields of 'point' are x, y.",
    ),
    "sort key": ((DropColumn(("id",)),), InvalidInputError, "'id' cannot be dropped"),
    "to a taken name": ((RenameColumn(("id",), "Name"),), InvalidInputError, "the same name"),
    "a field after itself": (
        (MoveColumn(("point", "x"), after="X"),),
        InvalidInputError,
        "Field 'point.x' cannot come after itself",
    ),
    "a field of no struct": (
        (AddColumn(SchemaField(name="z", type="int"), parent=("id",)),),
        InvalidInputError,
        "'id' is of type long, and only a struct has fields",
    ),
    "a field that must not be NULL": (
        (AddColumn(SchemaField(name="z", type="int", nullable=False), parent=("point",)),),
        InvalidInputError,
        "'point.z' cannot be added as NOT NULL",
    ),
    "a taken field": (
        (AddColumn(SchemaField(name="X", type="int"), parent=("point",)),),
        InvalidInputError,
        "'point.x' and 'point.X' are the same name",
    ),
    "a field of another type": (
        (WidenColumn(("point", "x"), "string"),),
        InvalidInputError,
        "The type of column 'point.x' cannot be changed from int to string: it can become long",
    ),
    "after itself": ((MoveColumn(("id",), after="id"),), InvalidInputError, "after itself"),
    "after the unknown": ((added("n", after="m"),), NotFoundError, "'m' does not exist"),
    "half a path": (
        (RenameColumn("point.", "x"),),
        InvalidInputError,
        "'point.' is not the path of a column",
    ),
    "a number as a path": (
        (RenameColumn(3, "x"),),  # type: ignore[arg-type]
        InvalidInputError,
        "The path of a column must be a list of column names, not 3",
    ),
    "no path": ((DropColumn(()),), InvalidInputError, "must have at least one name"),
    "half": ((added("n"), DropColumn(("m",))), NotFoundError, "'m' does not exist"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_impossible_alteration_is_refused_and_nothing_changes(
    table: ArrowTable, case: str
) -> None:
    changes, error, text = REFUSED[case]
    before = table.epoch
    with pytest.raises(error, match=text):
        table.alter(*changes)
    assert table.refresh().epoch == before


def test_changes_that_change_nothing_make_no_epoch(table: ArrowTable) -> None:
    before = table.epoch
    assert (
        table.alter(DropColumn(("gone",), if_exists=True), MoveColumn(("id",), first=True))
        == before
    )
