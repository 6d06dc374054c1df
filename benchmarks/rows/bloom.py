"""Look up rows by a key that is not the sort key, with and without Bloom filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Figure, interleave, lineitem
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.predicate import bind, col, evaluate, prune
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.writer import RowSetWriter
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.write.pipeline import write_options
from colonnade.tableformat.write.settings import WriteSettings

KEY = "l_orderkey"
KEYS = 5
BATCH_ROWS = 65_536


class CountedStore(MemoryStore):
    """A store that counts the bytes that are read from it."""

    count = 0

    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        """Read ranges as any store does, and count their bytes."""
        self.count += sum(length for _, length in ranges)
        return super().get_ranges(name, ranges)


class Shelf:
    """Lineitem in memory, shuffled, with filters on some columns."""

    def __init__(self, schema: TableSchema, filtered: Sequence[int]) -> None:
        self.store = CountedStore()
        self.schema = schema
        self.filtered = filtered
        self.entries: tuple[RowSetEntry, ...] = ()

    def write(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Write all rows into new RowSets."""
        self.store = CountedStore()
        options = write_options(self.schema, (), WriteSettings(sync=False), self.filtered)
        with RowSetWriter(self.store, "", "0" * 16, self.schema, (), options) as writer:
            for batch in batches:
                writer.write(batch)
            self.entries = writer.close()

    def stretches(self, key: int) -> Iterator[pa.RecordBatch]:
        """Return the stretches between two cuts that are read for a key."""
        may_match = partial(prune, bind(col(KEY) == key, self.schema))
        wanted = [self.schema.field(KEY).id]
        for entry in self.entries:
            reader = RowSetReader(self.store, View.written(""), as_written(entry))
            found = reader.read(self.schema.fields, may_match=may_match, pruning_columns=wanted)
            for _, batch in found:
                yield batch

    def look_up(self, keys: Sequence[int]) -> int:
        """Count the rows of some keys."""
        found = 0
        for key in keys:
            bound = bind(col(KEY) == key, self.schema)
            found += sum(evaluate(bound, batch).true_count for batch in self.stretches(key))
        return found

    def bytes_read(self, keys: Sequence[int]) -> float:
        """Return the megabytes that are read for one of the keys, on average."""
        self.store.count = 0
        self.look_up(keys)
        return self.store.count / len(keys) / 1e6


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Write lineitem in random order, and look up keys that exist and keys that do not."""
    source = pq.read_table(lineitem(folder, scale))
    schema = new_table("lineitem", schema_from_arrow(source.schema)).table_schema
    rows = pa.Table.from_batches([conform(batch, schema) for batch in source.to_batches()])
    order = np.random.default_rng(1)
    shuffled = rows.take(pa.array(order.permutation(rows.num_rows)))
    batches = shuffled.combine_chunks().to_batches(max_chunksize=BATCH_ROWS)
    keys = order.choice(rows[KEY].to_numpy(), KEYS).tolist()
    del source, rows, shuffled
    # TPC-H uses eight keys of every 32.
    absent = [key // 32 * 32 + 20 for key in keys]
    ours, theirs = Shelf(schema, [schema.field(KEY).id]), Shelf(schema, [])
    written = interleave(lambda: ours.write(batches), lambda: theirs.write(batches), runs)
    assert ours.look_up(keys) == theirs.look_up(keys) >= KEYS
    read = ours.bytes_read(keys), theirs.bytes_read(keys)
    seconds = interleave(lambda: ours.look_up(keys), lambda: theirs.look_up(keys), runs)
    sizes = [sum(entry.bytes for entry in each.entries) / 1e6 for each in (ours, theirs)]
    wrong = sum(len(list(ours.stretches(key))) for key in absent)
    share = 100 * wrong / sum(len(list(theirs.stretches(key))) for key in absent)
    name = f"a key of lineitem SF{scale:g}, shuffled"
    return [
        Figure(f"bytes read by {name}", "MB", *read, read[0] / read[1], 0.2),
        Figure(f"time of {name}", "s", seconds[0] / KEYS, seconds[1] / KEYS, seconds[2]),
        Figure("blocks read for an absent key", "%", share, 100.0, share / 100, 0.02),
        Figure("writing with filters on one column", "s", *written),
        Figure("size with filters on one column", "MB", sizes[0], sizes[1], sizes[0] / sizes[1]),
    ]
