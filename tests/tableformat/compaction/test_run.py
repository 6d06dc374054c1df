"""Jobs of every kind keep the rows, and write them as a fresh write would."""

from __future__ import annotations

import random
from concurrent.futures import CancelledError
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.commit.rebase.origin import read_origin
from colonnade.manifests.compaction.plan import GroupKind
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.model.statistics import read_bound
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.jobs import Stop
from colonnade.tableformat.rowset.block_statistics import from_log
from colonnade.tableformat.rowset.bloom_filter import encode_filter
from colonnade.tableformat.rowset.column import Order, StoredColumn, column_of
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.stored import reader as rowset_reader
from colonnade.tableformat.rowset.write.sort import sort_indices
from colonnade.tableformat.rowset.writer import RowSetWriter
from colonnade.tableformat.table.alteration import AddColumn, AlterProperties, DropColumn
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.pipeline import write_options
from colonnade.tableformat.write.settings import WriteSettings
from tests.compaction_tables import add, bag, jobs, live, new, rows_of, take
from tests.examples_of import examples
from tests.strategies import make_batch, schemas
from tests.tableformat.compaction.groups import compacted

pytestmark = pytest.mark.usefixtures("small_blocks")

KINDS: list[GroupKind] = ["copy", "merge", "zorder"]


def ordered(schema: TableSchema) -> list[SchemaField]:
    return [field for field in schema.fields if column_of(field).order is not Order.NONE]


def fill(table: ArrowTable, seed: int) -> None:
    """Make up to five RowSets with different cuts, and delete some of their rows."""
    order = random.Random(seed)
    schema, keys = table._state.schema, table._state.sort_key
    for _ in range(order.randint(1, 5)):
        batch = make_batch(schema, order.randint(1, 40), order.randrange(2**32))
        columns = dict(zip([f.id for f in schema.fields], batch.columns, strict=True))
        if keys:
            batch = batch.take(sort_indices(columns, keys))
        add(table, batch, order.randint(3, 20))
    gone = []
    for rowset in live(table):
        share = order.choice([0, 0, 0.1, 0.9, 1])
        numbers = [i for i in range(rowset.entry.rows) if order.random() < share]
        gone.append(numbers[1:] if len(numbers) == rowset.entry.rows else numbers)
    take(table, gone)


@pytest.mark.slow
@given(schemas(), st.integers(0, 2**32), st.sampled_from(KINDS), st.booleans())
@settings(max_examples=examples(40))
def test_the_same_rows_come_out_with_the_statistics_that_they_would_be_written_with(
    schema: TableSchema, seed: int, kind: GroupKind, descending: bool
) -> None:
    keys = ordered(schema)[:2]
    if not keys:
        kind = "copy"
    direction = " desc" if descending else ""
    table = new(schema, [f"{f.name}{direction}" for f in keys] if kind == "merge" else ())
    fill(table, seed)
    before = rows_of(table)
    outcome = compacted(table, kind, tuple(f.id for f in keys) if kind == "zorder" else ())
    after = rows_of(table)
    if kind == "copy":
        assert after == before
    assert bag(after) == bag(before)
    check_sorted(table)
    for entry in outcome.outputs:
        reader = RowSetReader(
            table._location.store, View.written(table._state.prefix), as_written(entry)
        )
        rows = [batch for _, batch in reader.read(table._state.schema.fields)]
        fresh = written(table, rows)
        check_statistics(entry, fresh)
        assert entry.rows == fresh.rows


def written(table: ArrowTable, batches: list[pa.RecordBatch]) -> RowSetEntry:
    options = write_options(table._state.schema, table._state.sort_key, WriteSettings())
    with RowSetWriter(MemoryStore(), "", new_job_id(), table._state.schema, (), options) as writer:
        for batch in batches:
            writer.write(batch)
        [entry] = writer.close()
    return entry


def check_statistics(entry: RowSetEntry, fresh: RowSetEntry) -> None:
    """Bounds are compared as values: which of 0.0 and -0.0 is the least may depend on the blocks.

    Bounds of long texts are shortened block by block, so copied bounds may not be exact.
    """
    assert entry.statistics.keys() == fresh.statistics.keys()
    for column in entry.statistics:
        tag, _ = read_bound(fresh.statistics[column].min or "i:0")
        found, wanted = (from_log(each.statistics[column], tag) for each in (entry, fresh))
        if isinstance(wanted.low, str | bytes) and not found.exact:
            wanted = replace(wanted, exact=False)
        assert found == wanted


def check_sorted(table: ArrowTable) -> None:
    """Check that the rows that one compaction wrote are in the order of the sort key."""
    keys = table._state.sort_key
    if not keys:
        return
    names = {field.id: field.name for field in table._state.schema.fields}
    rows = table.scan().to_arrow().combine_chunks()
    columns = {key.column: rows[names[key.column]].combine_chunks() for key in keys}
    columns = {i: c.chunk(0) if isinstance(c, pa.ChunkedArray) else c for i, c in columns.items()}
    order = np.asarray(sort_indices(columns, keys))
    assert np.array_equal(order, np.arange(len(order)))


@pytest.mark.parametrize("kind", ["merge", "zorder"])
def test_the_origin_names_the_row_that_each_row_was(kind: GroupKind) -> None:
    schema = assign_ids(TableSchema(fields=(SchemaField(name="id", type="long"),)), 1)[0]
    table = new(schema, ["id"] if kind == "merge" else ())
    order = np.random.default_rng(1)
    ids = [np.sort(part) for part in np.split(order.permutation(3_000), 3)]
    for part in ids:
        add(table, pa.record_batch({"id": part}), 100)
    take(table, [[0, 5], [], range(0, 1000, 2)])
    outcome = compacted(table, kind, (1,) if kind == "zorder" else ())
    assert outcome.origin is not None
    origin = read_origin(table._location.store, table._state.prefix, outcome.origin, 2_498)
    found = table.scan().to_arrow()["id"].to_pylist()
    assert found == [int(ids[o >> 32][o & (2**32 - 1)]) for o in origin.tolist()]


def test_columns_added_or_dropped_since_are_written_as_the_table_has_them() -> None:
    fields = (SchemaField(name="a", type="long"), SchemaField(name="b", type="string"))
    table = new(TableSchema(fields=fields))
    add(table, pa.record_batch({"a": list(range(20)), "b": ["x"] * 20}), 10)
    table.alter(DropColumn(("b",)), AddColumn(SchemaField(name="c", type="double")))
    add(table, pa.record_batch({"a": list(range(20)), "c": [0.5] * 20}), 10)
    before = rows_of(table)
    outcome = compacted(table, "copy")
    assert rows_of(table) == before
    assert set(outcome.outputs[0].statistics) == {1, 3}
    assert outcome.outputs[0].statistics[3].nulls == 20


@pytest.mark.parametrize("kind", KINDS)
def test_filters_are_kept_and_where_there_are_none_made(
    kind: GroupKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = (SchemaField(name="id", type="long"), SchemaField(name="s", type="string"))
    table = new(TableSchema(fields=fields), ["id"] if kind == "merge" else ())
    for start, filtered in ((0, {1, 2}), (40, {2}), (80, set())):
        ids = list(range(start, start + 40))
        batch = pa.record_batch({"id": ids, "s": [f"text {i * i}" for i in ids]})
        add(table, batch, 10, packed_bytes=0, bloom_columns=frozenset(filtered))
    table.alter(AlterProperties({"bloom-filter-enabled.column.id": "true"}))
    made: list[int] = []

    def counted(array: pa.Array, column: StoredColumn) -> bytes:
        made.append(len(array))
        return encode_filter(array, column)

    monkeypatch.setattr(rowset_reader, "encode_filter", counted)
    [entry] = compacted(table, kind, (1,) if kind == "zorder" else ()).outputs
    assert made == ([10] * 8 if kind == "copy" else [])
    reader = RowSetReader(
        table._location.store, View.written(table._state.prefix), as_written(entry)
    )
    columns = table._state.schema.fields
    for stretch in reader.read_stored(columns, bloom_columns=(1, 2)):
        [ids_block], [texts] = stretch.blocks
        [found, _] = reader.decode(columns, stretch)
        assert ids_block.bloom == encode_filter(found, column_of(columns[0]))
        assert not texts.bloom


def test_a_damaged_filter_is_not_copied() -> None:
    table = new(TableSchema(fields=(SchemaField(name="id", type="long"),)))
    table.alter(AlterProperties({"bloom-filter-enabled.column.id": "true"}))
    batch = pa.record_batch({"id": list(range(40))})
    add(table, batch, 10, inline_bytes=0, packed_bytes=0, bloom_columns=frozenset({1}))
    store = table._location.store
    name = f"{table._state.prefix}{live(table)[0].entry.object}/1.idx"
    data = bytearray(store.get(name))
    data[40] ^= 1
    store.put(name, bytes(data), sync=True)
    _, [job] = jobs(table, "copy")
    with pytest.raises(CorruptionError, match=r"block 1 \(rows 10 to 19\): its Bloom filter"):
        run_job(job, store)


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_reported_and_never_written_on(kind: GroupKind) -> None:
    table = new(
        TableSchema(fields=(SchemaField(name="id", type="long"),)),
        ["id"] if kind == "merge" else (),
    )
    for start in (0, 5_000):
        ids = np.random.default_rng(1).permutation(5_000) + start
        add(
            table,
            pa.record_batch({"id": np.sort(ids) if kind == "merge" else ids}),
            1_000,
            inline_bytes=0,
        )
    store = table._location.store
    name = f"{table._state.prefix}{live(table)[1].entry.object}.rowset"
    data = bytearray(store.get(name))
    data[700] ^= 1
    store.delete(name)
    store.put(name, bytes(data), sync=True)
    names = {item.name for item in store.list("")}
    _, [job] = jobs(table, kind, (1,) if kind == "zorder" else ())
    with pytest.raises(CorruptionError, match=r"Column 'id' .* block 0 \(rows 0 to 999\)"):
        run_job(job, store)
    assert {item.name for item in store.list("")} == names


@pytest.mark.parametrize("kind", [*KINDS, "repartition"])
def test_a_job_that_is_stopped_ends_between_two_stretches_and_leaves_no_file(
    kind: GroupKind,
) -> None:
    table = new(
        TableSchema(fields=(SchemaField(name="id", type="long"),)),
        ["id"] if kind == "merge" else (),
    )
    for start in (0, 5_000):
        ids = np.random.default_rng(1).permutation(5_000) + start
        add(table, pa.record_batch({"id": np.sort(ids) if kind == "merge" else ids}), 500)
    if kind == "repartition":
        table.partition_by("truncate(1000, id)")
    store = table._location.store
    names = {item.name for item in store.list("")}
    _, [job] = jobs(table, kind, (1,) if kind == "zorder" else ())
    stop = _StopAfter(15)
    with pytest.raises(CancelledError):
        run_job(job.model_copy(update={"target_bytes": 4_000}), store, stop)
    assert stop.left == 0
    assert {item.name for item in store.list("")} == names


class _StopAfter(Stop):
    """Is requested by the n-th look at it."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.left = looks

    def check(self) -> None:
        super().check()
        self.left -= 1
        if not self.left:
            self.request()
