"""Decide whether added rows were compared with the primary key of their table. Pure.

Spec: docs/spec/conflicts.md#tables-and-columns
"""

from __future__ import annotations

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.operations import AddRowSet, AddRowSets
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.state.snapshot import Snapshot


def check_keys(change: Change, base: Snapshot, head: Snapshot) -> None:
    """Refuse added rows if their table got another primary key after they were written.

    They were compared with other rows by the key that the table has at the base. A compaction adds
    no keys, and without a key at the head, nothing is left to compare. Rows that were merged at the
    base are refused as their `KeyGuard.check` says. Raises ConflictError that names the table.
    """
    added = (op.table for op in change.ops if isinstance(op, AddRowSet | AddRowSets))
    for table in dict.fromkeys(added):
        planned, current = base.tables.get(TableId(table)), head.tables.get(TableId(table))
        if planned is None or current is None or not current.primary_key:
            continue
        if current.primary_key != planned.primary_key:
            key = key_fields(current.primary_key, current.schema)
            names = ", ".join(field.name for field in key)
            raise ConflictError(
                f"Table {planned.name!r} got the primary key ({names}) after epoch {base.epoch}, on"
                f" which {change.operation!r} was planned. Its rows were not compared by that key;"
                " read the table again and repeat it."
            )
    for guard in change.keys:
        current = head.tables.get(TableId(guard.table))
        if guard.check is not None and current is not None:
            guard.check(current)
