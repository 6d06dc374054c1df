"""Read the facts of the report from the log alone, in bins, so that the page stays short."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np

from colonnade.manifests.arrays.json_arrays import Integers
from colonnade.manifests.compaction.facts import CompactionFacts, facts_of
from colonnade.manifests.compaction.picker import plan_compaction
from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan
from colonnade.manifests.compaction.policy import parse_policy
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.statics import with_own_statics
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import AddRowSet, AddRowSets, Compaction, Operation
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.partition.text import key_text
from colonnade.tableformat.table.report.database_facts import (
    DatabaseFacts,
    EpochFacts,
    TableFacts,
    database_facts,
    epoch_facts,
    sorted_tables,
    table_facts,
)
from colonnade.tableformat.table.report.partitions import PartitionsPage, partitions_page

SIZE_STEPS = 2
"""The number of size bins for each doubling."""

AGE_BINS = 48

DELETED_EDGES = (0.0, 0.01, 0.1, 0.25, 0.5, 1.0)
"""Edges of the bins of deleted shares; an extra first bin counts RowSets without deletions."""

DEPTH_POINTS = 160

GROUPS = 20
"""At most this many groups of a plan are listed one by one."""


@dataclass(frozen=True, slots=True)
class Step:
    """One epoch on the line of epochs; `rows` counts the rows that it wrote."""

    facts: EpochFacts
    rows: int


@dataclass(frozen=True, slots=True)
class Bin:
    """The RowSets of one range of sizes."""

    low_bytes: int
    high_bytes: int
    rowsets: int
    bytes: int


@dataclass(frozen=True, slots=True)
class AgeCell:
    """The RowSets of one range of sizes that one range of epochs added; `deleted_share` of rows."""

    first_epoch: int
    last_epoch: int
    low_bytes: int
    high_bytes: int
    rowsets: int
    deleted_share: float


@dataclass(frozen=True, slots=True)
class KeyOverlap:
    """How many RowSets may hold each key, along the keys of a sorted table.

    The keys are divided into steps of equally many keys; `depths` holds the maximum of each step.
    """

    column: str
    depths: tuple[int, ...]
    mean_depth: float


@dataclass(frozen=True, slots=True)
class TablePage:
    """One table of the report. `deleted` counts RowSets between `DELETED_EDGES`.

    `groups` holds the first groups of the plan, each with the text of its partition.
    """

    facts: TableFacts
    sizes: tuple[Bin, ...]
    ages: tuple[AgeCell, ...]
    deleted: tuple[int, ...]
    overlap: KeyOverlap | None
    partitions: PartitionsPage | None
    plan: CompactionPlan
    groups: tuple[tuple[CompactionGroup, str | None], ...]


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """All facts of the report about a database, or about `table` alone.

    `steps` are the epochs that changed it among the last `epochs` of the database, oldest first.
    """

    database: DatabaseFacts
    table: str | None
    epochs: int
    steps: tuple[Step, ...]
    tables: tuple[TablePage, ...]
    made: datetime


def read_report(
    log: Log, head: Snapshot, epochs: int, made: datetime, only: TableState | None = None
) -> ReportFacts:
    """Read the facts of a database, or of the table `only`, as of `head` from the log.

    Costs the GETs of the checkpoint segments, and one GET for each of the last `epochs`. Raises
    InvalidInputError for a table with an invalid property of compaction.
    """
    states = sorted_tables(head) if only is None else [only]
    tables = [table_facts(log, head, state) for state in states]
    read = [*log.reader.read_kept_epochs(head, epochs)]
    return ReportFacts(
        database=database_facts(log, head, tables),
        table=None if only is None else tables[0].path,
        epochs=len(read),
        steps=tuple(
            Step(epoch_facts(epoch, head), _rows_written(epoch, only))
            for epoch in reversed(read)
            if only is None or any(_is_of(op, only) for op in epoch.ops)
        ),
        tables=tuple(
            _table_page(log, head, state, table)
            for state, table in zip(states, tables, strict=True)
        ),
        made=made,
    )


def _is_of(op: Operation, table: TableState) -> bool:
    """Return whether an operation changes a table, or its static values."""
    return getattr(op, "table", None) in with_own_statics(table.id)


def _rows_written(epoch: Epoch, only: TableState | None) -> int:
    rows = 0
    for op in epoch.ops if only is None else [op for op in epoch.ops if _is_of(op, only)]:
        match op:
            case AddRowSet():
                rows += op.rowset.rows
            case AddRowSets():
                rows += op.segment.row_count
            case Compaction():
                rows += sum(output.rowset.rows for output in op.outputs)
    return rows


def _table_page(log: Log, head: Snapshot, state: TableState, table: TableFacts) -> TablePage:
    entries = log.rowsets.read_entries(state)
    rowsets = facts_of(state, entries)
    plan = plan_compaction(state, head.epoch, rowsets, parse_policy(state.properties))
    return TablePage(
        facts=table,
        sizes=size_bins(rowsets.byte_counts),
        ages=age_cells(rowsets, entries.epochs),
        deleted=deleted_counts(rowsets),
        overlap=_overlap(state, rowsets),
        partitions=partitions_page(state, rowsets),
        plan=plan,
        groups=tuple(
            (group, key_text(state, (group.partition_layout_id, group.partition)))
            for group in plan.groups[:GROUPS]
        ),
    )


def size_bins(byte_counts: Integers) -> tuple[Bin, ...]:
    """Count RowSets by size, from the smallest to the largest, including empty bins between."""
    if not len(byte_counts):
        return ()
    numbers = _size_numbers(byte_counts)
    return tuple(
        Bin(
            _size_edge(number),
            _size_edge(number + 1),
            int((numbers == number).sum()),
            int(byte_counts[numbers == number].sum()),
        )
        for number in range(int(numbers.min()), int(numbers.max()) + 1)
    )


def age_cells(rowsets: CompactionFacts, epochs: Integers) -> tuple[AgeCell, ...]:
    """Count RowSets by the epoch that added them and by size; empty cells are left out."""
    if not len(rowsets):
        return ()
    first, last = int(epochs.min()), int(epochs.max())
    width = max(1, -(-(last - first + 1) // AGE_BINS))
    columns, sizes = (epochs - first) // width, _size_numbers(rowsets.byte_counts)
    cells = []
    for column, number in sorted({*zip(columns.tolist(), sizes.tolist(), strict=True)}):
        here = (columns == column) & (sizes == number)
        begin = first + column * width
        cells.append(
            AgeCell(
                begin,
                begin + width - 1,
                _size_edge(number),
                _size_edge(number + 1),
                int(here.sum()),
                float(rowsets.deleted[here].sum() / rowsets.rows[here].sum()),
            )
        )
    return tuple(cells)


def deleted_counts(rowsets: CompactionFacts) -> tuple[int, ...]:
    """Count RowSets by their share of deleted rows: first 0, then between each two edges."""
    shares = rowsets.deleted / rowsets.rows
    none = int((shares == 0).sum())
    some = [int(((shares > low) & (shares <= high)).sum()) for low, high in pairwise(DELETED_EDGES)]
    return none, *some


def _overlap(state: TableState, rowsets: CompactionFacts) -> KeyOverlap | None:
    if rowsets.first is None or rowsets.last is None or not len(rowsets):
        return None
    depths, mean = key_depths(rowsets.first, rowsets.last)
    return KeyOverlap(state.schema.by_id(state.sort_key[0].column).name, depths, mean)


def key_depths(first: Integers, last: Integers) -> tuple[tuple[int, ...], float]:
    """Return how many ranges from `first` to `last` hold each key, and the mean of that.

    Only keys at which a range begins or ends are counted. More than `DEPTH_POINTS` keys are
    divided into steps, and each step gives its maximum.
    """
    keys = np.unique(np.concatenate([first, last]))
    begun = np.searchsorted(np.sort(first), keys, side="right")
    ended = np.searchsorted(np.sort(last), keys, side="left")
    depths = begun - ended
    steps = np.array_split(depths, min(len(depths), DEPTH_POINTS))
    return tuple(int(step.max()) for step in steps), float(depths.mean())


def _size_numbers(byte_counts: Integers) -> Integers:
    logs = np.log2(np.maximum(byte_counts, 1))
    numbers: Integers = np.floor(logs * SIZE_STEPS + 1e-9).astype(np.int64)
    return numbers


def _size_edge(number: int) -> int:
    return round(2 ** (number / SIZE_STEPS))
