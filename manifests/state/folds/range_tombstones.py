"""The fold of a table's range tombstones. Pure.

Spec: docs/spec/operations.md#range-tombstones
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.model.operations import AddRangeTombstone, ForgetRangeTombstones
from colonnade.manifests.model.range_tombstones import RangeTombstone, problem_of
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.replaced_columns import replaceable
from colonnade.manifests.state.snapshot import TableState


def with_tombstone(
    epoch: int, state: TableState, operation: AddRangeTombstone | ForgetRangeTombstones
) -> TableState:
    """Return a table after a range tombstone, or without some. Raises CorruptionError."""
    if isinstance(operation, ForgetRangeTombstones):
        if operation.through >= epoch:
            refuse(epoch, f"forgets later range tombstones of table {state.name!r}")
        kept = tuple(each for each in state.range_tombstones if each.epoch > operation.through)
        return replace(state, range_tombstones=kept)
    new = RangeTombstone(epoch=epoch, regions=operation.regions)
    after = replace(state, range_tombstones=(*state.range_tombstones, new))
    _check(epoch, after, (new,))
    return after


def check_tombstones(epoch: int, state: TableState) -> None:
    """Check that the columns of a table can have its range tombstones. Raises CorruptionError."""
    _check(epoch, state, state.range_tombstones)


def _check(epoch: int, state: TableState, tombstones: tuple[RangeTombstone, ...]) -> None:
    free = replaceable(state) if tombstones else frozenset()
    for each in tombstones:
        for intervals in each.regions:
            problem = problem_of(intervals, state.schema)
            # A later value of a row must not bring it into a region that was deleted before.
            if problem is None and not free.isdisjoint(side.column for side in intervals):
                problem = "a range tombstone names a column that is not part of a key"
            if problem is not None:
                refuse(epoch, f"leaves table {state.name!r} with a wrong tombstone: {problem}")
