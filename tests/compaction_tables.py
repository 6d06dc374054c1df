"""Tables in memory whose RowSets have cuts and deleted rows as a test wants them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyroaring import BitMap

from colonnade.manifests.commit.change import Change, DeletedRows
from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan, GroupKind
from colonnade.manifests.compaction.policy import CompactionPolicy
from colonnade.manifests.ids import new_job_id, new_transaction_id
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.compaction.job import CompactionJob, CompactionRunner, plan_job
from colonnade.tableformat.compaction.run import compact_here
from colonnade.tableformat.location import Location
from colonnade.tableformat.rowset.writer import RowSetWriter
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.pipeline import write_options
from colonnade.tableformat.write.settings import WriteSettings

POLICY = CompactionPolicy()
NUMBERS = TableSchema(
    fields=(SchemaField(name="id", type="long"), SchemaField(name="n", type="long"))
)


def new(
    schema: TableSchema, sort_key: Sequence[str] = (), store: ObjectStore | None = None
) -> ArrowTable:
    """An empty table in memory whose writers never wait."""
    store = store or MemoryStore()
    location = Location(store, "t", exists=True)
    log = Log(store, pause=lambda _: None)
    base = create_database(store, lone_table=False)
    design = new_table("t", schema, sort_key=sort_key)
    job = plan_write(location, base, "append", create=design)
    return ArrowTable(location, log, commit_written(job, (), log, base))


def rows(start: int, count: int) -> pa.Table:
    """Ids in order, and numbers in none."""
    ids = list(range(start, start + count))
    return pa.table({"id": ids, "n": [(i * 7919) % 101 for i in ids]})


def filled(
    rowsets: int = 9, count: int = 10, kind: GroupKind = "copy", store: Any = None
) -> ArrowTable:
    """A table of such rows in RowSets, sorted where `kind` needs it."""
    table = new(NUMBERS, ["n", "id"] if kind == "merge" else (), store)
    for i in range(rowsets):
        table.append(rows(i * count, count))
    return table


def here(table: ArrowTable) -> CompactionRunner:
    """One thread of this process."""
    return compact_here(table._location.store, 1)


def content(table: ArrowTable) -> dict[int, int]:
    """Each id's number, at the newest epoch."""
    table.refresh()
    found = table.scan().to_arrow().to_pylist()
    assert len(found) == len({row["id"] for row in found})
    return {row["id"]: row["n"] for row in found}


def another(table: ArrowTable) -> ArrowTable:
    """A second writer of the same table, at the same epoch."""
    return ArrowTable(table._location, table._log, table._snapshot)


def add(
    table: ArrowTable,
    rows: pa.RecordBatch,
    block_rows: int = 65_536,
    **options: Any,
) -> None:
    """Add rows, in their order, as one RowSet with a cut every `block_rows`."""
    state = table._state
    chosen = write_options(state.schema, state.sort_key, WriteSettings())
    chosen = replace(chosen, block_rows=block_rows, **options)
    store = table._location.store
    with RowSetWriter(store, state.prefix, new_job_id(), state.schema, (), chosen) as writer:
        writer.write(rows)
        [entry] = writer.close()
    change = Change(new_transaction_id(), "append", (AddRowSet(table=state.id, rowset=entry),))
    table._log.commit(change, table._snapshot)
    table.refresh()


def live(table: ArrowTable) -> list[LiveRowSet]:
    """The RowSets of the newest epoch."""
    table.refresh()
    return table._log.rowsets.read(table._state)


def take(table: ArrowTable, gone: Iterable[Iterable[int]]) -> None:
    """Delete rows, given by RowSet."""
    rows = tuple(
        DeletedRows(table._state.id, rowset, "delete", BitMap(numbers))
        for rowset, numbers in zip(live(table), gone, strict=True)
        if BitMap(numbers)
    )
    if rows:
        table._log.commit(Change(new_transaction_id(), "delete", (), rows=rows), table._snapshot)
        table.refresh()


def jobs(
    table: ArrowTable,
    kind: GroupKind,
    order_by: Sequence[int] = (),
    groups: int = 1,
    copied_rows: int = 5,
) -> tuple[Snapshot, list[CompactionJob]]:
    """Jobs that rewrite all RowSets of a table, in groups of neighbours, and their base.

    Blocks of at least `copied_rows` rows are copied.
    """
    rowsets = live(table)
    size = -(-len(rowsets) // groups)
    made = tuple(
        CompactionGroup(
            kind=kind,
            reason="a test wants it",
            rowsets=tuple(each.id for each in part),
            rows=sum(each.entry.rows for each in part),
            deleted_rows=sum(each.entry.rows - each.row_count for each in part),
            bytes_in=sum(each.entry.bytes for each in part),
            bytes_out=sum(each.entry.bytes for each in part),
        )
        for start in range(0, len(rowsets), size)
        for part in [rowsets[start : start + size]]
    )
    plan = CompactionPlan(
        table=table._state.id,
        name="t",
        epoch=table.epoch,
        rowset_count=len(rowsets),
        policy=POLICY,
        groups=made,
    )
    base = table._snapshot
    limits = replace(LIMITS, copied_rows=copied_rows)
    log = Log(table._log.store, pause=table._log.pause, limits=limits)
    found = [plan_job(log, base, plan, group, order_by) for group in made]
    return base, [CompactionJob.model_validate_json(j.to_json()) for j in found]


def rows_of(table: ArrowTable) -> list[Hashable]:
    """The rows, in their order, so that all values are told apart, 0.0 and -0.0 included."""
    table.refresh()
    return rows_in(table.scan().to_arrow())


def rows_in(found: pa.Table) -> list[Hashable]:
    """The rows of an Arrow table, as `rows_of` returns them."""
    return [
        tuple(_plain(column[row]) for column in batch.columns)
        for batch in found.to_batches()
        for row in range(len(batch))
    ]


def _plain(value: pa.Scalar) -> Hashable:
    # Bytes of Arrow would not do: bits beyond the end of nested booleans are anything.
    if not value.is_valid:
        return None
    if isinstance(value, pa.StructScalar):
        return tuple(map(_plain, value.values()))
    if isinstance(value, pa.ListScalar):
        return tuple(map(_plain, value.values))
    # Python's own times and dates hold neither nanoseconds nor years beyond 9999.
    return repr(value.value if hasattr(value, "value") else value.as_py())


def bag(rows: Iterable[Hashable]) -> Counter[Hashable]:
    """Rows whatever their order."""
    return Counter(rows)
