"""Clauses of a MERGE are resolved by name, and refused in one sentence."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from colonnade import InvalidInputError, SchemaField, TableSchema
from colonnade.tableformat.statements.merge_clauses import Merge, MergeClause, Sides, chosen
from colonnade.tableformat.statements.statement import RowCounts

TARGET = TableSchema(
    fields=(
        SchemaField(id=1, name="id", type="long", nullable=False),
        SchemaField(id=2, name="v", type="int"),
    )
)
SOURCE = TableSchema(
    fields=(SchemaField(id=1, name="ID", type="long"), SchemaField(id=2, name="v", type="int"))
)
SIDES = Sides(TARGET, SOURCE, ("target", "source"))


def test_each_group_names_the_sides_that_it_has() -> None:
    assert SIDES.schema("matched").names == ("target", "source")
    assert SIDES.schema("not matched").names == ("source",)
    assert SIDES.schema("not matched by source").names == ("target",)


def test_a_row_is_taken_by_the_first_clause_whose_condition_is_true() -> None:
    clauses = [
        MergeClause("matched", "delete", "source.v > target.v"),
        MergeClause("matched", "update", "10 / (target.v - 3) > 0", {"v": "0"}),
        MergeClause("matched", "update"),
    ]
    bound = SIDES.bind(clauses, "matched")
    batch = pa.record_batch({"id": [1, 2, 3], "v": pa.array([3, 4, None], pa.int32())})
    other = pa.record_batch({"ID": [1, 2, 3], "v": pa.array([9, 1, 1], pa.int32())})
    found = [rows.tolist() for rows in chosen(bound, SIDES.rows(batch, other))]
    assert found == [[0], [1], [2]]


@pytest.mark.parametrize(
    ("clause", "reason"),
    [
        (MergeClause("not matched", "insert", "target.v > 0"), "'target.v' has no value in WHEN"),
        (MergeClause("matched", "update", None, {}), "sets no column"),
        (MergeClause("matched", "update", None, {"w": "1"}), "'w' does not exist"),
        (MergeClause("matched", "update", None, {"v": "1", "V": "2"}), "set more than once"),
        (MergeClause("matched", "update", None, {"v": "source.w"}), "'w' does not exist"),
        (MergeClause("matched", "update", None, {"v": "v + 1"}), "write target.v or source.v"),
        (MergeClause("matched", "delete", "ID = 1"), "write target.ID or source.ID"),
        (MergeClause("not matched", "insert", None, {"v": "v"}), "write source.v"),
        (
            MergeClause("not matched by source", "delete", "source.v = 1"),
            "'source.v' has no value in WHEN NOT MATCHED BY SOURCE .*; use columns of 'target'",
        ),
    ],
)
def test_a_clause_that_names_what_there_is_not_is_refused(clause: MergeClause, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        SIDES.bind([clause], clause.group)


def test_only_the_last_clause_of_a_group_may_lack_a_condition() -> None:
    clauses = [MergeClause("matched", "delete"), MergeClause("not matched", "insert")]
    assert [len(SIDES.bind(clauses, each)) for each in ("matched", "not matched")] == [1, 1]
    with pytest.raises(InvalidInputError, match="^WHEN MATCHED THEN DELETE takes all rows"):
        SIDES.bind([*clauses, MergeClause("matched", "update", "source.v > 1")], "matched")


def test_all_columns_are_those_of_the_source_which_the_table_has() -> None:
    [bound] = SIDES.bind([MergeClause("matched", "update")], "matched")
    assert set(bound.values) == {1, 2}
    more = TableSchema(fields=(*SOURCE.fields, SchemaField(id=3, name="w", type="int")))
    with pytest.raises(InvalidInputError, match="a column 'w', which the table does not have"):
        Sides(TARGET, more, SIDES.names).bind([MergeClause("matched", "update")], "matched")


@pytest.mark.parametrize(
    ("clause", "reads"),
    [
        (MergeClause("matched", "update"), set()),
        (MergeClause("matched", "update", "source.v > TARGET.V"), {2}),
        (MergeClause("matched", "update", None, {"v": "source.v"}), {1}),
        (MergeClause("matched", "update", None, {"v": "target.v + 1"}), {1, 2}),
        (MergeClause("matched", "update", "target IS NULL"), {1, 2}),
        (MergeClause("matched", "update", None, {"id": "1", "v": lambda rows: rows["v"]}), {1, 2}),
        (MergeClause("matched", "delete"), set()),
        (MergeClause("not matched by source", "delete", "target.id = 1"), {1}),
    ],
)
def test_a_clause_needs_the_columns_that_it_names_or_keeps(
    clause: MergeClause, reads: set[int]
) -> None:
    [bound] = SIDES.bind([clause], clause.group)
    assert bound.reads == reads


def test_a_merge_is_a_value_that_clauses_are_added_to() -> None:
    ran: list[Any] = []

    def run(clauses: tuple[MergeClause, ...]) -> RowCounts:
        ran.append(clauses)
        return RowCounts()

    empty = Merge(run)
    one = empty.when_matched_delete("source.v = 1")
    one.when_not_matched_insert_all().execute()
    one.execute()
    assert [len(each) for each in ran] == [2, 1]
    assert str(ran[1][0]) == "WHEN MATCHED AND source.v = 1 THEN DELETE"
    with pytest.raises(InvalidInputError, match="without a clause"):
        empty.execute()
