"""A region as a predicate says of each row, block and RowSet what the region says."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from colonnade.manifests.arrays.bounds import bounds_table
from colonnade.manifests.arrays.region_bounds import meets
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.regions import Interval, Region
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate import complement, evaluate, prune
from colonnade.tableformat.predicate.regions import named_by_id, region_predicate
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.manifests.arrays.ranged_rows import (
    SEEDS,
    VALUES,
    Rows,
    column,
    inside,
    some_interval,
)

LEAST = {"byte": -(2**7), "short": -(2**15), "int": -(2**31), "date": -(2**31)}
MICROSECONDS = {"time(6)": (0, 1, 41, 86_399_999_999)}


def values_of(name: str) -> Sequence[Any]:
    """Values in the form of bounds that a column of a type can hold."""
    found = VALUES[name]
    if name in MICROSECONDS:
        return [each * 1000 for each in MICROSECONDS[name]]
    if name == "interval month":
        return [each for each in found if abs(each) < 2**31]
    if name == "float":
        return [each for each in found if each != 5e-324]
    if name in LEAST:
        return [each for each in found if LEAST[name] <= each < -LEAST[name]]
    if name == "char(3)":
        return [each.ljust(3) for each in found if len(each) <= 3]
    return [each for each in found if name != "varchar(3)" or len(each) <= 3]


def arrow_array(target: pa.DataType, values: Sequence[Any]) -> pa.Array:
    """Values in the form of bounds as a column."""
    if pa.types.is_decimal(target):
        wide = Context(prec=60)
        return pa.array(
            [v if v is None else Decimal(v).scaleb(-target.scale, wide) for v in values], target
        )
    if pa.types.is_boolean(target):
        return pa.array([None if v is None else bool(v) for v in values], target)
    if pa.types.is_temporal(target):
        whole = pa.int32() if target.bit_width == 32 else pa.int64()
        if pa.types.is_time(target) and target.unit == "us":
            values = [None if v is None else v // 1000 for v in values]
        return pa.array(values, whole).view(target)
    return pa.array(values, target)


def batch_of(columns: Sequence[SchemaField], rows: Sequence[Mapping[int, Any]]) -> pa.RecordBatch:
    schema = arrow_schema(TableSchema(fields=tuple(map(named_by_id, columns))))
    arrays = [arrow_array(field.type, [row[int(field.name)] for row in rows]) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@pytest.mark.parametrize("name", VALUES)
@given(seed=SEEDS)
def test_a_region_selects_its_rows_and_prunes_what_has_none(name: str, seed: int) -> None:
    rng = random.Random(seed)
    other = rng.choice(list(VALUES))
    columns = (column(1, name), column(2, other))
    values = {1: values_of(name), 2: values_of(other)}
    made = Rows.some(rng, columns, values)
    numbers = rng.choice(((1,), (2, 1)))
    region = Region(
        intervals=tuple(some_interval(rng, columns[n - 1], values[n]) for n in numbers),
        columns=tuple(columns[number - 1] for number in numbers),
    )
    predicate = region_predicate(region)
    bounds = bounds_table(
        [each.entry.statistics for each in made.rowsets],
        [each.entry.rows for each in made.rowsets],
        made.schema,
        str,
    )
    some, others = prune(predicate, bounds), prune(complement(predicate), bounds)
    for at, rows in enumerate(made.rows):
        found = [inside(row, region.intervals, made.by_id) for row in rows]
        selected = evaluate(predicate, batch_of(columns, rows)).fill_null(False)
        assert selected.to_pylist() == found
        assert some[at] or not any(found)
        assert others[at] or all(found)


def test_columns_of_one_name_do_not_meet() -> None:
    """An internal column may have the name of a column of the table."""
    one = SchemaField(id=1, name="_written", type="long")
    two = SchemaField(id=2_147_483_001, name="_written", type="timestamp")
    region = Region(
        intervals=(Interval(column=1, low="i:5"), Interval(column=two.id, high="i:9")),
        columns=(one, two),
    )
    rows = [{1: 5, two.id: 9}, {1: 5, two.id: 10}, {1: 4, two.id: 9}]
    found = evaluate(region_predicate(region), batch_of((one, two), rows))
    assert found.to_pylist() == [True, False, False]


def test_bounds_of_the_type_that_a_column_had_before_rule_rowsets_out() -> None:
    wide = SchemaField(id=1, name="a", type="decimal(12,2)")
    interval = Interval(column=1, low="i2:1000", high="i2:2000")
    region = Region(intervals=(interval,), columns=(wide,))
    stated = [{1: each} for each in map(_exact, (0, 12, 30))]
    bounds = bounds_table(stated, [2] * 3, TableSchema(fields=(wide,)), str)
    predicate = region_predicate(region)
    assert prune(predicate, bounds).tolist() == [False, True, False]
    assert prune(complement(predicate), bounds).tolist() == [True, False, True]
    some, every = meets(region, bounds)
    assert np.array_equal(some, [False, True, False])
    assert np.array_equal(every, [False, True, False])


def _exact(low: int) -> ColumnStatistics:
    return ColumnStatistics(min=f"i:{low}", max=f"i:{low + 1}")
