"""Every row is in the partition of its own values, and each partition has rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.partition.divide import divide
from tests.examples_of import examples
from tests.tagged import tagged

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="n", type="long"),
        SchemaField(id=2, name="s", type="string"),
        SchemaField(id=3, name="d", type="decimal(9,2)"),
    )
)
TYPES = {1: pa.int64(), 2: pa.string(), 3: pa.decimal128(9, 2)}
FIELDS = [
    PartitionField(transform="truncate", column=1, argument=10),
    PartitionField(transform="identity", column=2),
    PartitionField(transform="truncate", column=3, argument=150),
]


def expected(values: tuple[Any, ...], fields: list[PartitionField]) -> tuple[str | None, ...]:
    """The partition of a row, in plain Python."""
    found: list[str | None] = []
    for field in fields:
        value = values[field.column - 1]
        if value is None:
            found.append(None)
        elif field.column == 2:
            found.append(tagged(value))
        else:
            whole = int(value * 100) if field.column == 3 else value
            tag = "i2" if field.column == 3 else "i"
            found.append(f"{tag}:{whole - whole % (field.argument or 1)}")
    return tuple(found)


ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-25, 25),
        st.none() | st.sampled_from(("", "a", "ü")),
        st.none() | st.decimals(-9, 9, places=2),
    ),
    max_size=30,
)


@settings(max_examples=examples(60))
@given(
    ROWS, st.lists(st.sampled_from(FIELDS), min_size=1, max_size=3, unique_by=lambda f: f.column)
)
def test_rows_are_divided_as_one_by_one(
    rows: list[tuple[Any, ...]], fields: list[PartitionField]
) -> None:
    columns = {number: pa.array([r[number - 1] for r in rows], TYPES[number]) for number in TYPES}
    codes, partitions = divide(fields, SCHEMA, columns)
    assert [partitions[code] for code in codes.tolist()] == [expected(row, fields) for row in rows]
    assert {*codes.tolist()} == {*range(len(partitions))}
    assert len({*partitions}) == len(partitions)


def test_more_combinations_than_rows_stay_few_numbers() -> None:
    rows = 3000
    schema = TableSchema(
        fields=tuple(SchemaField(id=i, name=f"c{i}", type="long") for i in range(1, 7))
    )
    columns = {
        i: pa.array([(row * i) % 997 for row in range(rows)], pa.int64()) for i in range(1, 7)
    }
    fields = [PartitionField(transform="identity", column=i) for i in range(1, 7)]
    codes, partitions = divide(fields, schema, columns)
    assert len(partitions) == 997
    assert codes.max() == 996


def test_a_value_that_is_too_long_for_the_log_is_refused_by_the_name_of_its_column() -> None:
    with pytest.raises(InvalidInputError, match="'s' cannot be partitioned by"):
        divide(FIELDS[1:2], SCHEMA, {2: pa.array(["x" * 5000])})
