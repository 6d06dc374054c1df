"""The columns of a feed, and what a condition on them spares."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from colonnade import ArrowTable
from tests.far_store import FarStore
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.binary())])
OWN = pa.schema(
    [
        pa.field("_change_type", pa.string(), nullable=False),
        pa.field("_commit_version", pa.int64(), nullable=False),
        pa.field("_commit_timestamp", pa.timestamp("us", "UTC"), nullable=False),
        pa.field("_row_handler", pa.int64(), nullable=False),
    ]
)


def rows(*keys: int) -> pa.Table:
    """Rows that are too large to lie in the log."""
    return pa.table({"k": keys, "v": [random.randbytes(20_000) for _ in keys]}, SCHEMA)


@pytest.fixture
def table() -> ArrowTable:
    found = made(FarStore(), SCHEMA, sort_key=["k"])
    for first in range(0, 40, 10):
        found.append(rows(*range(first, first + 10)))
    found.delete("k = 35", count_rows=True)
    return found


def test_a_feed_has_the_columns_of_the_table_and_its_own(table: ArrowTable) -> None:
    found = table.changes(0)
    assert found.schema.remove_metadata().names == [*SCHEMA.names, *OWN.names]
    for field in OWN:
        assert found.schema.field(field.name).equals(field)
    assert found.to_arrow().schema.equals(found.schema)
    times = {(each["_commit_version"], each["_commit_timestamp"]) for each in found}
    assert len({version for version, _ in times}) == len(times)
    assert [time for _, time in sorted(times)] == sorted(time for _, time in times)


def test_the_handler_names_the_row(table: ArrowTable) -> None:
    [gone] = table.changes(0, where="_change_type = 'delete'").to_pylist()
    [came] = table.changes(0, where="_change_type = 'insert' AND k = 35").to_pylist()
    assert gone["_row_handler"] == came["_row_handler"]
    found = table.changes(0, where=f"_row_handler = {gone['_row_handler']}").to_pylist()
    assert [each["k"] for each in found] == [35, 35]


def test_what_a_condition_rules_out_is_not_read(table: ArrowTable) -> None:
    far = table._location.store
    assert isinstance(far, FarStore)

    def requests(where: str | None) -> tuple[int, int]:
        changes = table.changes(0, where=where)
        with far.counted() as cost:
            found = sum(batch.num_rows for batch in changes.to_batches())
        return found, len(cost.calls)

    every, all_requests = requests(None)
    assert every == 41
    none, log_alone = requests("_change_type = 'update_preimage'")
    assert none == 0
    one, of_one = requests("k = 7")
    assert one == 1
    two, of_two = requests("_commit_version > 5")
    assert two == 1
    assert log_alone < of_one < all_requests
    assert of_two < all_requests
