"""Columns that RowSets may store and a table does not show. Pure.

Spec: docs/spec/operations.md#internal-columns
"""

from __future__ import annotations

from functools import lru_cache

from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import WHOLE, encode_bound

WRITTEN = SchemaField(id=2_147_483_001, name="_written", type="timestamp")
"""The time when a row was written. A RowSet whose rows have one time needs no column of it."""


@lru_cache
def written_at(time_ms: int) -> SchemaField:
    """Return the column `_written` of a RowSet whose rows were all written at one time.

    The time is in ms since 1970 UTC.
    """
    return WRITTEN.model_copy(update={"initial": encode_bound(time_ms * 1000, WHOLE)})
