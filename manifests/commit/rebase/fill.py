"""Values of columns that a change gives to every RowSet that a table has right before its slot.

Spec: docs/spec/conflicts.md
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.commit.rebase.carried import Carried
from colonnade.manifests.state.snapshot import Snapshot


def filled(carried: Carried, head: Snapshot) -> Carried:
    """Return a change, followed up to `head`, with the values that it fills in there.

    Writes the values of RowSets that have none yet. Raises the errors of `ColumnFill.fill`.
    """
    fill = carried.change.fill
    if fill is None:
        return carried
    operations, counts = fill.fill(head)
    change = replace(carried.change, metrics={**carried.change.metrics, **counts})
    return replace(carried, change=change, filled=tuple(operations))
