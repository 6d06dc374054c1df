"""An upsert on the primary key merges each row with the row of the table that has its key."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import ArrowTable
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.schema import IdentityColumn
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.statements.keyed.upsert import evaluate_upsert
from colonnade.tableformat.statements.statement import Statement
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings
from tests.keyed_world import KEY, SCHEMA, KeyedWorld, expected, random_rows, sorted_rows, table_of
from tests.tableformat.statements.keyed.changes import change_at_random, upsert_at_random
from tests.tableformat.statements.tables import another, made

PLAIN = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("n", pa.int32(), nullable=False),
        ("text", pa.string()),
    ]
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_batches_of_any_columns_make_what_the_model_makes(seed: int) -> None:
    rng = random.Random(seed)
    world = KeyedWorld.chosen(rng)
    table = made(schema=arrow_schema(SCHEMA), key=KEY, properties=world.properties)
    for _ in range(rng.randrange(1, 6)):
        upsert_at_random(table, world, rng)
        assert sorted_rows(table.scan().to_arrow()).equals(expected(world))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_a_merge_meets_what_concurrent_writers_have_made_of_its_rows(seed: int) -> None:
    rng = random.Random(seed)
    world = KeyedWorld.chosen(rng)
    table = made(schema=arrow_schema(SCHEMA), key=KEY, properties=world.properties)
    for _ in range(3):
        upsert_at_random(table, world, rng)
    columns = world.columns(rng)
    mine = random_rows(rng, columns, rng.randrange(1, 7))
    rival = another(table)
    tries: list[Statement] = []

    def evaluate(log: StatementLog, state: TableState, job_id: str) -> Statement:
        statement = evaluate_upsert(log, state, table_of(mine, columns), job_id)
        if not tries:
            for _change in range(rng.randrange(1, 4)):
                change_at_random(rival, world, rng)
        tries.append(statement)
        return statement

    table._run(evaluate, None)
    world.upsert(mine)
    assert len(tries) == 1
    assert sorted_rows(table.scan().to_arrow()).equals(expected(world))


def test_the_columns_that_a_batch_leaves_out_keep_their_values() -> None:
    table = made(schema=PLAIN, key=("id",))
    table.upsert(pa.table({"id": [1, 2], "n": pa.array([10, 20], pa.int32()), "text": ["a", "b"]}))
    table.upsert(pa.table({"ID": [2], "Text": ["new"]}))
    assert found(table) == [(1, 10, "a"), (2, 20, "new")]


def test_a_new_row_needs_a_value_in_each_column_that_has_no_default() -> None:
    table = made(schema=PLAIN, key=("id",))
    table.upsert(pa.table({"id": [1], "n": pa.array([10], pa.int32())}))
    with pytest.raises(InvalidInputError, match=r"'n' of table 't' is NOT NULL.*key id = 7 is new"):
        table.upsert(pa.table({"id": [1, 7], "text": ["a", "b"]}))
    assert found(table) == [(1, 10, None)]


def test_a_sum_that_overflows_names_column_and_key_and_changes_nothing() -> None:
    table = made(schema=PLAIN, key=("id",), properties={"merge.n": "add"})
    table.upsert(pa.table({"id": [1, 2], "n": pa.array([5, 2**31 - 1], pa.int32())}))
    with pytest.raises(InvalidInputError, match="'n' has the merge mode add.*id = 2 does not fit"):
        table.upsert(pa.table({"id": [1, 2], "n": pa.array([1, 1], pa.int32())}))
    assert found(table) == [(1, 5, None), (2, 2**31 - 1, None)]


def test_constraints_are_checked_on_the_merged_row() -> None:
    table = made(
        schema=PLAIN,
        key=("id",),
        properties={"merge.n": "add"},
        constraints={"small": "n < 10"},
    )
    table.upsert(pa.table({"id": [1], "n": pa.array([6], pa.int32())}))
    with pytest.raises(InvalidInputError, match="'small'"):
        table.upsert(pa.table({"id": [1], "n": pa.array([6], pa.int32())}))
    assert found(table) == [(1, 6, None)]


def test_generated_columns_follow_the_merged_row() -> None:
    schema = PLAIN.append(pa.field("twice", pa.int32()))
    table = made(
        schema=schema,
        key=("id",),
        properties={"merge.n": "add"},
        generated={"twice": "n + n"},
    )
    for _ in range(2):
        table.upsert(pa.table({"id": [1], "n": pa.array([6], pa.int32())}))
    assert table.scan(["n", "twice"]).to_arrow().to_pylist() == [{"n": 12, "twice": 24}]
    with pytest.raises(InvalidInputError, match="'twice'.*without column 'n'"):
        table.upsert(pa.table({"id": [1], "twice": pa.array([6], pa.int32())}))


def test_a_row_keeps_its_value_of_an_identity_column_and_a_new_row_gets_one() -> None:
    schema = PLAIN.append(pa.field("number", pa.int64(), nullable=False))
    table = made(schema=schema, key=("id",), identity={"number": IdentityColumn()})
    rows = {"id": [1, 2], "n": pa.array([6, 7], pa.int32())}
    table.upsert(pa.table(rows))
    table.upsert(pa.table({"id": [2, 3], "n": pa.array([8, 9], pa.int32())}))
    numbers = table.scan(["id", "number"]).to_arrow().to_pylist()
    assert sorted((row["id"], row["number"]) for row in numbers) == [(1, 1), (2, 2), (3, 3)]
    with pytest.raises(InvalidInputError, match="'number'.*ALWAYS AS IDENTITY"):
        table.upsert(pa.table({**rows, "number": [8, 9]}))


def test_a_table_without_a_key_has_nothing_to_upsert_by() -> None:
    with pytest.raises(InvalidInputError, match="has no primary key to upsert by"):
        made(schema=PLAIN).upsert(pa.table({"id": [1]}))


def test_upserts_that_meet_on_keys_all_count() -> None:
    table = made(schema=PLAIN, key=("id",), properties={"merge.n": "add"})
    one = pa.table({"id": [1, 2], "n": pa.array([1, 1], pa.int32())})
    others = [another(table) for _ in range(3)]
    for each in (*others, table, *others):
        each.upsert(one)
    table.refresh()
    assert found(table) == [(1, 7, None), (2, 7, None)]


def test_appended_rows_merge_where_the_table_or_the_write_says_so() -> None:
    one = pa.table({"id": [1, 1], "n": pa.array([1, 2], pa.int32()), "text": ["a", "b"]})
    table = made(schema=PLAIN, key=("id",), properties={"merge.n": "add", "onDuplicate": "merge"})
    table.append(one)
    table.append(one.select(["id", "n"]), commit=CommitSettings(batch=("app", 1)))
    table.append(one.select(["id", "n"]), commit=CommitSettings(batch=("app", 1)))
    assert found(table) == [(1, 6, "b")]
    with ArrowTransaction(table._log, table._snapshot) as transaction:
        transaction.table("t").append(one)
    table.refresh()
    assert found(table) == [(1, 9, "b")]
    with pytest.raises(InvalidInputError, match="allows a key once"):
        table.append(one, settings=WriteSettings(on_duplicate="error"))
    table.overwrite(one)
    assert found(table) == [(1, 3, "b")]


def test_a_transaction_merges_with_its_own_rows() -> None:
    table = made(schema=PLAIN, key=("id",), properties={"merge.n": "add"})
    one = pa.table({"id": [1, 1, 2], "n": pa.array([1, 2, 3], pa.int32())})
    with ArrowTransaction(table._log, table._snapshot) as transaction:
        mine = transaction.table("t")
        mine.upsert(one)
        mine.upsert(one.slice(1))
        mine.delete("id = 1")
        mine.upsert(one.slice(0, 1))
    table.refresh()
    assert found(table) == [(1, 1, None), (2, 6, None)]


def test_rows_of_one_batch_are_merged_in_parts() -> None:
    table = made(schema=PLAIN, key=("id",), properties={"merge.n": "add", "merge.text": "max"})
    count = 150_000
    ids = pa.array([i % 70_000 for i in range(count)])
    one = pa.table({"id": ids, "n": pa.array([1] * count, pa.int32())})
    table.upsert(one)
    table.upsert(one.slice(0, 10))
    rows = table.scan().to_arrow()
    assert rows.num_rows == 70_000
    assert sum(rows["n"].to_pylist()) == count + 10


def found(table: ArrowTable) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())
