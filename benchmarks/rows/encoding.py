"""Size, encode and decode of lineitem in one thread, beside pyarrow's Parquet-zstd."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Figure, interleave, lineitem
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.writer import RowSetWriter
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.write.pipeline import write_options
from colonnade.tableformat.write.settings import WriteSettings

BATCH_ROWS = 65_536


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Encode and decode all of lineitem in memory, so that no disk takes part."""
    source = pq.read_table(lineitem(folder, scale))
    design = new_table("lineitem", schema_from_arrow(source.schema))
    schema = design.table_schema
    batches = [conform(b, schema) for b in source.to_batches(max_chunksize=BATCH_ROWS)]
    table = pa.Table.from_batches(batches).combine_chunks()
    del source
    pa.set_cpu_count(1)
    encoded: list[tuple[MemoryStore, tuple[RowSetEntry, ...]]] = []
    parquet: list[pa.Buffer] = []

    def encode() -> None:
        store = MemoryStore()
        options = write_options(schema, design.sort_key, WriteSettings(sync=False))
        with RowSetWriter(store, "", "0" * 16, schema, (), options) as writer:
            for batch in batches:
                writer.write(batch)
            encoded[:] = [(store, writer.close())]

    def encode_parquet() -> None:
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        parquet[:] = [sink.getvalue()]

    def decode() -> None:
        [(store, entries)] = encoded
        for entry in entries:
            for _ in RowSetReader(store, View.written(""), as_written(entry)).read(schema.fields):
                pass

    def decode_parquet() -> None:
        pq.ParquetFile(pa.BufferReader(parquet[0])).read(use_threads=False)

    encode_s, encode_parquet_s, encode_ratio = interleave(encode, encode_parquet, runs)
    decode_s, decode_parquet_s, decode_ratio = interleave(decode, decode_parquet, runs)
    size = sum(entry.bytes for entry in encoded[0][1]) / 1e6
    parquet_size = parquet[0].size / 1e6
    name = f"lineitem SF{scale:g}"
    return [
        Figure(f"size of {name}", "MB", size, parquet_size, size / parquet_size, 1.02),
        Figure(f"encode {name}, one thread", "s", encode_s, encode_parquet_s, encode_ratio, 0.8),
        Figure(f"decode {name}, one thread", "s", decode_s, decode_parquet_s, decode_ratio, 0.35),
    ]
