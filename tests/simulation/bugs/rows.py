"""Mistakes that lose, repeat or keep rows beside concurrent writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.bounds import BoundsFilter, BoundsTable
from colonnade.manifests.arrays.origins import origins_of
from colonnade.manifests.arrays.partitions import PartitionKey
from colonnade.manifests.commit import conflicts
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.rebase import carried, reads
from colonnade.manifests.commit.rebase.carried import Carried
from colonnade.manifests.commit.rebase.compaction import OwnCompaction
from colonnade.manifests.commit.rebase.reads import check_reads
from colonnade.manifests.commit.rebase.row_map import RowMap
from colonnade.manifests.commit.rebase.targets import ChangedRows, TargetRowSet
from colonnade.manifests.compaction.facts import CompactionFacts
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import DeletionVectorEntry, PartitionValues, RowSetEntry
from colonnade.manifests.model.operations import AddCheck, Compaction, ReplaceColumn
from colonnade.manifests.state.folds.rowsets import RowSetsFold
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.statements import overwrite, update
from tests.simulation.actors.compactor import Compactor
from tests.simulation.actors.driver import Driver
from tests.simulation.actors.every import RULED, SORTED
from tests.simulation.actors.optimizer import Optimizer
from tests.simulation.actors.partitioner import Partitioner
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.ruler import Ruler
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug, Plant, overlooks


def _of_other_rows(rowset: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return origins_of(rowset, rows[::-1])


def _unless_constraint(mine: Any, theirs: Any, declared: bool) -> bool:
    """A conflict of any operation but a new constraint."""
    return not isinstance(mine, AddCheck) and _real_conflict(mine, theirs, declared)


_real_conflict = conflicts._conflict


def _after(forgive: Callable[[ChangedRows, str], bool]) -> Plant:
    """Statements on the same row; some of them are treated as done."""

    def after(
        target: TargetRowSet, kind: str, deleted: FrozenBitMap, vector: Any, **how: bool
    ) -> TargetRowSet:
        theirs = deleted - target.found.deleted
        if any(not forgive(each, kind) and each.rows & theirs for each in target.changes):
            return real(target, kind, deleted, vector, **how)  # type: ignore[arg-type]
        changes = tuple(replace(each, rows=each.rows - theirs) for each in target.changes)
        return TargetRowSet(replace(target.found, deleted=deleted, vector=vector), changes)

    real = TargetRowSet.after
    return lambda: patch.object(TargetRowSet, "after", after)


def _check_reads(change: Callable[[Change], Change]) -> Plant:
    def check(mine: Change, *others: Any) -> None:
        check_reads(change(mine), *others)

    return lambda: patch.object(carried, "check_reads", check)


def _commit_on_newest(log: Log, change: Change, base: Snapshot) -> Any:
    if any(isinstance(operation, Compaction) for operation in change.ops):
        base = log.reader.refresh(base)
    return _commit_change(log, change, base)


_commit_change = Log.commit_change


def _lost_deletion(
    target: TargetRowSet, kind: Any, gone: FrozenBitMap, vector: Any, **_: bool
) -> TargetRowSet:
    return _real_after(target, kind, gone, vector)


_real_after = TargetRowSet.after


@contextmanager
def _later_replacement_wins() -> Iterator[None]:
    """Nor does the fold look at what a replacement says that it replaces."""
    with (
        patch.object(TargetRowSet, "after_replacement", lambda target, *_, **__: target),
        patch.object(RowSetsFold, "_check_replaced", lambda *_: None),
    ):
        yield


def _unlike_replacements(own: OwnCompaction, theirs: Any, vectors: Any) -> OwnCompaction | None:
    return own if isinstance(theirs, ReplaceColumn) else _real_follow(own, theirs, vectors)


_real_follow = OwnCompaction.follow


def _only_own_layout(table: TableState, wanted: frozenset[PartitionValues]) -> BoundsFilter:
    own = table.partition_layout_id

    def may_match(bounds: BoundsTable) -> NDArray[np.bool_]:
        assert bounds.partitions is not None
        return bounds.partitions.where(lambda key: key[0] == own and key[1] in wanted)

    return may_match


def _as_one_partition(facts: CompactionFacts) -> list[tuple[PartitionKey, CompactionFacts]]:
    parts = _real_by_partition(facts)
    return [(parts[0][0], facts)] if parts else parts


_real_by_partition = CompactionFacts.by_partition


PARTITIONED = (
    Writer(mix=(6, 2, 2, 0, 0, 0, 6)),
    Reader(3),
    Partitioner(3),
    Optimizer(3),
)


def _order_at_the_slot(
    fold: RowSetsFold, epoch: int, entry: RowSetEntry, vector: DeletionVectorEntry | None = None
) -> None:
    own = entry.model_copy(update={"sort_order_id": fold.table.sort_order_id})
    _real_add(fold, epoch, own, vector)


_real_add = RowSetsFold.add


COMPACTED = (Writer(mix=(4, 4, 4, 0, 0, 0)), Reader(2), Compactor(6))


BUGS: tuple[Bug, ...] = (
    Bug(
        "no writer looks for conflicts",
        lambda: patch.object(Carried, "follow", lambda mine, before, theirs: mine),
        long=True,
    ),
    Bug(
        "two updates of a row both land",
        _after(lambda mine, kind: True),
        long=True,
    ),
    Bug(
        "a deletion of a row that moved is thought done",
        _after(lambda mine, k: mine.kind == "delete"),
        actors=(Writer(mix=(3, 5, 5, 0, 0, 0)), Reader(1)),
        long=True,
    ),
    Bug(
        "a key is inserted twice",
        _check_reads(lambda change: replace(change, keys=())),
        actors=(Writer(mix=(1, 1, 0, 8, 0, 0)), Reader(1)),
        long=True,
    ),
    Bug(
        "a replacement keeps what came since",
        _check_reads(
            lambda change: replace(change, reads=tuple(r for r in change.reads if not r.overwrites))
        ),
        actors=(Writer(mix=(6, 1, 0, 1, 6, 1)), Reader(1)),
    ),
    Bug(
        "serializable is nothing special",
        lambda: patch.object(reads, "is_serializable", lambda *_: False),
    ),
    Bug(
        "a compaction forgets what went meanwhile",
        lambda: patch.object(OwnCompaction, "_without", lambda own, *_: own),
        actors=COMPACTED,
        long=True,
    ),
    Bug(
        "a compaction takes a newer base",
        lambda: patch.object(Log, "commit_change", _commit_on_newest),
        long=True,
    ),
    Bug(
        "rows keep their numbers through a compaction",
        lambda: patch.object(RowMap, "carry", lambda moves, index, rows: {0: rows}),
        long=True,
    ),
    Bug(
        "new versions of rows replace rows where a compaction has moved them from",
        lambda: patch.object(carried, "carried_origins", lambda op, first, origins, moves: origins),
    ),
    Bug(
        "new versions of rows replace the rows beside those that they are versions of",
        lambda: patch.object(update, "origins_of", _of_other_rows),
    ),
    Bug(
        "the later of two replacements of a column undoes the earlier",
        _later_replacement_wins,
        actors=(Writer(mix=(3, 0, 8, 0, 0, 0)), Reader(1)),
    ),
    Bug(
        "a compaction forgets columns that were replaced meanwhile",
        lambda: patch.object(OwnCompaction, "follow", _unlike_replacements),
        actors=COMPACTED,
        long=True,
    ),
    Bug(
        "an overwrite of partitions overlooks rows of other layouts",
        lambda: patch.object(overwrite, "_may_be_overwritten", _only_own_layout),
        actors=PARTITIONED,
    ),
    Bug(
        "a compaction puts partitions together",
        lambda: patch.object(CompactionFacts, "by_partition", _as_one_partition),
        actors=PARTITIONED,
        long=True,
    ),
    Bug(
        "a RowSet is taken to have the sort order of the table that it lands in",
        lambda: patch.object(RowSetsFold, "add", _order_at_the_slot),
        actors=SORTED,
        seeds=50,
        long=True,
    ),
    Bug(
        "rows land that were planned before a constraint",
        overlooks(conflicts, "check_constraints"),
        actors=(Driver(6), Ruler(6), Writer(1, mix=(0, 6, 4, 0, 0, 0))),
        long=True,
    ),
    Bug(
        "a constraint is added beside rows that were not checked",
        lambda: patch.object(conflicts, "_conflict", _unless_constraint),
        actors=RULED,
    ),
    Bug(
        "a replacement forgets deletions",
        lambda: patch.object(TargetRowSet, "after", _lost_deletion),
        actors=(Writer(mix=(3, 6, 0, 0, 6, 0)), Reader(1)),
        long=True,
    ),
)
