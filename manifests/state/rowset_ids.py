"""The ids of a table's RowSets, which are counted up and end: how many are left. Pure.

Spec: docs/spec/layout.md
"""

from __future__ import annotations

from colonnade.manifests.state.snapshot import TableState

ROWSET_IDS = 2**32
"""A table gives so many ids: one of a row, of 64 bits, holds that of its RowSet in 32."""

_WARNED_FROM = ROWSET_IDS // 2

RENUMBER = "`colonnade renumber` gives its RowSets new ids, from 0 on, and moves no file"
"""What to do about a table that has no ids left."""


def warn_of_end(table: TableState) -> str | None:
    """A sentence about a table that has used half of its ids or more; None before."""
    used = table.next_rowset_id
    if used < _WARNED_FROM:
        return None
    return (
        f"Table {table.name!r} has used {100 * used // ROWSET_IDS} % of its RowSet ids, and"
        f" {ROWSET_IDS - used} are left. Without any it takes no more rows; {RENUMBER}."
    )
