"""The ids of a table's RowSets, which only grow and can run out. Pure.

Spec: docs/spec/layout.md
"""

from __future__ import annotations

from colonnade.manifests.state.snapshot import TableState

ROWSET_IDS = 2**32
"""The number of RowSet ids of a table: a row id of 64 bits has 32 bits for its RowSet."""

_WARNED_FROM = ROWSET_IDS // 2

COPY = "copy its rows into a new table, whose ids begin at 0"
"""The remedy for a table whose RowSet ids run out, for messages."""


def warn_of_end(table: TableState) -> str | None:
    """Return a warning for a table that has used half of its RowSet ids or more, else None."""
    used = table.next_rowset_id
    if used < _WARNED_FROM:
        return None
    return (
        f"Table {table.name!r} has used {100 * used // ROWSET_IDS} % of its RowSet ids, and"
        f" {ROWSET_IDS - used} are left. Without ids it cannot take more rows; {COPY}."
    )
