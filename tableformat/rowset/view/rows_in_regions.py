"""The rows of a RowSet that are inside regions, and that a reader does not show.

Indexes decide most stretches as a whole. Only stretches at the edge of a region are decoded.
Spec: docs/spec/lifetimes.md#readers
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap

from colonnade.manifests.arrays.region_bounds import meets_each
from colonnade.manifests.model.regions import Region
from colonnade.tableformat.predicate import evaluate
from colonnade.tableformat.predicate.regions import named_by_id, region_predicate
from colonnade.tableformat.rowset.stored.reader import StoredReader

Ranges = Sequence[tuple[int, int]]


def hidden_rows(
    reader: StoredReader, regions: Sequence[Region], ranges: Ranges | None = None
) -> BitMap:
    """Return the numbers of the rows inside any region, among `ranges` (None: all rows).

    Ranges begin and end at cuts. Reads the indexes of the columns of the regions, and their blocks
    where an index leaves it open. Raises CorruptionError, StoreError.
    """
    found = BitMap()
    of_regions = {each.id: each for region in regions for each in region.columns}
    columns = [named_by_id(each) for each in of_regions.values()]
    stretches, bounds = reader.bounds(columns, ranges)
    some, every = meets_each(regions, bounds)
    whole = every.any(axis=0)
    for at in np.flatnonzero(whole).tolist():
        found.add_range(*stretches[at])
    edges = np.flatnonzero(some.any(axis=0) & ~whole).tolist()
    batches = reader.read(columns, ranges=[stretches[at] for at in edges])
    for at, (first, batch) in zip(edges, batches, strict=True):
        for place in np.flatnonzero(some[:, at]).tolist():
            inside = evaluate(region_predicate(regions[place]), batch).fill_null(False)
            found |= BitMap(np.flatnonzero(inside) + first)
    return found
