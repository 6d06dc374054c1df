"""A constraint holds for every row of every epoch after it, however the rows were written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colonnade
from colonnade import (
    AddConstraint,
    ArrowDatabase,
    ArrowTable,
    DropConstraint,
    InvalidInputError,
)
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from tests.tableformat.table.constrained import SCHEMA, contents, large, only_spark, row, table_of


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    made = colonnade.create(f"{tmp_path}/t", SCHEMA, constraints={"positive": "a > 0"})
    made.append(table_of(row(1), row(2)))
    return made


ROADS: dict[str, Callable[[ArrowTable, dict[str, Any]], object]] = {
    "append": lambda t, r: t.append(table_of(r)),
    "overwrite": lambda t, r: t.overwrite(table_of(r)),
    "overwrite where": lambda t, r: t.overwrite(table_of({**r, "key": 1}), "key = 1"),
    "overwrite partitions": lambda t, r: t.overwrite_partitions(table_of(r)),
    "upsert": lambda t, r: t.upsert(table_of(r, row(9)), on=["key"]),
    "update": lambda t, r: t.update({"a": r["a"], "b": r["b"]}, "key = 1"),
    "backfill": lambda t, r: t.backfill("a", r["a"], "key = 1"),
    "backfill everywhere": lambda t, r: t.backfill("a", lambda _: pa.scalar(r["a"], pa.int32())),
    "transaction": lambda t, r: in_transaction(t, lambda tx: tx.append(table_of(r))),
    "update in a transaction": lambda t, r: in_transaction(
        t, lambda tx: tx.update({"a": r["a"]}, "key = 1")
    ),
}


def test_a_backfill_is_checked_with_the_other_columns_of_a_constraint(table: ArrowTable) -> None:
    table.alter(AddConstraint("order", "a <= b"))
    with pytest.raises(InvalidInputError, match="'order'.* a = 3, b = 2"):
        table.backfill("a", 3)
    table.backfill("a", 2, "key = 2")
    assert [each["a"] for each in contents(table)] == [1, 2]


def in_transaction(table: ArrowTable, statement: Callable[[Any], object]) -> None:
    path = Path(table.path)
    database = colonnade.create_database(f"{path.parent}/db")
    made = database.create_table("t", SCHEMA, constraints=table.constraints)
    made.append(table_of(row(1)))
    try:
        with database.transaction() as tx:
            statement(tx.table("t"))
    finally:
        assert all(each["a"] is None or each["a"] > 0 for each in contents(database.table("t")))


@pytest.mark.parametrize("road", ROADS)
def test_no_road_writes_a_row_that_a_constraint_does_not_allow(
    table: ArrowTable, road: str
) -> None:
    before, epoch = contents(table), table.epoch
    with pytest.raises(InvalidInputError, match=r"'positive'.*CHECK \(a > 0\).* a = -7"):
        ROADS[road](table, row(1, -7))
    table.refresh()
    assert (contents(table), table.epoch) == (before, epoch)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("value", [5, None])
def test_every_road_writes_rows_that_are_allowed_and_null_is(
    table: ArrowTable, road: str, value: int | None
) -> None:
    ROADS[road](table, row(1, value))


@pytest.mark.parametrize("road", [name for name in ROADS if "transaction" not in name])
def test_every_road_without_spark_refuses_what_only_spark_can_check(
    table: ArrowTable, road: str
) -> None:
    only_spark(table)
    before = contents(table)
    text = r"'spark', CHECK \(octet_length\(note\) < 9\); write"
    with pytest.raises(InvalidInputError, match=text):
        ROADS[road](table, row(1))
    assert contents(table) == before


def test_rows_can_be_deleted_and_compacted_whatever_the_constraints_are(table: ArrowTable) -> None:
    table.append(table_of(row(3)))
    only_spark(table)
    table.delete("key = 1")
    table.optimize().executeCompaction()
    assert [each["key"] for each in contents(table)] == [2, 3]


@pytest.mark.parametrize("moves", [False, True], ids=["in place", "moved"])
def test_an_update_replaces_columns_where_their_values_decide_the_constraints(
    tmp_path: Path, moves: bool
) -> None:
    conditions = {"positive": "a > 0", **({"order": "a <= b"} if moves else {})}
    table = colonnade.create(f"{tmp_path}/t", SCHEMA, constraints=conditions)
    table.append(large(8_000))
    counts = table.update({"a": 2}, "key >= 0")
    assert (counts.rows_updated, counts.rowsets_in_place) == (8_000, 0 if moves else 1)
    before = contents(table)
    with pytest.raises(InvalidInputError, match="'positive'.* a = 0"):
        table.update({"a": 0}, "key > 100")
    if moves:
        with pytest.raises(InvalidInputError, match="'order'.* a = 3, b = 2"):
            table.update({"a": 3})
    assert contents(table) == before


def test_a_dropped_table_comes_back_with_its_constraints(tmp_path: Path) -> None:
    database = colonnade.create_database(f"{tmp_path}/db")
    made = database.create_table("t", SCHEMA, constraints={"positive": "a > 0"})
    epoch = made.append(table_of(row(1)))
    database.drop_table("t")
    database.restore(epoch=epoch)
    with pytest.raises(InvalidInputError, match="'positive'"):
        database.table("t").append(table_of(row(2, -1)))


@pytest.mark.parametrize(
    ("name", "condition", "text"),
    [
        ("c", "octet_length(note) < 3", "'c'.*cannot be added without Spark: .*OCTET"),
        ("c", "z > 0", "'c'.* Column 'z' does not exist"),
        ("c", "a", "'c'.*"),
        ("c", "a > ", "'c'.* is not SQL from"),
        ("c", "rand() > 0.5", "'c'.*RAND"),
        ("c", "a IN (SELECT 1)", "'c'"),
        ("c", "max(a) > 1", "'c'.*MAX"),
        ("c", "a > 'x'", "'c'"),
        ("Positive", "a > 1", "'positive' exists already"),
        ("", "a > 0", "name of a constraint must be text of 1 to 255"),
        ("c", "", "condition of a constraint must be text of 1 to 65536"),
        ("c", None, "condition of a constraint must be text"),
    ],
)
def test_a_condition_that_cannot_be_checked_is_refused_by_name(
    table: ArrowTable, name: str, condition: Any, text: str
) -> None:
    before = table.epoch
    with pytest.raises(InvalidInputError, match=text):
        table.alter(AddConstraint(name, condition))
    assert table.refresh().epoch == before


def test_the_constraints_of_a_new_table_are_checked_for_sense(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="'c'.*'z' does not exist"):
        colonnade.create(f"{tmp_path}/t", SCHEMA, constraints={"c": "z > 0"})
    with pytest.raises(InvalidInputError, match="'c' exists already"):
        colonnade.create(f"{tmp_path}/t", SCHEMA, constraints={"c": "a > 0", "C": "a > 0"})
    with pytest.raises(InvalidInputError, match="must be a dict"):
        colonnade.create(f"{tmp_path}/t", SCHEMA, constraints=["a > 0"])  # type: ignore[arg-type]


CONDITIONS: dict[str, Callable[[dict[str, Any]], bool | None]] = {
    "a > 0": lambda r: None if r["a"] is None else r["a"] > 0,
    "a <= b": lambda r: None if None in (r["a"], r["b"]) else r["a"] <= r["b"],
    "b IS NOT NULL": lambda r: r["b"] is not None,
    "NOT (a = 3)": lambda r: None if r["a"] is None else r["a"] != 3,
}
VALUES = st.one_of(st.none(), st.integers(-2, 4))
STATEMENTS = st.one_of(
    st.tuples(st.just("append"), st.lists(st.tuples(VALUES, VALUES), max_size=3)),
    st.tuples(st.just("upsert"), st.integers(0, 3), VALUES, VALUES),
    st.tuples(st.just("update"), st.integers(0, 3), st.sampled_from("ab"), VALUES),
    st.tuples(st.just("add"), st.sampled_from(sorted(CONDITIONS))),
    st.tuples(st.just("drop"), st.sampled_from(sorted(CONDITIONS))),
    st.tuples(st.just("compact")),
)


class Model:
    """Rows and conditions as plain values, which say whether a statement is allowed."""

    def __init__(self) -> None:
        self.rows: dict[int, dict[str, Any]] = {}
        self.conditions: set[str] = set()

    def holds(self, rows: dict[int, dict[str, Any]], conditions: set[str]) -> bool:
        return all(CONDITIONS[c](r) is not False for r in rows.values() for c in conditions)

    def after(self, statement: tuple[Any, ...]) -> tuple[dict[int, dict[str, Any]], set[str]]:
        rows, conditions = {k: dict(r) for k, r in self.rows.items()}, set(self.conditions)
        match statement:
            case ("append", values):
                first = max(rows, default=-1) + 1
                rows |= {first + i: row(first + i, a, b) for i, (a, b) in enumerate(values)}
            case ("upsert", key, a, b):
                rows[key] = row(key, a, b)
            case ("update", key, column, value) if key in rows:
                rows[key][column] = value
            case ("add", condition):
                conditions.add(condition)
            case ("drop", condition):
                conditions.discard(condition)
        return rows, conditions


def carry_out(table: ArrowTable, model: Model, statement: tuple[Any, ...]) -> None:
    match statement:
        case ("append", values):
            first = max(model.rows, default=-1) + 1
            table.append(table_of(*(row(first + i, a, b) for i, (a, b) in enumerate(values))))
        case ("upsert", key, a, b):
            table.upsert(table_of(row(key, a, b)), on=["key"])
        case ("update", key, column, value):
            table.update({column: value}, f"key = {key}")
        case ("add", condition):
            if condition not in model.conditions:
                table.alter(AddConstraint(condition, condition))
        case ("drop", condition):
            table.alter(DropConstraint(condition, if_exists=True))
        case ("compact",):
            table.optimize().executeCompaction()


@pytest.mark.slow
@given(statements=st.lists(STATEMENTS, max_size=12))
def test_random_statements_leave_the_rows_of_a_model_or_change_nothing(
    statements: list[tuple[Any, ...]],
) -> None:
    store, model = MemoryStore(), Model()
    database = ArrowDatabase(store, Log(store), create_database(store, lone_table=False))
    table = database.create_table("t", SCHEMA)
    for statement in statements:
        rows, conditions = model.after(statement)
        if model.holds(rows, conditions):
            carry_out(table, model, statement)
            model.rows, model.conditions = rows, conditions
        else:
            with pytest.raises(InvalidInputError, match="does not hold for a row"):
                carry_out(table, model, statement)
            table.refresh()
        assert contents(table) == [model.rows[key] for key in sorted(model.rows)]
        assert set(table.constraints) == model.conditions
