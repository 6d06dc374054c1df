"""An upsert on the primary key merges each row with the row of the table that has its key."""

from __future__ import annotations

import random

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import ArrowTable
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.keys.policy import key_policy
from colonnade.tableformat.statements.keyed.merge import evaluate_merge
from colonnade.tableformat.statements.statement import RowCounts
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.keyed_world import (
    KEY,
    SCHEMA,
    KeyedWorld,
    expected,
    random_rows,
    sorted_rows,
    table_of,
)
from tests.tableformat.statements.tables import made


def upsert(table: ArrowTable, data: pa.Table, properties: dict[str, str], *key: str) -> RowCounts:
    columns = table.state.schema
    fields = TableSchema(fields=tuple(columns.field(name) for name in key))
    policy = key_policy(properties, columns, fields.fields)
    return table.run(lambda log, _, t, job: evaluate_merge(log, t, data, fields, policy, job))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_batches_of_any_columns_make_what_the_model_makes(seed: int) -> None:
    rng = random.Random(seed)
    world = KeyedWorld.random(rng)
    table = made(schema=arrow_schema(SCHEMA))
    for _ in range(rng.randrange(1, 6)):
        columns = world.columns(rng)
        batch = random_rows(rng, columns, rng.randrange(7))
        counts = upsert(table, table_of(batch, columns), world.properties, *KEY)
        assert (counts.rows_updated, counts.rows_inserted) == world.upsert(batch)
        assert sorted_rows(table.scan().to_arrow()).equals(expected(world))
