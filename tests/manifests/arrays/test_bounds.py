"""Bounds of the wrong kind, under right checksums, are corruption that names where they are."""

from __future__ import annotations

from functools import partial

import pytest

from colonnade.manifests.arrays.bounds import bound_array, bounds_table
from colonnade.manifests.arrays.entry_block import block_of
from colonnade.manifests.arrays.statistics_block import StatisticsBlock
from colonnade.manifests.checkpoint.writer import write_entry_segment, write_object
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.operations import AddRowSets
from colonnade.manifests.model.schema import MapType, SchemaField, StructType, TableSchema
from colonnade.manifests.model.statistics import prefix_widens
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    append,
    change,
    entry,
    holds,
    live,
    make_log,
    with_orders,
)

TYPES = {
    "i:1": (
        *("boolean", "byte", "short", "int", "long", "timestamp", "timestamp_ntz"),
        *("time(6)", "decimal(38,0)", "interval month", "interval day to second"),
    ),
    "i2:1": ("decimal(9,2)",),
    "d:1": ("date",),
    "f:1.0": ("float", "double"),
    "s:1": ("string", "char(3)", "varchar(3)"),
    "b:AA==": ("binary",),
}
INT = SchemaField(id=2, name="a", type="int")
UNORDERED = (
    "variant",
    "string collate UNICODE_CI",
    StructType(fields=(INT,)),
    MapType(key=INT, value=INT),
)
KINDS = [(right, name) for right, names in TYPES.items() for name in names]


def schema_of(column_type: object) -> TableSchema:
    return TableSchema.model_validate({"fields": ({"id": 1, "name": "c", "type": column_type},)})


@pytest.mark.parametrize(("right", "name"), KINDS + [("", name) for name in UNORDERED])
def test_a_column_takes_bounds_of_types_that_widen_to_its_own_only(
    right: str, name: object
) -> None:
    for bound in (*TYPES, "i:x", "f:nan", "b:A", "x"):
        fits = bound in TYPES and prefix_widens(bound.partition(":")[0], right.partition(":")[0])
        for low, high in ((bound, bound), (right or bound, bound), (bound, right or bound)):
            found = [{}, {1: ColumnStatistics(min=low, max=high)}]
            if fits:
                table = bounds_table(found, [1, 1], schema_of(name), str)
                assert table.columns[1].known.tolist() == [False, True]
                continue
            with pytest.raises(CorruptionError, match="column 'c' of 1 are damaged"):
                bounds_table(found, [1, 1], schema_of(name), str)


def forged() -> LiveRowSet:
    """A RowSet whose column `id`, a long, has bounds of a string."""
    wrong = {"statistics": {1: ColumnStatistics(min="s:a", max="s:b")}}
    return LiveRowSet(0, 1, entry().model_copy(update=wrong))


@pytest.mark.parametrize("interval", [64, 3])
def test_a_forged_entry_in_the_log_or_in_a_checkpoint_is_named(interval: int) -> None:
    store = MemoryStore()
    log = make_log(store, interval)
    state = log.commit(append(entry()), with_orders(store, log))
    state = log.commit(append(forged().entry), state)
    orders = log.reader.read_head().table("orders")
    assert [rowset.id for rowset in live(log, orders)] == [0, 1]
    with pytest.raises(CorruptionError, match="column 'id' of RowSet 1 of table 'orders'"):
        log.rowsets.read(orders, holds(3))


@pytest.mark.parametrize("wrong", ["entries", "summary"])
def test_a_forged_segment_is_named(wrong: str) -> None:
    store = MemoryStore()
    log = make_log(store)
    rowsets = [forged() if wrong == "entries" else LiveRowSet(0, 1, entry())]
    segment = write_entry_segment(
        partial(write_object, store, new_job_id()), ORDERS, block_of(rowsets)
    )
    found = dict(forged().entry.statistics) if wrong == "summary" else {}
    named = segment.model_copy(update={"statistics": found})
    state = with_orders(store, log)
    orders = log.commit(change(AddRowSets(table=ORDERS, segment=named)), state).table("orders")
    with pytest.raises(CorruptionError, match="column 'id' of .*table 'orders'") as caught:
        log.rowsets.read(orders, holds(3))
    assert segment.object in caught.value.message


@pytest.mark.parametrize("bounds", [("s:a", "i:1"), ("b:", "s:a"), ("f:0.5", "b:AA==")])
def test_bounds_that_no_order_compares_get_into_no_segment(bounds: tuple[str, str]) -> None:
    with pytest.raises(CorruptionError, match="cannot be compared"):
        StatisticsBlock.of([ColumnStatistics(min=bound, max=bound) for bound in bounds])


def test_bounds_of_mixed_types_are_refused_and_integers_of_any_size_fit_beside_floats() -> None:
    with pytest.raises(CorruptionError, match="cannot be compared"):
        bound_array([b"a", "a", None])
    assert bound_array([2**70, 0.5, None]).tolist() == [2**70, 0.5, 2**70]
