"""Decide whether added rows were checked against the constraints of their table. Pure.

Spec: docs/spec/conflicts.md#tables-and-columns
"""

from __future__ import annotations

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.operations import AddRowSet, AddRowSets, ReplaceColumn
from colonnade.manifests.state.snapshot import Snapshot

_NEW_VALUES = (AddRowSet, AddRowSets, ReplaceColumn)


def check_constraints(change: Change, base: Snapshot, head: Snapshot) -> None:
    """Refuse new values if their table got a constraint after they were checked.

    The values were checked against the constraints that the table has at the base. A compaction
    writes no new values. Raises ConflictError that names table and constraint.
    """
    filled = () if change.fill is None else (change.fill.table,)
    written = (op.table for op in change.ops if isinstance(op, _NEW_VALUES))
    for table in dict.fromkeys((*filled, *written)):
        planned, current = base.tables.get(TableId(table)), head.tables.get(TableId(table))
        if planned is None or current is None or current.constraints is planned.constraints:
            continue
        for constraint in current.constraints:
            if constraint not in planned.constraints:
                raise ConflictError(
                    f"Table {planned.name!r} got the constraint {constraint.name!r} after epoch"
                    f" {base.epoch}, on which {change.operation!r} was planned. Its rows were not"
                    " checked against it; read the table again and repeat it."
                )
