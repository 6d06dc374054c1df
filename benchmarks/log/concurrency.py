"""Measure the commits of a compaction and a concurrent DELETE of one row."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from pyroaring import FrozenBitMap

from benchmarks.measure import Figure
from colonnade.manifests.commit.change import Change, DeletedRows
from colonnade.manifests.ids import new_job_id, new_object_id, new_table_id, new_transaction_id
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.entries import ByteCheck, RowSetEntry
from colonnade.manifests.model.operations import (
    AddRowSet,
    Compaction,
    CompactionInput,
    CompactionOutput,
    CreateTable,
    Operation,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore

MILLION = 1_000_000
INPUTS = 16


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure the log alone, in memory: RowSets are only entries, and no rows are stored."""
    del folder, scale
    return [row for rows in (4 * MILLION, 17 * MILLION) for row in beside_a_deleted_row(rows, runs)]


def beside_a_deleted_row(rows: int, runs: int) -> list[Figure]:
    """Measure a compaction that commits after a DELETE of one row, and the other way round.

    Each commit is compared with the same commit after an append of one RowSet.
    """
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(runs):
        for met in ("the other", "append"):
            for mine in ("compaction", "delete"):
                times.setdefault((mine, met), []).append(_commit_ms(rows, mine, met))
    median = {key: statistics.median(each) for key, each in times.items()}
    size = f"{rows // MILLION} M rows"
    texts = {
        "compaction": f"commit of a compaction of {size} that meets a DELETE of one row",
        "delete": f"commit of a DELETE of one row that meets a compaction of {size}",
    }
    return [
        Figure(f"{text}; beside meeting an append", "ms", met, append, met / append, target=10,
               judged_by_ratio=False)
        for mine, text in texts.items()
        for met, append in [(median[mine, "the other"], median[mine, "append"])]
    ]  # fmt: skip


def _commit_ms(rows: int, mine: str, met: str) -> float:
    """Return the time to commit a compaction or a DELETE, after the other one or an append."""
    log, table, base = _filled(rows)
    deletion, compaction = _deletion(log, table, base), _compaction(log, table, base)
    late, other = (compaction, deletion) if mine == "compaction" else (deletion, compaction)
    append = _change("append", AddRowSet(table=table, rowset=_entry(10)))
    log.commit(append if met == "append" else other, base)
    begin = time.perf_counter()
    log.commit(late, base)
    return (time.perf_counter() - begin) * 1e3


def _filled(rows: int) -> tuple[Log, str, Snapshot]:
    """Make a log in memory with a table of `rows` rows in a few RowSets."""
    log = Log(MemoryStore())
    base, table = create_database(log.store, lone_table=False), new_table_id()
    schema = TableSchema(fields=(SchemaField(id=1, name="id", type="long"),))
    create = CreateTable(table=table, name="rows", table_schema=schema, next_column_id=2)
    base = log.commit(_change("create_table", create), base)
    added = [AddRowSet(table=table, rowset=_entry(rows // INPUTS)) for _ in range(INPUTS)]
    return log, table, log.commit(_change("append", *added), base)


def _deletion(log: Log, table: str, base: Snapshot) -> Change:
    [first, *_] = log.rowsets.read(base.table("rows"))
    gone = DeletedRows(table, first, "delete", FrozenBitMap([first.entry.rows // 2]))
    return Change(new_transaction_id(), "delete", (), rows=(gone,))


def _compaction(log: Log, table: str, base: Snapshot) -> Change:
    found = log.rowsets.read(base.table("rows"))
    inputs = tuple(CompactionInput(rowset=each.id, rows=each.entry.rows) for each in found)
    output = CompactionOutput(rowset=_entry(sum(each.rows for each in inputs)))
    return _change("compaction", Compaction(table=table, inputs=inputs, outputs=(output,)))


def _change(name: str, *operations: Operation) -> Change:
    return Change(new_transaction_id(), name, operations)


def _entry(rows: int) -> RowSetEntry:
    return RowSetEntry(
        object=new_object_id(new_job_id()),
        place="packed",
        rows=rows,
        bytes=8 * rows,
        cuts=1,
        footer=ByteCheck(length=40, crc32c=7),
        statistics={},
    )
