"""A constraint is added only if all rows meet it, also those that land meanwhile."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import colonnade
from colonnade import (
    AddConstraint,
    ArrowTable,
    ConflictError,
    DropConstraint,
    InvalidInputError,
)
from colonnade.tableformat.scan import run
from colonnade.tableformat.table.alteration import constrained_rows as rules
from tests.tableformat.table.constrained import SCHEMA, contents, large, row, table_of


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    made = colonnade.create(f"{tmp_path}/t", SCHEMA, constraints={"positive": "a > 0"})
    made.append(table_of(row(1), row(2)))
    return made


def test_a_constraint_is_added_after_the_rows_were_checked(table: ArrowTable) -> None:
    epoch = table.alter(AddConstraint("order", "a < b"))
    assert table.constraints == {"positive": "a > 0", "order": "a < b"}
    with pytest.raises(InvalidInputError, match="'order'.*a = 3, b = 2"):
        table.append(table_of(row(3, 3, 2)))
    [entry] = table.history(1)
    assert (entry.epoch, entry.operation) == (epoch, "alter_table")
    assert entry.parameters["changes"] == "add constraint order CHECK (a < b)"


@pytest.mark.parametrize("rows", [1, pytest.param(70_000, marks=pytest.mark.long)])
def test_a_constraint_that_a_row_contradicts_is_refused_and_the_row_named(
    table: ArrowTable, rows: int
) -> None:
    table.append(table_of(*(row(key) for key in range(10, 9 + rows)), row(5, 9, 4)))
    before = table.epoch
    with pytest.raises(InvalidInputError) as caught:
        table.alter(AddConstraint("order", "a < b"))
    assert str(caught.value) == (
        "Constraint 'order' of table 't', CHECK (a < b), does not hold for a row with a = 9, b = 4;"
        " the constraint was not added."
    )
    assert (table.refresh().epoch, table.constraints) == (before, {"positive": "a > 0"})
    table.delete("key = 5")
    table.alter(AddConstraint("order", "a < b"))


def test_rows_that_statistics_decide_are_not_read(tmp_path: Path) -> None:
    table = colonnade.create(f"{tmp_path}/t", SCHEMA)
    table.append(large(1000))
    with patch.object(rules, "read_plan", side_effect=lambda _, plan: iter(plan.rowsets)) as read:
        table.alter(AddConstraint("few", "a < 100"))
    assert [list(call.args[1].rowsets) for call in read.call_args_list] == [[]]


class Rival:
    """Appends rows between the check of a new constraint and its commit, a few times."""

    def __init__(self, table: ArrowTable, *batches: list[dict[str, Any]]) -> None:
        self.table = colonnade.open(table.path)
        self.batches = list(batches)
        self.read: list[int] = []

    def __enter__(self) -> Rival:
        check, read = rules.ConstrainedRows.check, run.read_plan

        def then_append(*args: Any) -> None:
            check(*args)
            if self.batches:
                self.table.append(table_of(*self.batches.pop(0)))

        def noted(store: Any, plan: Any) -> Any:
            self.read.append(len(plan.rowsets))
            return read(store, plan)

        self.patches = ExitStack()
        self.patches.enter_context(patch.object(rules.ConstrainedRows, "check", then_append))
        self.patches.enter_context(patch.object(rules, "read_plan", noted))
        return self

    def __exit__(self, *_: object) -> None:
        self.patches.close()


def test_rows_that_land_while_a_constraint_is_added_are_checked_and_only_they(
    table: ArrowTable,
) -> None:
    with Rival(table, [row(3, 1, 2)], [row(4, 1, 2), row(5, 1, 2)]) as rival:
        table.alter(AddConstraint("order", "a < b"))
    assert rival.read == [1, 1, 1]
    assert len(contents(table)) == 5


def test_a_row_that_lands_meanwhile_refuses_a_constraint_that_it_contradicts(
    table: ArrowTable,
) -> None:
    with Rival(table, [row(3, 2, 1)]), pytest.raises(InvalidInputError, match="a = 2, b = 1"):
        table.alter(AddConstraint("order", "a < b"))
    assert "order" not in colonnade.open(table.path).constraints


def test_rows_that_were_planned_before_a_constraint_do_not_land_unchecked(
    table: ArrowTable,
) -> None:
    table.alter(DropConstraint("positive"))
    late = colonnade.open(table.path)
    assert late.constraints == {}
    table.alter(AddConstraint("order", "a < b"))
    with pytest.raises(ConflictError, match="got the constraint 'order'"):
        late.append(table_of(row(3, 2, 1)))
    with pytest.raises(InvalidInputError, match="'order'"):
        late.append(table_of(row(3, 2, 1)))  # the refused append has read the newest state
    late.append(table_of(row(3, 1, 2)))


def test_an_append_is_checked_against_the_constraints_of_the_newest_state(
    table: ArrowTable,
) -> None:
    late = colonnade.open(table.path)
    assert late.constraints == {"positive": "a > 0"}
    table.alter(DropConstraint("positive"))
    late.append(table_of(row(3, -1, 2)))
    assert len(contents(late)) == 3


def test_a_statement_that_runs_again_is_checked_against_the_new_constraint(
    table: ArrowTable,
) -> None:
    late = colonnade.open(table.path)
    assert late.constraints == {"positive": "a > 0"}
    table.alter(AddConstraint("order", "a < b"))
    with pytest.raises(InvalidInputError, match="'order'"):
        late.update({"b": 0}, "key = 1")
