"""Which ranges of a table a range tombstone may delete, and the reason where it may not."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from colonnade.manifests.model.range_tombstones import (
    MOST_REGIONS,
    Regions,
    problem_of,
    region_of,
)
from colonnade.manifests.model.regions import Interval
from colonnade.manifests.model.schema import ArrayType, SchemaField, TableSchema
from tests.manifests.arrays.ranged_rows import VALUES

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="a", type="long", nullable=False),
        SchemaField(id=2, name="b", type="double", nullable=False),
        SchemaField(id=3, name="c", type="string"),
        SchemaField(id=4, name="v", type="variant", nullable=False),
        SchemaField(
            id=5, name="l", type=ArrayType(element=SchemaField(id=6, name="element", type="int"))
        ),
    )
)


def test_a_region_of_a_table_has_the_columns_of_its_schema() -> None:
    sides = (Interval(column=2, low="f:0.0"), Interval(column=1, high="i:3"))
    assert problem_of(sides, SCHEMA) is None
    region = region_of(sides, SCHEMA)
    assert [each.name for each in region.columns] == ["b", "a"]


@pytest.mark.parametrize(
    ("intervals", "problem"),
    [
        ((Interval(column=1), Interval(column=1, low="i:1")), "two intervals of one column"),
        ((Interval(column=9),), "column 9, which the table does not have"),
        ((Interval(column=3),), "column 'c' of a range tombstone is nullable"),
        ((Interval(column=4),), "column 'v' of type variant has no order"),
        ((Interval(column=5),), "column 'l' of type array<int> has no order"),
        ((Interval(column=1, low="s:1"),), "the range of column 'a' is damaged"),
        ((Interval(column=2, high="f:nan"),), "the range of column 'b' is damaged"),
        ((Interval(column=1, low="i:2", high="i:1"),), "column 'a' ends before it begins"),
    ],
)
def test_a_range_that_a_table_cannot_have_is_named(
    intervals: tuple[Interval, ...], problem: str
) -> None:
    assert problem in str(problem_of(intervals, SCHEMA))


@pytest.mark.parametrize("name", VALUES)
def test_columns_of_every_type_with_an_order_may_have_a_range(name: str) -> None:
    schema = TableSchema(fields=(SchemaField(id=1, name="a", type=name, nullable=False),))
    assert problem_of((Interval(column=1),), schema) is None


def test_a_tombstone_has_at_most_128_regions_and_at_least_one() -> None:
    regions: TypeAdapter[object] = TypeAdapter(Regions)
    one = (Interval(column=1),)
    regions.validate_python((one,) * MOST_REGIONS)
    for wrong in ((), (one,) * (MOST_REGIONS + 1)):
        with pytest.raises(ValidationError):
            regions.validate_python(wrong)
