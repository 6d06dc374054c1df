"""Columns that place rows widen: their rows stay in their partitions, or the change is refused."""

from __future__ import annotations

import re
from typing import Any, get_args

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.operations import AlterSchema
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.partition_layout import check_layout
from colonnade.manifests.state.partition_widening import keeps_partitions, partitioned_types
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.partition.transforms import transform
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.arrow_types import storage_type
from tests.log_samples import change, make_log, with_orders
from tests.widened import PAIRS, widened

TRANSFORMS = get_args(PartitionField.model_fields["transform"].annotation)


def field_of(name: str) -> PartitionField:
    argument = {"bucket": 1000, "truncate": 3}.get(name)
    return PartitionField.model_validate({"transform": name, "column": 1, "argument": argument})


def takes(field: PartitionField, column: SchemaField) -> bool:
    try:
        check_layout([field], TableSchema(fields=(column,)))
    except InvalidInputError:
        return False
    return True


def values(field: PartitionField, column: SchemaField, rows: pa.Array) -> list[Any]:
    found = transform(field, column, rows.drop_null().cast(storage_type(column)))
    return found if isinstance(found, list) else found.to_pylist()


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_transform_that_keeps_partitions_gives_each_value_the_same_one(
    old: str, new: str
) -> None:
    case = widened(old, new)
    narrow, wide = (SchemaField(id=1, name="a", type=each) for each in (old, new))
    for name in TRANSFORMS:
        field = field_of(name)
        if not takes(field, narrow):
            continue
        same = takes(field, wide) and (
            values(field, narrow, case.stored["a"]) == values(field, wide, case.wanted["a"])
        )
        kept = keeps_partitions(name, old, new)
        assert same or not kept, name
        # Decimals truncate smaller integers as these themselves; it is not worth a rule.
        assert kept or not same or name == "truncate", name
        assert partitioned_types(name, old) or not kept


def widen(column: SchemaField, wider: str) -> SchemaField:
    return column.model_copy(update={"type": wider})


A, B = (SchemaField(id=at, name=name, type="int") for at, name in ((1, "a"), (2, "b")))


def sorted_table(store: MemoryStore, log: Log) -> TableState:
    columns = TableSchema(fields=(A, B))
    design = new_table("t", columns, sort_key=["b", "a desc"], partition_by=["a", "b"])
    return log.commit(change(design), with_orders(store, log)).table("t")


def places(state: TableState) -> tuple[list[int], list[list[int]]]:
    layouts = [[field.column for field in layout] for layout in state.partition_layouts]
    return [key.column for key in state.sort_key], layouts


@pytest.mark.parametrize(
    ("wider", "said"),
    [("decimal(12,2)", "whose identity has other values"), ("double", "whose identity has other")],
)
def test_an_epoch_that_would_move_rows_to_other_partitions_is_refused(
    wider: str, said: str
) -> None:
    store = MemoryStore()
    log = make_log(store)
    sorted_table(store, log)
    base = log.reader.read_head()
    altered = AlterSchema(
        table=base.table("t").id,
        table_schema=TableSchema(fields=(widen(A, wider), B)),
        schema_id=1,
        next_column_id=3,
    )
    with pytest.raises(InvalidInputError, match=re.escape(said)):
        log.commit(change(altered), base)
    fine = altered.model_copy(update={"table_schema": TableSchema(fields=(widen(A, "long"), B))})
    after = log.commit(change(fine), base)
    assert places(after.table("t")) == ([2, 1], [[1, 2]])
