"""Overwriting the rows that a predicate selects, where whole RowSets decide it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from manifests.errors import InvalidInputError
from manifests.rebase.targets import id_ranges
from manifests.snapshot import LiveRowSet, TableState
from tableformat.predicate import Predicate
from tableformat.selection import judge


def plan_replacement(
    table: TableState, rowsets: Sequence[LiveRowSet], where: Predicate
) -> tuple[tuple[int, int], ...]:
    """The ids of the RowSets all of whose rows `where` selects, as inclusive ranges.

    Decided by the statistics in the log alone. Raises InvalidInputError when it may select some
    rows of a RowSet and not others, or does not fit the table's columns.
    """
    some, others = judge(table, rowsets, where)
    if (some & others).any():
        raise InvalidInputError(
            f"The rows of table {table.name!r} to overwrite cannot be told from the others by the"
            " statistics of its RowSets alone; choose a condition on whole RowSets, such as a"
            " range of the sort key that was written by itself, or overwrite the whole table."
        )
    return id_ranges(r.id for r, each in zip(rowsets, some, strict=True) if each)
