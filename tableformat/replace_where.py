"""Overwriting the rows that a predicate selects, where whole RowSets decide it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from manifests.bounds import bounds_table
from manifests.errors import InvalidInputError
from manifests.snapshot import LiveRowSet, TableState
from tableformat.predicate import Predicate, bind, prune
from tableformat.predicate.expressions import Column, IsNull, Not, disjunction
from tableformat.write_job import id_ranges


def plan_replacement(
    table: TableState, rowsets: Sequence[LiveRowSet], where: Predicate
) -> tuple[tuple[int, int], ...]:
    """The ids of the RowSets all of whose rows `where` selects, as inclusive ranges.

    Decided by the statistics in the log alone. Raises InvalidInputError when it may select some
    rows of a RowSet and not others, or does not fit the table's columns.
    """
    bound = bind(where, table.schema)
    columns = [Column((table.schema.by_id(each).name,)) for each in sorted(bound.column_ids)]
    # A row is also not selected where the predicate is NULL, which takes a NULL in it.
    unselected = bind(disjunction([Not(where), *map(IsNull, columns)]), table.schema)
    bounds = bounds_table(
        [rowset.entry.statistics for rowset in rowsets],
        [rowset.entry.rows for rowset in rowsets],
        table.schema,
        lambda index: f"RowSet {rowsets[index].entry.object}",
    )
    some, others = prune(bound, bounds), prune(unselected, bounds)
    if (some & others).any():
        raise InvalidInputError(
            f"The rows of table {table.name!r} to overwrite cannot be told from the others by the"
            " statistics of its RowSets alone; choose a condition on whole RowSets, such as a"
            " range of the sort key that was written by itself, or overwrite the whole table."
        )
    return id_ranges(r.id for r, each in zip(rowsets, some, strict=True) if each)
