"""A key that a concurrent writer inserted too is found, and nothing is read without need."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.keys.find import read_keys
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.statements.key_guard import guard_any, guard_keys
from tests.faults import FaultyStore
from tests.tableformat.statements.tables import SCHEMA, filled, rows

STORE = FaultyStore(MemoryStore())
TABLE = filled(STORE)
"""The ids 0 to 9 in RowSet 0, and 100 to 109 in RowSet 1."""
TABLE.delete("id = 5")
TABLE.refresh()
STATE = TABLE._state
ROWSETS = TABLE._log.rowsets.read(STATE)
KEY = TableSchema(fields=STATE.schema.fields[:1])


def keys(*ids: int) -> KeySet:
    return KeySet.of(rows(*ids).select(["id"]), KEY)


@settings(max_examples=30)
@given(st.sets(st.integers(-3, 112), max_size=4))
def test_a_rowset_with_one_of_the_keys_is_met_in_live_and_in_deleted_rows(ids: set[int]) -> None:
    guard = guard_keys(STORE, STATE, KEY, lambda: keys(*sorted(ids)))
    met = [each.id for each in guard.meets(ROWSETS)]
    assert met == [n for n, low in ((0, 0), (1, 100)) if ids & {*range(low, low + 10)}]
    assert (guard.table, guard.columns) == (STATE.id, frozenset({KEY.fields[0].id}))


def test_keys_are_computed_only_if_a_concurrent_writer_added_rowsets() -> None:
    def computed() -> KeySet:
        raise AssertionError("computes the keys")

    assert guard_keys(STORE, STATE, KEY, computed).meets([]) == []


def test_keys_are_computed_once_however_many_epochs_are_compared() -> None:
    computed: list[KeySet] = []

    def compute() -> KeySet:
        computed.append(keys(103))
        return computed[-1]

    guard = guard_keys(STORE, STATE, KEY, compute)
    assert [[each.id for each in guard.meets(ROWSETS)] for _ in range(3)] == [[1]] * 3
    assert len(computed) == 1


def test_blocks_that_hold_no_key_are_not_read() -> None:
    far = keys(5000)
    for rowset in ROWSETS:
        assert (
            sum(batch.num_rows for _, batch in read_keys(STORE, View.stored(STATE), rowset, far))
            == 0
        )
    [(first, batch)] = read_keys(STORE, View.stored(STATE), ROWSETS[1], keys(103))
    assert first == 0
    assert batch.schema.names == ["id"]
    assert 103 in batch.column(0).to_pylist()


def test_without_keys_every_added_row_is_a_conflict() -> None:
    assert guard_any(STATE).meets(ROWSETS) == ROWSETS
    assert guard_any(STATE).meets([]) == []
    assert guard_any(STATE).columns == frozenset()
    assert pa.schema(SCHEMA).names[0] == KEY.fields[0].name
