"""Answer the Java source's requests before a query is planned: describe a table, check options."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.spark_ext.options.read import parse_read_options
from colonnade.spark_ext.planner.clauses.defaults import default_texts
from colonnade.spark_ext.planner.clauses.generated import described
from colonnade.spark_ext.planner.clauses.identity_columns import described_identities
from colonnade.spark_ext.planner.clauses.partitions import described_layout
from colonnade.spark_ext.planner.clauses.sort_keys import described_order
from colonnade.spark_ext.planner.clauses.static_columns import static_properties
from colonnade.spark_ext.planner.messages.base import operation
from colonnade.spark_ext.planner.messages.clauses import Constraint
from colonnade.spark_ext.planner.messages.queries import CheckOptions, Load, LoadedTable, StatedRead
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS, Recent
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.types import declared_json, refuse_fine_times
from colonnade.tableformat.location import Location
from colonnade.tableformat.scan.other_columns import with_columns_of
from colonnade.tableformat.table.design.properties import shown_properties
from colonnade.tableformat.table.epochs.time_travel import timestamp_ms
from colonnade.tableformat.write.identity import open_schema

SPARK_VERSION_VARIABLE = "COLONNADE_SPARK_VERSION"
"""The environment variable with the version of Spark, which the Java half sets."""

_declarations: Recent[int, tuple[TableSchema, str]] = Recent(64)


@operation
def load(request: Load) -> LoadedTable:
    """Raise InvalidInputError for wrong options, and NotFoundError without such a table."""
    options = dict(request.options)
    micros = options.pop("timestampMicros", None)
    read = parse_read_options({**options, "path": request.path})
    at_ms = int(micros) // 1000 if micros is not None else None
    if read.timestamp is not None:
        at_ms = timestamp_ms(read.timestamp)
    found = SNAPSHOTS.find(
        place(read.path, read.storage),
        read.epoch,
        at_ms,
        read.tag,
        request.query,
        read.seen_at,
    )
    location, table = found.location, found.table
    if request.statics:
        table = require_statics(table)
        location = replace(location, table=table.name)
    shown = table if read.schema_epoch is None else _shown(location, table, read.schema_epoch)
    return LoadedTable(
        path=location.url,
        name=table.name,
        view=NamedView(
            url=location.store.url,
            options=location.store.address.options or "",
            database=found.state.database,
            table=table.id,
            epoch=found.state.epoch,
            schema_epoch=read.schema_epoch,
            now=found.now,
            agreed=found.agreed,
        ),
        seen_at=read.seen_at,
        pinned=(read.epoch, at_ms, read.tag) != (None, None, None),
        **_described(table, shown),
    )


def _described(table: TableState, shown: TableState) -> dict[str, Any]:
    """Return what `LoadedTable` says of a table whose columns are `shown`."""
    return {
        "columns": _declared(shown.schema),
        "defaults": default_texts(shown.schema),
        "identities": described_identities(shown.schema),
        "generated": described(shown.schema),
        "statics": [field.name for field in static_fields(shown.schema)],
        "partition_key": [field.name for field in key_fields(table.partition_key, table.schema)],
        "properties": {**shown_properties(table), **static_properties(table)},
        "comment": table.comment,
        "sort_key": described_order(table.sort_key, table.schema),
        "partitioning": described_layout(table.partition_fields, table.schema),
        "constraints": [
            Constraint(name=each.name, condition=each.text(shown.schema))
            for each in table.constraints
        ],
    }


def _declared(schema: TableSchema) -> str:
    """Return a schema as JSON for Spark; it is cached, since hundreds of columns take long.

    Identity columns are nullable in it, because NULL asks for a value.

    The JSON is text within the reply, because numbers in the reply itself may change from 1.0 to 1.
    Raises InvalidInputError for times that this version of Spark does not support.
    """
    known = _declarations.get(id(schema))  # the cached value keeps the object of this id alive
    if known is None:
        if (version := os.environ.get(SPARK_VERSION_VARIABLE)) is not None:
            refuse_fine_times(schema, version)
        declared = declared_json(open_schema(schema))
        known = _declarations.put(id(schema), (schema, declared))
    return known[1]


@operation
def check_options(request: CheckOptions) -> StatedRead:
    """Raise InvalidInputError for wrong options."""
    read = parse_read_options(request.options)
    if read.where is not None:
        raise InvalidInputError(
            "Option where is for reading without the jar; filter the DataFrame itself with"
            " df.where(...), which skips the same data."
        )
    return StatedRead(
        path=read.path,
        pinned=(read.epoch, read.timestamp, read.tag) != (None, None, None),
        schema_epoch=read.schema_epoch,
        seen_at=read.seen_at,
    )


def _shown(location: Location, table: TableState, schema_epoch: int) -> TableState:
    """Return a table with the columns of another epoch. Raises InvalidInputError, NotFoundError."""
    head = SNAPSHOTS.head(location.address)[1]
    state = SNAPSHOTS.log(location.store).reader.read_at(schema_epoch, head=head)
    return with_columns_of(table, location.require_at(state, head))


def require_statics(table: TableState) -> TableState:
    """Return the table of static values of a table. Raises NotFoundError if it has none."""
    if table.statics is None:
        raise NotFoundError(
            f"Table {table.name!r} has no static columns, so there are no static values."
        )
    return table.statics
