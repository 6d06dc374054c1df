"""Mistakes that lose or invent values where fields inside a column change."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import pyarrow as pa

from colonnade.manifests.commit import column_conflicts
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.rowset import adapt
from colonnade.tableformat.statements.columns import fill
from tests.simulation.actors.driver import Driver
from tests.simulation.actors.evolver import Evolver
from tests.simulation.actors.filler import Filler
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug


def _in_order(struct: pa.DataType, fields: Sequence[SchemaField]) -> list[int | None]:
    """The fields of a stored struct in the order of the table, whatever their ids are."""
    return [at if at < struct.num_fields else None for at in range(len(fields))]


def _same_columns(written: TableSchema, current: TableSchema) -> bool:
    """Whether the names of columns mean the same; fields inside them are not compared."""
    ids = {field.name: field.id for field in current.fields}
    return all(field.id == ids.get(field.name, field.id) for field in written.fields)


BUGS: tuple[Bug, ...] = (
    Bug(
        "fields inside a column are taken by their place",
        lambda: patch.object(adapt, "places_in", _in_order),
        actors=(Writer(mix=(8, 1, 1, 0, 0, 0)), Evolver(4), Reader(4)),
        seeds=50,
    ),
    Bug(
        "rows land that were planned for another field of the same name",
        lambda: patch.object(column_conflicts, "same_by_name", _same_columns),
        actors=(Driver(3), Evolver(10)),
        seeds=100,
    ),
    Bug(
        "a fill lands without the fields that its column got meanwhile",
        lambda: patch.object(fill, "_is_same", lambda one, other: one.name == other.name),
        actors=(Writer(mix=(8, 0, 1, 0, 0, 0)), Filler(8), Evolver(6), Reader(1)),
        seeds=50,
        long=True,
    ),
)
