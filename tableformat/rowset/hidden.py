"""The rows of a RowSet that lie in regions: those that a reader does not show.

Indexes decide most stretches as a whole. Only stretches at the edge of a region are decoded.
Spec: docs/spec/lifetimes.md#readers
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap

from colonnade.manifests.model.regions import Region
from colonnade.tableformat.predicate import complement, evaluate, prune
from colonnade.tableformat.predicate.bound import BoundPredicate
from colonnade.tableformat.predicate.regions import named_by_id, region_predicate
from colonnade.tableformat.rowset.reader import RowSetReader

Ranges = Sequence[tuple[int, int]]


def hidden_rows(
    reader: RowSetReader, regions: Sequence[Region], ranges: Ranges | None = None
) -> BitMap:
    """Return the numbers of the rows that lie in a region, among `ranges` (None: all rows).

    Ranges begin and end at cuts. Reads the indexes of the columns of the regions, and their blocks
    where an index leaves it open. Raises CorruptionError, StoreError.
    """
    found = BitMap()
    columns = {each.id: named_by_id(each) for region in regions for each in region.columns}
    stretches, bounds = reader.bounds(list(columns.values()), ranges)
    edges: dict[tuple[int, int], list[BoundPredicate]] = {}
    for region in regions:
        inside = region_predicate(region)
        some = prune(inside, bounds)
        others = prune(complement(inside), bounds)
        for at in np.flatnonzero(some).tolist():
            stretch = stretches[at]
            if not others[at]:
                found.add_range(*stretch)
            else:
                edges.setdefault(stretch, []).append(inside)
    # A later region may have decided a stretch as a whole.
    open_edges = sorted(each for each in edges if found.range_cardinality(*each) < _size(each))
    for first, batch in reader.read(list(columns.values()), ranges=open_edges):
        for inside in edges[first, first + batch.num_rows]:
            rows = np.flatnonzero(evaluate(inside, batch).fill_null(False))
            found |= BitMap(rows + first)
    return found


def _size(stretch: tuple[int, int]) -> int:
    return stretch[1] - stretch[0]
