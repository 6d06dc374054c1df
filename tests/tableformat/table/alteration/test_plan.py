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
    "unknown": ((RenameColumn(("nom",), "x"),), NotFoundError, "'nom' does not exist"),
    "unknown field": ((DropNotNull(("point", "z")),), NotFoundError, "'z' does not exist"),
    "sort key": ((DropColumn(("id",)),), InvalidInputError, "'id' cannot be dropped"),
    "a field": ((DropColumn(("point", "x")),), InvalidInputError, "'point.x' cannot be dropped"),
    "to a taken name": ((RenameColumn(("id",), "Name"),), InvalidInputError, "the same name"),
    "move a field": ((MoveColumn(("point", "x")),), InvalidInputError, "cannot be moved"),
    "after itself": ((MoveColumn(("id",), after="id"),), InvalidInputError, "after itself"),
    "after the unknown": ((added("n", after="m"),), NotFoundError, "'m' does not exist"),
    "text as a path": (
        (RenameColumn("id", "x"),),  # type: ignore[arg-type]
        InvalidInputError,
        "The path of a column must be a list of column names, not 'id'",
    ),
    "no path": ((DropColumn(()),), InvalidInputError, "must have at least one name"),
    "half": ((added("n"), DropColumn(("m",))), NotFoundError, "'m' does not exist"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_changed_is_refused_and_nothing_is(table: ArrowTable, case: str) -> None:
    changes, error, text = REFUSED[case]
    before = table.epoch
    with pytest.raises(error, match=text):
        table.alter(*changes)
    assert table.refresh().epoch == before


def test_changes_that_change_nothing_make_no_epoch(table: ArrowTable) -> None:
    before = table.epoch
    assert table.alter(DropColumn(("gone",), if_exists=True), MoveColumn(("id",))) == before
