"""A condition on static columns as one on partition keys, whose bounds skip data.

Spec: docs/spec/static-columns.md#readers
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.predicate import Predicate, bind, evaluate, prune
from colonnade.tableformat.predicate.expressions import FALSE, conjunction
from colonnade.tableformat.predicate.implied_predicate import implied
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.scan.plan import plan_scan
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.types.arrow_types import arrow_schema

_MOST_BYTES = 8 * MIB
"""If more stored bytes of static values may meet a condition, they are not read to skip data."""


def by_partitions(log: Log, table: TableState, predicate: Predicate | None) -> Predicate | None:
    """Return a predicate that is TRUE for the same rows, and also compares partition keys.

    The keys are those whose static values allow the predicate. Up to 256 are listed, and more are
    a range. The predicate itself is returned if it names no static column, if it may be TRUE for
    a partition without static values, or if more than 8 MiB of static values may meet it.

    The result holds for this state of the table. Costs a read of the key and the named static
    columns, where they may meet the predicate. Raises InvalidInputError when the predicate does not
    fit the columns of the table, CorruptionError, StoreError.
    """
    statics = static_fields(table.schema)
    if predicate is None or table.statics is None or not statics:
        return predicate
    named = bind(predicate, table.schema).column_ids
    read = [each.model_copy(update={"static": None}) for each in statics if each.id in named]
    if not read or _allows_no_values(predicate, table.schema, read):
        return predicate
    key = TableSchema(fields=key_fields(table.partition_key, table.schema))
    schema = TableSchema(fields=(*key.fields, *read))
    condition = implied(predicate, table.schema, [each.id for each in schema.fields])
    values = replace(table.statics, schema=schema)
    view = log.rowsets.view(values, partial(prune, bind(condition, schema)), None)
    if sum(each.byte_count for each in view.rowsets) > _MOST_BYTES:
        return predicate
    plan = plan_scan(view, values.changed_epoch, key.names, condition)
    keys = pa.Table.from_batches(read_plan(log.store, plan), arrow_schema(key))
    if not keys.num_rows:
        return FALSE
    return conjunction((predicate, KeySet.of(keys, key).predicate()))


def _allows_no_values(
    predicate: Predicate, schema: TableSchema, statics: Sequence[SchemaField]
) -> bool:
    """Whether the predicate may be TRUE in a partition that has no static values."""
    about = bind(implied(predicate, schema, [each.id for each in statics]), schema)
    absent = arrow_schema(TableSchema(fields=tuple(statics)))
    row = pa.RecordBatch.from_arrays([pa.nulls(1, each.type) for each in absent], absent.names)
    return bool(evaluate(about, row).true_count)
