"""Rows that tasks have written merge as an upsert of the same rows does."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.statements.statement import Statement
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.settings import WriteSettings
from tests.keyed_world import KEY, SCHEMA, KeyedWorld, expected, random_rows, sorted_rows
from tests.tableformat.statements.keyed.changes import change_at_random, upsert_at_random, written
from tests.tableformat.statements.tables import another, made

MERGE = WriteSettings(on_duplicate="merge")


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_the_rows_of_tasks_merge_with_the_state_before_their_slot(
    seed: int, in_transaction: bool
) -> None:
    rng = random.Random(seed)
    world = KeyedWorld.chosen(rng)
    if rng.random() < 0.3:
        world.properties = {}
    table = made(schema=arrow_schema(SCHEMA), key=KEY, properties=world.properties)
    for _ in range(3):
        upsert_at_random(table, world, rng)
    columns = world.columns(rng) if rng.random() < 0.5 else [f.name for f in SCHEMA.fields]
    # The rows of a task are sorted by the key, and equal keys stay as they arrived.
    parts = [random_rows(rng, columns, rng.randrange(1, 6)) for _ in range(2)]
    rival = another(table)
    tries: list[Statement] = []

    def evaluate(log: StatementLog, state: TableState, job_id: str) -> Statement:
        statement = written(log, state, job_id, parts, columns, MERGE)
        if not tries and not in_transaction:
            for _change in range(rng.randrange(3)):
                change_at_random(rival, world, rng)
        tries.append(statement)
        return statement

    if in_transaction:
        with ArrowTransaction(table._log, table._snapshot) as transaction:
            state = table._state
            transaction._run_on(
                state.id,
                lambda log, t, job_id: written(log, t, job_id, parts, columns, MERGE),
            )
        table.refresh()
    else:
        table._run(evaluate, None)
        assert len(tries) == 1
    world.upsert([row for part in parts for row in part])
    assert sorted_rows(table.scan().to_arrow()).equals(expected(world))
