"""Mistakes that lose or invent values where columns change beside concurrent writers."""

from __future__ import annotations

from unittest.mock import patch

import pyarrow as pa

from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset import adapt
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.types import conform
from tests.simulation.actors.every import EVOLVED
from tests.simulation.bugs.bug import Bug


def _without_initial_value(column: StoredColumn, rows: int) -> pa.Array:
    return pa.nulls(rows, column.type)


def _without_default(column: SchemaField, rows: int) -> pa.Array:
    return pa.nulls(rows)


BUGS: tuple[Bug, ...] = (
    Bug(
        "earlier rows are NULL in a column with a default",
        lambda: patch.object(adapt, "absent_values", _without_initial_value),
        actors=EVOLVED,
        seeds=20,
    ),
    Bug(
        "rows that leave a column out are NULL in it",
        lambda: patch.object(conform, "left_out", _without_default),
        actors=EVOLVED,
        seeds=20,
    ),
)
