"""Rows of a table by their primary key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.key_rows import Key, key_batch
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.scan.plan import plan_scan, rowset_filter
from colonnade.tableformat.table.open_table import OpenTable
from colonnade.tableformat.types.arrow_types import arrow_schema


def get_rows(opened: OpenTable, keys: Sequence[Key], columns: Sequence[str] | None) -> pa.Table:
    """Return the rows that have the keys in the newest state, in the order of the keys.

    RowSets stay open for later reads. Keys without a row are left out. A key that is given twice
    returns its row twice. Raises InvalidInputError for a table without a primary key, and for a key
    that the key columns cannot have. Raises NotFoundError for an unknown column, CorruptionError,
    StoreError.
    """
    log = opened.log
    snapshot, table = opened.newest()
    if not table.primary_key:
        raise InvalidInputError(
            f"Table {table.name!r} has no primary key, by which get finds rows; give it one, or"
            " read rows by scan(where=...)."
        )
    key = TableSchema(fields=key_fields(table.primary_key, table.schema))
    wanted = plan_scan(View.stored(table), snapshot.epoch, columns).output_schema
    if not keys:
        return arrow_schema(wanted).empty_table()
    asked = key_batch(keys, key, table.name)
    known = KeySet.of(pa.Table.from_batches([asked]), key, repeated=True)
    with log.reader.naming_removals(snapshot.epoch):
        view = log.rowsets.view(
            table, rowset_filter(table, known.predicate()), log.reader.query_ms(snapshot)
        )
        found = [*opened.rowsets.read(log.store, view, known, wanted)]
    rows = pa.Table.from_batches([batch for _, batch in found], arrow_schema(wanted))
    row_of_key = np.full(len(keys), -1)
    numbers = np.concatenate([np.zeros(0, np.int64), *(numbers for numbers, _ in found)])
    row_of_key[numbers] = np.arange(len(numbers))
    places = row_of_key[known.find(asked)]
    return rows.take(pa.array(places[places >= 0]))
